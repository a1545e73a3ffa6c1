package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Under a flood of urgent clients, which ask again at once when they are refused, a
// few clients of each other class still get their share, though they are patient.
func TestShareUnderAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.MaxNumSeqs, c.MaxBatchedTokens, c.NumBlocks = 10, 64, 400
			f.before = func(int) error { time.Sleep(stepTime); return nil }
		})
		defer e.stop()
		length := 5 * time.Second
		if raceEnabled {
			length = time.Second
		}
		ctx, over := context.WithTimeout(t.Context(), length)
		defer over()
		var served [NumClasses]atomic.Int64
		var all sync.WaitGroup
		client := func(c Class, patience time.Duration) {
			body := completion(8, 20, fmt.Sprintf(`,"priority":%q`, c))
			for ctx.Err() == nil {
				if e.post(ctx, "/v1/completions", body).Code == 200 {
					served[c.index()].Add(1)
					continue
				}
				time.Sleep(patience)
			}
		}
		for range 60 {
			all.Go(func() { client(Realtime, 2*time.Millisecond) })
		}
		for range 5 {
			all.Go(func() { client(Normal, time.Second) })
			all.Go(func() { client(Background, time.Second) })
		}
		all.Wait()
		sum := served[0].Load() + served[1].Load() + served[2].Load()
		t.Logf("served: %d realtime, %d normal, %d background", served[0].Load(), served[1].Load(), served[2].Load())
		for c := Normal; c <= Background; c++ {
			if n := served[c.index()].Load(); float64(n) < 0.07*float64(sum) {
				t.Errorf("%s: %d of %d", c, n, sum)
			}
		}
		if n := served[Realtime.index()].Load(); n < sum/2 {
			t.Errorf("realtime: %d of %d", n, sum)
		}
		synctest.Wait()
		e.freed(t)
	})
}
