package rules

import (
	"testing"
	"time"

	"llmtop/probes"
)

// The window keeps no more samples than signals look at; what is known of the past
// outlives a silence that is longer than that, but not one as long as Keep.
func TestSilence(t *testing.T) {
	d := NewDiagnoser(&Book{}, Options{})
	second, want := 0.0, 0
	for _, c := range []struct {
		after   float64
		forgets bool
	}{{1, false}, {1, false}, {35, false}, {1, false}, {599, false}, {1, false}, {600, true}, {1, false}, {601, true}} {
		second += c.after
		if want++; c.forgets {
			want = 1
		}
		d.Observe(&probes.Sample{At: at(second), Mono: time.Duration(second * 1e9), Interval: time.Second})
		if got := len(d.past.at); got != want {
			t.Fatalf("%g s after the sample before: %d ticks are known, want %d", c.after, got, want)
		}
		if got, most := d.window.All().Len(), int(lookSpan/time.Second)+1; got > most {
			t.Errorf("%d samples kept, want at most %d", got, most)
		}
	}
}
