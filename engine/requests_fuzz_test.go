package engine

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// No body makes the parsers panic, and what they accept is within the limits.
func FuzzParse(f *testing.F) {
	seeds(func(body string) { f.Add([]byte(body)) })
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, parse := range []func([]byte) (generation, error){parseChat, parseCompletion} {
			g, err := parse(body)
			if err != nil {
				if m := toAPI(err).message; m == "" || strings.ContainsAny(m, "\n\x1b") {
					t.Errorf("message %q", m)
				}
				continue
			}
			p := g.common()
			if p.MaxTokens != nil && *p.MaxTokens < 1 || len(p.stops) > maxStops || p.class < Realtime || p.class > Background {
				t.Errorf("accepted %+v", p)
			}
			if s := p.sampler(); s.TopK < 0 || s.MinP < 0 || s.MinP > 1 || s.TopLogprobs > maxTopLogprobs {
				t.Errorf("sampler %+v", s)
			}
		}
	})
}

// Whatever is sent to either endpoint, the answer is the client's matter: a whole one
// or an error with a status of 4xx, never one of 5xx, and the engine is free again.
func FuzzRequests(f *testing.F) {
	seeds(func(body string) { f.Add(body, true); f.Add(body, false) })
	c := Config{MaxNumSeqs: 4, MaxBatchedTokens: 64, BlockSize: 4, NumBlocks: 64}
	c.Runner, c.Tokenizer = newFakeRunner(c, 120), fakeTokenizer{stop: 'q'}
	e, err := New(c)
	if err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); e.Run(ctx) }()
	f.Cleanup(func() { cancel(); <-over })
	handler := e.Handler()
	f.Fuzz(func(t *testing.T, body string, chat bool) {
		path := "/v1/completions"
		if chat {
			path = "/v1/chat/completions"
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("POST", path, io.NopCloser(strings.NewReader(body))))
		if w.Code >= 500 || w.Code != 200 && !strings.Contains(w.Body.String(), `"error":{"message":"`) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Code == 200 && strings.Contains(w.Body.String(), `"error":`) && strings.Contains(w.Body.String(), "internal_error") {
			t.Fatalf("%s", w.Body)
		}
		if n := e.InFlight(); n != 0 {
			t.Fatalf("%d requests are in flight", n)
		}
	})
}

// seeds are bodies from which the fuzzer starts.
func seeds(add func(body string)) {
	for _, body := range []string{
		`{"prompt":"x","stop":["a"]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		`{"prompt":[1,2],"n":1,"seed":-4,"temperature":0.5,"top_p":0.9,"top_k":5,"min_p":0.1}`,
		`{"prompt":"abc","max_tokens":9,"stream":true,"stream_options":{"include_usage":true},"logprobs":3,"ignore_eos":true}`,
		`{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}],"logprobs":true,"top_logprobs":4,"priority":-1,"cache_salt":"s","max_completion_tokens":3}`,
		`{"messages":[{"role":"user","content":"x"}],"tools":[],"response_format":{"type":"text"},"logit_bias":{},"stream":true}`,
		`{"prompt":"x","priority":"background","presence_penalty":0.0}`,
	} {
		add(body)
	}
}
