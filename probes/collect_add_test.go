package probes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A probe that comes later is read on the same grid, and closed with the others.
func TestCollectorAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Collector
		later := steady("later", 10*time.Millisecond)
		first := &fake{name: "first", read: func(ctx context.Context, n int) (Section, error) {
			if n == 3 {
				c.Add(Scheduled{Probe: later})
			}
			return nil, nil
		}}
		c = NewCollector(time.Second, Scheduled{Probe: first})
		samples := collect(t, c, 6)
		if len(samples[0].Probes) != 1 || len(samples[5].Probes) != 2 || samples[5].Probes[1].Name != "later" || samples[5].Host == nil {
			t.Errorf("got %+v, then %+v", samples[0].Probes, samples[5].Probes)
		}
		c.Close()
		tooLate := steady("too late", 0)
		c.Add(Scheduled{Probe: tooLate})
		synctest.Wait()
		if later.closed.Load() != 1 || tooLate.closed.Load() != 1 || tooLate.reads.Load() != 0 {
			t.Errorf("closed %d and %d times, read %d times", later.closed.Load(), tooLate.closed.Load(), tooLate.reads.Load())
		}
	})
}
