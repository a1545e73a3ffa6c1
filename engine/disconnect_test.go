package engine

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"testing/synctest"
)

// A client that goes away frees its sequence before the next step, in whatever
// phase it is, whether it streams or not.
func TestDisconnect(t *testing.T) {
	for _, phase := range []struct {
		name   string
		prompt int
		step   int    // the client goes while this step waits to be computed
		stage  string // where it is then
	}{
		{"prefilling", 40, 2, "prefill"},
		{"decoding", 3, 4, "decode"},
	} {
		for _, more := range []string{"", `,"stream":true`} {
			t.Run(phase.name+more, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					disconnectRunning(t, phase.step, phase.stage, completion(phase.prompt, 50, more))
				})
			})
		}
	}
	for _, more := range []string{"", `,"stream":true`} {
		t.Run("queued"+more, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { disconnectQueued(t, completion(3, 50, more)) })
		})
	}
}

func disconnectRunning(t *testing.T, step int, stage, body string) {
	g := newGate()
	e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
	defer e.stop()
	defer g.release()
	ctx, leave := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		e.post(ctx, "/v1/completions", body)
	}()
	for s := <-g.arrived; s < step; s = <-g.arrived {
		g.pass <- struct{}{}
	}
	if got := e.requests(t, "").Running; len(got) != 1 || got[0].State != stage {
		t.Fatalf("running %+v, want one in %s", got, stage)
	}
	leave()
	<-over // the handler is gone although the step still runs
	g.pass <- struct{}{}
	synctest.Wait()
	if e.runner.steps != step {
		t.Errorf("%d steps, want none after step %d", e.runner.steps, step)
	}
	e.freed(t)
	aborted(t, e)
}

func disconnectQueued(t *testing.T, body string) {
	g := newGate()
	e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxNumSeqs, f.before = 1, g.before })
	defer e.stop()
	defer g.release()
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- e.post(t.Context(), "/v1/completions", completion(3, 5, "")) }()
	<-g.arrived
	ctx, leave := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		e.post(ctx, "/v1/completions", body)
	}()
	synctest.Wait()
	if s := e.snapshot(); s.running() != 1 || s.waiting() != 1 {
		t.Fatalf("running %d, waiting %d", s.running(), s.waiting())
	}
	leave()
	<-over
	g.pass <- struct{}{}
	<-g.arrived
	if s := e.snapshot(); s.running() != 1 || s.waiting() != 0 {
		t.Errorf("one step later: running %d, waiting %d", s.running(), s.waiting())
	}
	g.release()
	if w := <-first; w.Code != 200 {
		t.Errorf("the other request: %d", w.Code)
	}
	synctest.Wait()
	e.freed(t)
	aborted(t, e)
}

// aborted wants exactly one request that was aborted, in the log and in the metrics.
func aborted(t *testing.T, e *testEngine) {
	t.Helper()
	n := 0
	for _, r := range e.requests(t, "").Finished {
		if r.Finish == FinishAbort {
			n++
		}
	}
	if m := counterValue(t, e, `vllm:request_success_total{finished_reason="abort"}`); n != 1 || m != 1 {
		t.Errorf("%d aborted in the log, %g in the metrics; want one", n, m)
	}
	if q := e.queue.queued(); q != [NumClasses]int{} {
		t.Errorf("%d places in the queue are still taken", q)
	}
}

// A client that goes away while it sends its request never becomes a sequence.
func TestDisconnectWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		body := io.MultiReader(&brokenReader{data: `{"prompt":"x`})
		w := httptest.NewRecorder()
		e.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/v1/completions", body))
		got := e.requests(t, "").Finished
		if w.Code != 408 || len(got) != 1 || got[0].Finish != FinishAbort || got[0].PromptTokens != 0 {
			t.Errorf("%d, finished %+v", w.Code, got)
		}
		if _, parsed := got[0].Stages["parse"]; parsed {
			t.Errorf("stages %v: it was never parsed", got[0].Stages)
		}
	})
}

// A client whose connection fails in the middle of a stream is gone, too.
func TestDisconnectByFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		w := &failingWriter{ResponseRecorder: httptest.NewRecorder(), left: 3}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/completions", stringReader(completion(3, 150, `,"stream":true`)))
		e.handler.ServeHTTP(w, r)
		synctest.Wait()
		e.freed(t)
		if got := e.requests(t, "").Finished; len(got) != 1 || got[0].Finish != FinishAbort {
			t.Errorf("finished %+v", got)
		}
	})
}

type brokenReader struct{ data string }

func (b *brokenReader) Read(p []byte) (int, error) {
	if b.data == "" {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

// failingWriter takes some writes, then its connection is broken.
type failingWriter struct {
	*httptest.ResponseRecorder
	left int
}

func (f *failingWriter) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return f.ResponseRecorder.Write(b)
}
