package truth

import (
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// TestPastIsBounded: what is held does not grow, and a baseline that begins before it is not
// judged by a part of it.
func TestPastIsBounded(t *testing.T) {
	c := New()
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	d := &rules.Diagnosis{Baseline: "window 12:00:05–12:01:00 (healthy part, 41 requests, sure)"}
	for i := range 1600 {
		s := &probes.Sample{At: begin.Add(time.Duration(i) * time.Second), Mono: time.Duration(i) * time.Second, Interval: time.Second}
		c.Observe(s, d)
		switch u := c.usualAt(len(c.past.moments) - 1); {
		case i == 100 && u.unknown:
			t.Error("what is at hand is not known")
		case i == 1599 && !u.unknown:
			t.Error("what is no more at hand is taken to be known")
		}
	}
	if n := len(c.past.moments); n > int(keep/time.Second)+300 {
		t.Errorf("%d moments are held", n)
	}
	c.Observe(&probes.Sample{At: begin, Mono: 2000 * time.Second, Interval: time.Second}, d)
	if n := len(c.past.moments); n != 1 {
		t.Errorf("after the clock was set back %d moments are held", n)
	}
}

// TestGrowth: counters that begin anew, and readings that come again.
func TestGrowth(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	for _, x := range []struct {
		readings []reading
		gained   float64
		ok       bool
	}{
		{nil, 0, false},
		{[]reading{{at(0), 5}}, 0, false},
		{[]reading{{at(0), 5}, {at(1), 7}, {at(3), 9}}, 4, true},
		{[]reading{{at(0), 5}, {at(1), 2}, {at(2), 3}}, 3, true},
		{[]reading{{at(0), 1e9}, {at(1), 1e9 - 0.1}}, 0, true},
	} {
		if gained, _, ok := growth(x.readings); gained != x.gained || ok != x.ok {
			t.Errorf("%v gained %v, %v", x.readings, gained, ok)
		}
	}
	v := view{{Sample: &probes.Sample{At: at(1)}}, {Sample: &probes.Sample{At: at(2)}}, {Sample: &probes.Sample{At: at(3)}}}
	same := v.readings(func(m *moment) (reading, bool) { return reading{at(1), 1}, true })
	if len(same) != 1 {
		t.Errorf("a section that was not renewed counts %d times", len(same))
	}
}
