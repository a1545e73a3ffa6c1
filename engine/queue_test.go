package engine

import (
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A burst over the limit is refused to the exact number, before anything is
// tokenized; what was accepted is served.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst, limit = 30, 7
		g := newGate()
		var encoded atomic.Int64
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.MaxNumSeqs, c.MaxQueue, f.before = 2, limit, g.before
			c.Tokenizer = fakeTokenizer{stop: -1, encoded: &encoded}
			c.WrapTokenizer = func(t Tokenizer) Tokenizer { return t } // then no encodings are kept
		})
		defer e.stop()
		defer g.release()
		answers := make(chan *httptest.ResponseRecorder, burst+1)
		send := func() { answers <- e.post(t.Context(), "/v1/completions", completion(3, 5, "")) }
		go send()
		<-g.arrived // it runs, and the loop stands still
		before := encoded.Load()
		for range burst {
			go send()
		}
		synctest.Wait()
		if n := encoded.Load() - before; n != limit {
			t.Errorf("%d prompts were tokenized, want %d", n, limit)
		}
		if s := e.snapshot(); s.running() != 1 || s.waiting() != limit {
			t.Errorf("running %d, waiting %d", s.running(), s.waiting())
		}
		g.release()
		codes := make(map[int]int)
		for range burst + 1 {
			w := <-answers
			codes[w.Code]++
			if w.Code == 429 {
				checkRefusal(t, w)
			}
		}
		if codes[200] != 1+limit || codes[429] != burst-limit {
			t.Errorf("answers %v, want %d accepted and %d refused", codes, 1+limit, burst-limit)
		}
		if n := counterValue(t, e, `vllm:admission_rejections_total{reason="queue_full"}`); n != burst-limit {
			t.Errorf("%g refusals counted", n)
		}
		synctest.Wait()
		e.freed(t)
		if q := e.queue.queued(); q != [NumClasses]int{} {
			t.Errorf("%d places are still taken", q)
		}
	})
}

func checkRefusal(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if s, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || s < 1 || s > 60 {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
	if got := decodeBody[errorBody](t, w).Error; got.Code != "queue_full" || got.Type != "rate_limit_error" {
		t.Errorf("error %+v", got)
	}
}

func TestUnlimitedQueue(t *testing.T) {
	a := admission{limit: Unlimited, parallel: 1}
	for range 10000 {
		if a.enter(Normal) == nil {
			t.Fatal("refused")
		}
	}
}

func TestTicketIsGivenBackOnce(t *testing.T) {
	a := admission{limit: 1, parallel: 1}
	first := a.enter(Normal)
	if a.enter(Normal) != nil {
		t.Fatal("two places of one")
	}
	first.leave()
	first.leave()
	if q := a.queued(); q != [NumClasses]int{} || a.enter(Normal) == nil {
		t.Errorf("%d wait", q)
	}
}

func TestRetryAfter(t *testing.T) {
	a := admission{limit: Unlimited, parallel: 2}
	if got := a.retryAfter(Normal); got != 1 {
		t.Errorf("before anything is known: %d s", got)
	}
	for range 10 {
		a.enter(Normal)
	}
	a.served(3 * time.Second)
	if got := a.retryAfter(Normal); got != 15 { // ten requests of 3 s, two at a time
		t.Errorf("%d s, want 15", got)
	}
	a.served(13 * time.Second) // moves the mean by a tenth of the difference
	if got := a.retryAfter(Normal); got != 20 {
		t.Errorf("%d s, want 20", got)
	}
	a.served(time.Hour)
	if got := a.retryAfter(Normal); got != 60 {
		t.Errorf("%d s, want 60 at most", got)
	}
}
