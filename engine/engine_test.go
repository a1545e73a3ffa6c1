package engine

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestCompletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		w := e.post(t.Context(), "/v1/completions", completion(30, 9, ""))
		got := decodeBody[struct {
			ID, Object, Model string
			Choices           []struct {
				Text         string
				FinishReason string `json:"finish_reason"`
			}
			Usage usage
		}](t, w)
		if w.Code != 200 || got.Object != "text_completion" || got.Model != "fake" || !strings.HasPrefix(got.ID, "cmpl-") {
			t.Errorf("%d: %+v", w.Code, got)
		}
		if len(got.Choices) != 1 || got.Choices[0].Text != expected(30, 9) || got.Choices[0].FinishReason != "length" {
			t.Errorf("choices %+v, want the text %q", got.Choices, expected(30, 9))
		}
		if want := *newUsage(31, 0, 9); got.Usage != want {
			t.Errorf("usage %+v, want %+v", got.Usage, want)
		}
		synctest.Wait()
		e.freed(t)
	})
}

func TestCompletionStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		w := e.post(t.Context(), "/v1/completions", completion(3, 5, `,"stream":true,"stream_options":{"include_usage":true}`))
		data := events(w)
		if ct := w.Header().Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") || !w.Flushed {
			t.Errorf("content type %q, flushed %t", ct, w.Flushed)
		}
		if len(data) != 5+2 || data[6] != "[DONE]" {
			t.Fatalf("%d events, want one a token, usage and [DONE]: %q", len(data), data)
		}
		if got := streamText(t, w); got != expected(3, 5) {
			t.Errorf("text %q, want %q", got, expected(3, 5))
		}
		for i, want := range []string{`"finish_reason":null`, `"usage":null`} {
			if !strings.Contains(data[0], want) {
				t.Errorf("%d: first event %s lacks %s", i, data[0], want)
			}
		}
		if !strings.Contains(data[4], `"finish_reason":"length"`) {
			t.Errorf("last text %s has no finish reason", data[4])
		}
		if want := `"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":5,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":0}}`; !strings.Contains(data[5], want) {
			t.Errorf("%s lacks %s", data[5], want)
		}
	})
}

// A stream without include_usage says nothing of usage.
func TestStreamWithoutUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		w := e.post(t.Context(), "/v1/completions", completion(3, 2, `,"stream":true`))
		if strings.Contains(w.Body.String(), "usage") {
			t.Errorf("%s", w.Body)
		}
	})
}

// Many requests at once, of all kinds, under memory pressure: each gets its own answer.
func TestConcurrentRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.NumBlocks, c.MaxQueue, c.KVHeadroom, c.NoPrefixCaching = 16, Unlimited, None, true
		})
		defer e.stop()
		var all sync.WaitGroup
		for n := range 40 {
			prompt, output, more := 1+n*7%30, 1+n*11%25, ""
			if n%2 == 0 {
				more = `,"stream":true`
			}
			all.Go(func() {
				w := e.post(t.Context(), "/v1/completions", completion(prompt, output, more))
				got := streamText(t, w)
				if n%2 == 1 {
					got = *decodeBody[response](t, w).Choices[0].Text
				}
				if got != expected(prompt, output) {
					t.Errorf("request %d: %q, want %q", n, got, expected(prompt, output))
				}
			})
		}
		all.Wait()
		synctest.Wait()
		e.freed(t)
		if counterValue(t, e, "vllm:num_preemptions_total") == 0 {
			t.Error("no preemption: this run shows little")
		}
	})
}

// What the runner fails on ends with an error; the engine goes on.
func TestRunnerError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken int
		e := startFake(t, func(c *Config, f *fakeRunner) {
			f.before = func(step int) error {
				if step == broken {
					return errBroken
				}
				return nil
			}
		})
		defer e.stop()
		broken = 1
		w := e.post(t.Context(), "/v1/completions", completion(3, 5, ""))
		if w.Code != 500 || strings.Contains(w.Body.String(), errBroken.Error()) {
			t.Errorf("%d %s: want 500 and no inner detail", w.Code, w.Body)
		}
		broken = e.runner.steps + 1
		if w = e.post(t.Context(), "/v1/completions", completion(3, 5, `,"stream":true`)); w.Code != 500 {
			t.Errorf("stream that fails before its first token: %d %s", w.Code, w.Body)
		}
		broken = e.runner.steps + 3
		w = e.post(t.Context(), "/v1/completions", completion(3, 5, `,"stream":true`))
		data := events(w)
		if w.Code != 200 || len(data) != 4 || !strings.HasPrefix(data[2], `{"error":`) {
			t.Errorf("%d, events %q: want two tokens, the error, [DONE]", w.Code, data)
		}
		broken = 0
		if w = e.post(t.Context(), "/v1/completions", completion(3, 5, "")); w.Code != 200 {
			t.Errorf("afterwards: %d %s", w.Code, w.Body)
		}
		synctest.Wait()
		e.freed(t)
		if n := counterValue(t, e, `vllm:request_success_total{finished_reason="error"}`); n != 3 {
			t.Errorf("%g errors counted, want 3", n)
		}
	})
}

// When the loop ends, what is running and waiting is told so, and later requests too.
func TestStoppedEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxNumSeqs, f.before = 1, g.before })
		answers := make(chan *httptest.ResponseRecorder)
		for range 2 {
			go func() { answers <- e.post(t.Context(), "/v1/completions", completion(3, 50, "")) }()
		}
		<-g.arrived
		synctest.Wait()
		go g.release()
		e.stop()
		for range 2 {
			if w := <-answers; w.Code != http.StatusServiceUnavailable {
				t.Errorf("in flight: %d %s", w.Code, w.Body)
			}
		}
		if w := e.post(t.Context(), "/v1/completions", completion(3, 5, "")); w.Code != http.StatusServiceUnavailable {
			t.Errorf("afterwards: %d %s", w.Code, w.Body)
		}
		if w := e.get("/health"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("health: %d", w.Code)
		}
		e.freed(t)
	})
}

// A client that does not read holds up nobody, and its own sequence ends in time.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxNumSeqs = 1 })
		defer e.stop()
		slow := &slowWriter{ResponseRecorder: httptest.NewRecorder(), read: make(chan struct{})}
		over := make(chan struct{})
		go func() {
			defer close(over)
			body := completion(3, 100, `,"stream":true`)
			e.handler.ServeHTTP(slow, httptest.NewRequestWithContext(t.Context(), "POST", "/v1/completions", strings.NewReader(body)))
		}()
		synctest.Wait() // the handler hangs in its first write
		e.freed(t)
		if w := e.post(t.Context(), "/v1/completions", completion(4, 5, "")); w.Code != 200 {
			t.Errorf("the next request: %d", w.Code)
		}
		if got := e.requests(t, "?state=running").Running; len(got) != 1 || got[0].State != "send" {
			t.Errorf("running %+v, want one in send", got)
		}
		close(slow.read)
		<-over
		if got := streamText(t, slow.ResponseRecorder); got != expected(3, 100) {
			t.Errorf("text %q, want %q", got, expected(3, 100))
		}
	})
}

// slowWriter hangs in Write until it is read.
type slowWriter struct {
	*httptest.ResponseRecorder
	read chan struct{}
}

func (s *slowWriter) Write(b []byte) (int, error) {
	<-s.read
	return s.ResponseRecorder.Write(b)
}

// A stop string ends the answer before it, and the sequence before its next step.
func TestStopStrings(t *testing.T) {
	text := expected(3, 60)
	stop := text[20:23]
	want := text[:strings.Index(text, stop)]
	for _, more := range []string{"", `,"stream":true`} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
			defer e.stop()
			defer g.release()
			answer := make(chan *httptest.ResponseRecorder, 1)
			go func() {
				answer <- e.post(t.Context(), "/v1/completions", completion(3, 60, `,"stop":["no such text","`+stop+`"]`+more))
			}()
			tokens := len(want) + len(stop)
			for range tokens {
				<-g.arrived
				g.pass <- struct{}{}
				synctest.Wait()
			}
			w := <-answer
			got := streamText(t, w)
			if more == "" {
				r := decodeBody[response](t, w)
				if got = *r.Choices[0].Text; *r.Choices[0].FinishReason != FinishStop {
					t.Errorf("finish reason %s", *r.Choices[0].FinishReason)
				}
			}
			if got != want {
				t.Errorf("text %q, want %q", got, want)
			}
			<-g.arrived // this step had begun
			g.pass <- struct{}{}
			synctest.Wait()
			e.freed(t)
			if r := e.requests(t, "").Finished[0]; r.Finish != FinishStop || r.OutputTokens != tokens || e.runner.steps != tokens+1 {
				t.Errorf("%s after %d tokens and %d steps, want stop after %d", r.Finish, r.OutputTokens, e.runner.steps, tokens)
			}
		})
	}
}
