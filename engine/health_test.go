package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Every page can be read while a step takes long, whatever it computes; after a
// while the engine is called stuck, and no longer when the step is over.
func TestPagesDuringLongSteps(t *testing.T) {
	pages := []string{
		"/health/live", "/health/ready", "/health", "/metrics", "/v1/models", "/v1/models/fake",
		"/debug/requests", "/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline",
	}
	rapid.Check(t, func(rt *rapid.T) {
		requests, long := rapid.IntRange(1, 6).Draw(rt, "requests"), rapid.IntRange(1, 8).Draw(rt, "step")
		prompt, stream := rapid.IntRange(1, 60).Draw(rt, "prompt"), rapid.Bool().Draw(rt, "stream")
		stuck := rapid.Bool().Draw(rt, "stuck")
		synctest.Test(t, func(t *testing.T) {
			g, clock := newGate(), newClock()
			e := startFake(t, func(c *Config, f *fakeRunner) { c.Now, f.before = clock.now, g.before })
			defer e.stop()
			over := make(chan int)
			for range requests {
				go func() {
					over <- e.post(t.Context(), "/v1/completions", completion(prompt, 9, fmt.Sprintf(`,"stream":%t`, stream))).Code
				}()
			}
			for step := <-g.arrived; step < long; step = <-g.arrived {
				g.pass <- struct{}{}
			}
			if stuck {
				clock.advance(stallAfter + time.Second)
			}
			for _, page := range pages {
				want := 200
				if stuck && strings.HasPrefix(page, "/health") {
					want = 503
				}
				if w := e.get(page); w.Code != want {
					t.Errorf("%s in step %d: %d, want %d", page, long, w.Code, want)
				}
			}
			g.release()
			for range requests {
				if code := <-over; code != 200 {
					t.Errorf("a request: %d", code)
				}
			}
			synctest.Wait()
			if w := e.get("/health"); w.Code != 200 {
				t.Errorf("afterwards: %d %s", w.Code, w.Body)
			}
		})
	})
}

// Before its loop runs an engine is alive but not ready, after it neither.
func TestHealthOfItsLife(t *testing.T) {
	c := Config{MaxNumSeqs: 4, MaxBatchedTokens: 16, BlockSize: 4, NumBlocks: 64}
	c.Runner, c.Tokenizer = newFakeRunner(c, 200), fakeTokenizer{stop: -1}
	engine, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	e := &testEngine{Engine: engine, handler: engine.Handler()}
	check := func(live, ready int, says string) {
		t.Helper()
		l, r, h := e.get("/health/live"), e.get("/health/ready"), e.get("/health")
		if l.Code != live || r.Code != ready || h.Code != ready || !strings.Contains(h.Body.String(), says) {
			t.Errorf("live %d, ready %d, health %d %s; want %d, %d, %q", l.Code, r.Code, h.Code, h.Body, live, ready, says)
		}
	}
	check(200, 503, "not started")
	stop := runLoop(t, engine)
	check(200, 200, "ok")
	stop()
	check(503, 503, "has stopped")
}
