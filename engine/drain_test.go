package engine

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// While the engine drains, what is in flight goes on to its end; new requests are
// refused, a balancer is told to send none, and the engine counts as alive.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxNumSeqs, f.before = 1, g.before })
		defer e.stop()
		defer g.release()
		answers := make(chan *httptest.ResponseRecorder)
		for _, more := range []string{"", `,"stream":true`} { // one runs, one waits
			go func() { answers <- e.post(t.Context(), "/v1/completions", completion(3, 5, more)) }()
		}
		<-g.arrived
		synctest.Wait()
		drained := make(chan error)
		go func() { drained <- e.Drain(t.Context()) }()
		synctest.Wait()
		if n := e.InFlight(); n != 2 {
			t.Errorf("%d in flight, want 2", n)
		}
		for path, status := range map[string]int{"/health": 503, "/health/ready": 503, "/health/live": 200, "/metrics": 200, "/v1/models": 200} {
			w := e.get(path)
			if w.Code != status || status == 503 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "draining")) {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		w := e.post(t.Context(), "/v1/completions", completion(3, 5, ""))
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "draining") {
			t.Errorf("new request: %d %s", w.Code, w.Body)
		}
		select {
		case err := <-drained:
			t.Fatalf("drained with requests in flight: %v", err)
		default:
		}
		g.release()
		for range 2 {
			if w := <-answers; w.Code != 200 || !strings.Contains(w.Body.String(), `"finish_reason":"length"`) {
				t.Errorf("in flight: %d %s", w.Code, w.Body)
			}
		}
		if err := <-drained; err != nil {
			t.Errorf("drained: %v", err)
		}
		if got := e.requests(t, "").Finished; len(got) != 3 || got[0].Finish != FinishRejected {
			t.Errorf("finished %+v", got)
		}
	})
}

// Draining ends with its context, and at once when there is nothing to wait for.
func TestDrainEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
		defer e.stop()
		defer g.release()
		over := make(chan struct{})
		go func() {
			defer close(over)
			e.post(t.Context(), "/v1/completions", completion(3, 5, ""))
		}()
		<-g.arrived
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := e.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		g.release()
		<-over
		if err := e.Drain(t.Context()); err != nil {
			t.Errorf("nothing in flight: %v", err)
		}
	})
}
