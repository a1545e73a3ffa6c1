package rules_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

func tickBytes(t *testing.T, tick *rules.Tick) []byte {
	t.Helper()
	b, err := json.Marshal([]any{tick.Diagnosis, tick.Signals, tick.Baseline})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// troubled is 14 minutes of an engine that is flooded, recovers, sees its clock set,
// and is flooded again.
func troubled() []*probes.Sample {
	s := newSim(3, 8)
	var out []*probes.Sample
	for n := 1; n <= 840; n++ {
		switch n {
		case 90, 760:
			s.rate = 120
		case 150:
			s.rate = 8
		}
		x := s.sample(n)
		if n >= 400 {
			x.At, x.Requests[0].At = x.At.Add(time.Hour), x.Requests[0].At.Add(time.Hour)
		}
		out = append(out, x)
	}
	return out
}

// TestResumedGoesOnTheSame: from a checkpoint anywhere (in health, at an onset, within an
// incident, after a jump of the clock, with a window that dropped its oldest samples) the
// ticks are those of the fold from the start, and the fold that was set aside is not disturbed.
func TestResumedGoesOnTheSame(t *testing.T) {
	samples := troubled()
	d := diagnoser(t)
	marks := map[int]*rules.Checkpoint{}
	var want [][]byte
	states := map[rules.State]bool{}
	for i, s := range samples {
		tick := d.Observe(s)
		states[tick.Diagnosis.State] = true
		want = append(want, tickBytes(t, tick))
		if i%45 == 0 || i == 94 || i == 100 || i == 401 {
			marks[i] = d.Checkpoint()
		}
	}
	if !states[rules.Healthy] || !states[rules.Degraded] {
		t.Fatalf("states %v: the case shows too little", states)
	}
	for i, c := range marks {
		if c.Samples() > i+1 || c.Samples() < min(i+1, 31) && i < 400 {
			t.Errorf("sample %d: %d samples needed", i, c.Samples())
		}
		for range 2 { // resumed twice: the first does not change the checkpoint
			again := c.Resume(samples[i+1-c.Samples() : i+1])
			for j := i + 1; j < min(len(samples), i+100); j++ {
				if got := tickBytes(t, again.Observe(samples[j])); !bytes.Equal(got, want[j]) {
					t.Fatalf("resumed after sample %d, sample %d:\ngot  %s\nwant %s", i, j, got, want[j])
				}
			}
		}
	}
}
