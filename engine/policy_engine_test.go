package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Over HTTP, too, the policies that form batches wait: for as long as they say, and
// anew when those that were to join have gone.
func TestPoliciesWait(t *testing.T) {
	for _, policy := range []Policy{Dynamic, Static} {
		t.Run(string(policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := startFake(t, func(c *Config, f *fakeRunner) {
					c.Policy, c.BatchWait, c.MaxNumSeqs = policy, time.Second, 3
					f.before = func(int) error { time.Sleep(stepTime); return nil }
				})
				defer e.stop()
				took := func() time.Duration {
					begun := time.Now()
					if w := e.post(t.Context(), "/v1/completions", completion(3, 2, "")); w.Code != 200 {
						t.Errorf("%d", w.Code)
					}
					return time.Since(begun)
				}
				if d := took(); d < time.Second || d > time.Second+10*stepTime {
					t.Errorf("alone: answered after %s, want 1 s and some steps", d)
				}
				ctx, leave := context.WithCancel(t.Context())
				for range 3 {
					go e.post(ctx, "/v1/completions", completion(40, 100, ""))
				}
				time.Sleep(stepTime) // the batch is full and begins, not all of it in one step
				leave()
				time.Sleep(2 * stepTime)
				if d := took(); d < time.Second {
					t.Errorf("after a batch that has gone: answered after %s", d)
				}
				if w := e.get("/health"); w.Code != 200 {
					t.Errorf("%d", w.Code)
				}
			})
		})
	}
}

// An engine that waits for a batch, or for anything to do, is not stuck.
func TestRestIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) { c.Policy, c.BatchWait = Static, 10*stallAfter })
		defer e.stop()
		time.Sleep(2 * stallAfter)
		over := make(chan int)
		go func() { over <- e.post(t.Context(), "/v1/completions", completion(3, 2, "")).Code }()
		time.Sleep(2 * stallAfter)
		if w := e.get("/health/live"); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if code := <-over; code != 200 {
			t.Errorf("%d", code)
		}
	})
}
