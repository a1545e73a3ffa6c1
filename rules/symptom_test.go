package rules

import (
	"testing"
	"time"

	"llmtop/probes"
)

// TestProof: standing slowness is proved in seconds, the further over the sooner; one
// burst is not, two soon after each other are.
func TestProof(t *testing.T) {
	for _, c := range []struct {
		name   string
		times  []float64 // newest median over its threshold, one a second; 0 is far below
		proved int       // index of the first second that is proved, −1 never
	}{
		{"far over", []float64{5, 5, 5, 5, 5, 5}, 3},
		{"just over", []float64{1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1}, 9},
		{"one burst", []float64{5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0}, -1},
		{"bursts far apart", []float64{5, 5, 0, 0, 0, 0, 0, 0, 5, 5, 0, 0, 0, 0, 0, 0, 5, 5}, -1},
		{"bursts close together", []float64{5, 5, 5, 0, 0, 0, 5, 5, 0}, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, b := newWatched()[0], newBaseline()
			b.life = lifetime{ok: true, signals: make(Signals, len(table))}
			b.life.signals[w.median] = probes.Some(0.1)
			limit, _, _ := w.threshold(b, w.median)
			got := -1
			for i, times := range c.times {
				n := &now{at: at(float64(i)), point: &probes.Point{Sample: &probes.Sample{Interval: time.Second}}}
				n.ttftNow = quick{median: probes.Some(times * limit), n: 5}
				if w.prove(n, b); got < 0 && w.evals >= fastEval && w.proof >= enoughProof {
					got = i
				}
			}
			if got != c.proved {
				t.Errorf("proved at %d, want %d", got, c.proved)
			}
		})
	}
}
