package engine

import (
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// Whatever comes and goes: a request is let in exactly when fewer than the limit wait
// of its class.
func TestAdmissionByClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := admission{limit: rapid.IntRange(0, 5).Draw(t, "limit"), parallel: 1}
		var in []*ticket
		var waiting [NumClasses]int
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			if len(in) > 0 && rapid.Bool().Draw(t, "leaves") {
				i := rapid.IntRange(0, len(in)-1).Draw(t, "who")
				in[i].leave()
				waiting[in[i].class.index()]--
				in = append(in[:i], in[i+1:]...)
				continue
			}
			c := Class(rapid.IntRange(int(Realtime), int(Background)).Draw(t, "class"))
			ticket := a.enter(c)
			if (ticket != nil) != (waiting[c.index()] < a.limit) {
				t.Fatalf("%s with %v waiting, limit %d: let in %t", c, waiting, a.limit, ticket != nil)
			}
			if ticket != nil {
				in = append(in, ticket)
				waiting[c.index()]++
			}
		}
		if got := a.queued(); got != waiting {
			t.Fatalf("%v wait, want %v", got, waiting)
		}
	})
}

// A burst of background work takes no place from the others; each class is refused
// to the exact number, before anything of it is tokenized.
func TestBurstOfClasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst, limit = 20, 4
		g := newGate()
		var encoded atomic.Int64
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.MaxNumSeqs, c.MaxQueue, f.before = 1, limit, g.before
			c.Tokenizer = fakeTokenizer{stop: -1, encoded: &encoded}
			c.WrapTokenizer = func(t Tokenizer) Tokenizer { return t } // sees each text, though all are alike
		})
		defer e.stop()
		defer g.release()
		answers := make(chan *httptest.ResponseRecorder)
		send := func(class string) {
			answers <- e.post(t.Context(), "/v1/completions", completion(3, 2, `,"priority":"`+class+`"`))
		}
		go send("normal")
		<-g.arrived // it runs, and the loop stands still
		for _, class := range []string{"normal", "realtime", "background"} {
			before := encoded.Load()
			for range burst {
				go send(class)
			}
			for range burst - limit {
				w := <-answers
				if w.Code != 429 {
					t.Errorf("%s: %d, want 429", class, w.Code)
					continue
				}
				checkRefusal(t, w)
			}
			synctest.Wait()
			if n := encoded.Load() - before; n != limit {
				t.Errorf("%s: %d prompts were tokenized, want %d", class, n, limit)
			}
		}
		if got := e.queue.queued(); got != [NumClasses]int{limit, limit, limit} {
			t.Errorf("%v wait", got)
		}
		g.release()
		for range 1 + NumClasses*limit {
			if w := <-answers; w.Code != 200 {
				t.Errorf("%d", w.Code)
			}
		}
		classes := map[string]int{}
		for _, r := range e.requests(t, "").Finished {
			if r.Finish == FinishLength {
				classes[r.Class]++
			}
		}
		if classes["realtime"] != limit || classes["normal"] != limit+1 || classes["background"] != limit {
			t.Errorf("served %v", classes)
		}
	})
}
