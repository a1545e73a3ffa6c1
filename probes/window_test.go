package probes

import (
	"testing"
	"time"
)

var t0 = time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)

// sec is a moment so many seconds after the beginning of a test.
func sec(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

func bare(s *Sample) *Point { return &Point{Sample: s} }

// tick is a sample at wall time at and monotonic time mono, with a host section.
func tick(at, mono, read, busy float64) *Sample {
	return &Sample{
		At: sec(at), Mono: time.Duration(mono * float64(time.Second)), Interval: time.Second,
		Host: &Host{At: sec(read), CPUBusySecondsTotal: Some(busy)},
	}
}

func busy(p *Point) (float64, time.Time, bool) {
	if p.Host == nil {
		return 0, time.Time{}, false
	}
	v, ok := p.Host.CPUBusySecondsTotal.Get()
	return v, p.Host.At, ok
}

func TestWindowKeepsTheLast(t *testing.T) {
	w := NewWindow(10*time.Second, bare)
	if w.Last() != nil || w.Since(time.Hour).Len() != 0 || w.All().Rate(busy).Seen() {
		t.Error("an empty window holds something")
	}
	for i := range 500 {
		w.Push(tick(float64(i), float64(i), float64(i), 2*float64(i)))
		if n := w.All().Len(); n > 10 {
			t.Fatalf("%d points after %d s, want at most 10", n, i)
		}
	}
	if got := w.Last().At; !got.Equal(sec(499)) {
		t.Errorf("last at %v", got)
	}
	v := w.Between(sec(494), sec(496))
	if v.Len() != 3 || !v.Points()[0].At.Equal(sec(494)) {
		t.Errorf("between: %d points", v.Len())
	}
	if w.Between(sec(496), sec(494)).Len() != 0 {
		t.Error("a span that ends before it begins holds points")
	}
	if got := w.Since(5 * time.Second).Rate(busy).Or(-1); got != 2 {
		t.Errorf("rate %v, want 2", got)
	}
}

func TestWindowStartsAfreshWhenTheClockJumps(t *testing.T) {
	cases := []struct {
		name     string
		at, mono float64
		left     int
	}{
		{"no jump", 5, 5, 6},
		{"a small step", 5.3, 5, 6},
		{"a missing tick", 8, 8, 6},
		{"forward", 65, 5, 1},
		{"back a little", 4.2, 5, 1},
		{"back by an hour", 5 - 3600, 5, 1},
		{"another collection", 7, 0.1, 6},
		{"another collection, earlier", 3, 0.1, 1},
	}
	for _, c := range cases {
		w := NewWindow(time.Hour, bare)
		for i := range 5 {
			w.Push(tick(float64(i), float64(i), float64(i)-0.1, float64(i)))
		}
		w.Push(tick(c.at, c.mono, c.at-0.1, 5))
		if got := w.All().Len(); got != c.left {
			t.Errorf("%s: %d points left, want %d", c.name, got, c.left)
		}
	}
}

// Sections read before a jump are carried into samples after it, with times of
// the old clock. They must not spoil a rate.
func TestRateAfterAClockJump(t *testing.T) {
	for _, jump := range []float64{60, -3600} {
		w := NewWindow(time.Hour, bare)
		w.Push(tick(0, 0, -0.1, 100))
		w.Push(tick(1, 1, 0.9, 102))
		carried := tick(2+jump, 2, 0.9, 102)
		w.Push(carried)
		for i := 3.0; i < 8; i++ {
			w.Push(tick(i+jump, i, i+jump-0.1, 100+2*i))
		}
		if got := w.All().Rate(busy).Or(-1); got < 1.99 || got > 2.01 {
			t.Errorf("jump by %v s: rate %v, want 2", jump, got)
		}
		if values, times := w.All().Values(busy); len(values) != 5 || len(times) != 5 {
			t.Errorf("jump by %v s: %d values, want the 5 of the new clock", jump, len(values))
		}
	}
}

func TestJumpedIsOfTheNewestPoint(t *testing.T) {
	w := NewWindow(5*time.Second, bare)
	for i, c := range []struct {
		at, mono float64
		want     bool
	}{{0, 0, false}, {1, 1, false}, {61, 2, true}, {62, 3, false}, {100, 41, false}, {50, 42, true}} {
		w.Push(tick(c.at, c.mono, c.at, 1))
		if w.Jumped() != c.want {
			t.Errorf("tick %d: jumped %v, want %v", i, w.Jumped(), c.want)
		}
	}
}
