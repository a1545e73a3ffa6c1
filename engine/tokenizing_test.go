package engine

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// countedTokenizer counts the texts that it encodes and holds them up at a gate.
type countedTokenizer struct {
	Tokenizer
	texts *atomic.Int64
	now   *atomic.Int64 // in Encode
	gate  chan struct{} // nil: no gate
}

func (c countedTokenizer) Encode(text string, special bool) []int {
	c.texts.Add(1)
	c.now.Add(1)
	defer c.now.Add(-1)
	if c.gate != nil {
		<-c.gate
	}
	return c.Tokenizer.Encode(text, special)
}

// So many texts are tokenized at once and no more; those that wait are in stage
// tokenize; a client that leaves gives up its place.
func TestTokenizerThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		real := countedTokenizer{fakeTokenizer{stop: -1}, new(atomic.Int64), new(atomic.Int64), nil}
		e := startFake(t, func(c *Config, f *fakeRunner) { c.TokenizerThreads, c.Tokenizer = 2, real })
		defer e.stop()
		real.texts.Store(0)
		real.gate = make(chan struct{})
		e.texts.shared = real
		answers := make(chan *httptest.ResponseRecorder)
		ctx, leave := context.WithCancel(t.Context())
		for n := range 3 {
			go func() { answers <- e.post(t.Context(), "/v1/completions", completion(3+n, 2, "")) }()
		}
		synctest.Wait()
		go func() { answers <- e.post(ctx, "/v1/completions", completion(9, 2, "")) }()
		synctest.Wait()
		if n := real.now.Load(); n != 2 {
			t.Errorf("%d texts are tokenized at once, want 2", n)
		}
		for _, r := range e.requests(t, "?state=running").Running {
			if r.State != "tokenize" {
				t.Errorf("a request is in %s", r.State)
			}
		}
		leave()
		if w := <-answers; w.Code != statusClientGone {
			t.Errorf("the client that has left: %d", w.Code)
		}
		close(real.gate)
		for range 3 {
			if w := <-answers; w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		if n := real.texts.Load(); n != 3 {
			t.Errorf("%d texts were tokenized, want 3", n)
		}
		got := e.requests(t, "?state=finished").Finished
		if slices.ContainsFunc(got, func(r requestJSON) bool { return r.OutputTokens == 0 && r.Finish != FinishAbort }) {
			t.Errorf("%+v", got)
		}
	})
}

// A chat that goes on brings its earlier messages again: only new ones are tokenized,
// unless somebody stands between, who must see the work of every text.
func TestKnownMessages(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			counted := countedTokenizer{fakeTokenizer{stop: -1}, new(atomic.Int64), new(atomic.Int64), nil}
			e := startFake(t, func(c *Config, f *fakeRunner) {
				if c.Tokenizer = counted; wrapped {
					c.WrapTokenizer = func(t Tokenizer) Tokenizer { return t }
				}
			})
			defer e.stop()
			chat := `{"role":"system","content":"s"}`
			var answers []string
			want := []int64{2, 2, 1} // what is new: system and user, then an answer and a question, then a question
			if wrapped {
				want = []int64{2, 4, 5}
			}
			for i, more := range []string{`{"role":"user","content":"u"}`, `{"role":"assistant","content":"a"},{"role":"user","content":"v"}`, `{"role":"user","content":"w"}`} {
				chat += "," + more
				before := counted.texts.Load()
				w := e.post(t.Context(), "/v1/chat/completions", `{"messages":[`+chat+`],"max_tokens":3}`)
				answers = append(answers, w.Body.String())
				if n := counted.texts.Load() - before; w.Code != 200 || n != want[i] {
					t.Errorf("wrapped %t, question %d: %d, %d texts tokenized, want %d", wrapped, i, w.Code, n, want[i])
				}
			}
			if answers[0] == answers[1] || answers[1] == answers[2] {
				t.Errorf("%q", answers)
			}
		})
	}
}

// The cost of a front half changes nothing of the answer. With the cache off the
// tokenizer is made for each request, also below a wrapper.
func TestFrontHalfSwitches(t *testing.T) {
	const ask = `{"messages":[{"role":"system","content":"Mira"},{"role":"user","content":"why is my p99 high?"},` +
		`{"role":"assistant","content":"Hm."},{"role":"user","content":"What is TTFT?"}],"temperature":0,"max_tokens":5}`
	var want answerBody
	for i, c := range []Config{{}, {TokenizerCache: Off}, {Assemble: Naive}, {TokenizerCache: Off, Assemble: Naive, TokenizerThreads: 1}} {
		var made atomic.Int64
		if i == 3 {
			c.WrapTokenizer = func(t Tokenizer) Tokenizer { made.Add(1); return t }
		}
		e := startOncall(t, c)
		for range 2 {
			w := e.post(t.Context(), "/v1/chat/completions", ask)
			got := decodeBody[answerBody](t, w)
			if w.Code != 200 || i > 0 && fmt.Sprint(got.Choices) != fmt.Sprint(want.Choices) {
				t.Errorf("%s, %s: %d %s, want %v", c.TokenizerCache, c.Assemble, w.Code, w.Body, want)
			}
			want = got
		}
		if n := made.Load(); i == 3 && n != 3 {
			t.Errorf("%d tokenizers were wrapped, want one at start and one a request", n)
		}
		e.stop()
	}
}

// A tokenizer that comes from no file cannot be made anew.
func TestCacheOffNeedsFile(t *testing.T) {
	c := Config{Runner: newFakeRunner(Config{NumBlocks: 4, BlockSize: 4}, 16), Tokenizer: fakeTokenizer{}, TokenizerCache: Off}
	if _, err := New(c); err == nil {
		t.Error("no error")
	}
}
