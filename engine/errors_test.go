package engine

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

type errorBody struct {
	Error struct {
		Message string
		Type    string
		Param   *string
		Code    string
	}
}

func stringReader(s string) io.Reader { return strings.NewReader(s) }

// Every refusal is one line in OpenAI's shape and says what is wrong.
func TestErrors(t *testing.T) {
	e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxBodyBytes = 4000 })
	defer e.stop()
	long := strings.Repeat("x", 3000)
	for _, c := range []struct {
		path, body string
		status     int
		param      string
		message    string // a part of it
	}{
		{"completions", "", 400, "", "the body is empty"},
		{"completions", "{", 400, "", "not valid JSON: unexpected end of JSON input (at byte 1)"},
		{"completions", `{"prompt":"x"} x`, 400, "", "not valid JSON: invalid character 'x' after top-level value (at byte 16)"},
		{"completions", "\x00\x1b[2J", 400, "", "not valid JSON"},
		{"completions", "<html>", 400, "", "not valid JSON: invalid character '<'"},
		{"completions", `[1]`, 400, "", "the body must be a JSON object, not an array"},
		{"completions", `"x"`, 400, "", "the body must be a JSON object, not a string"},
		{"completions", `{}`, 400, "prompt", "prompt is missing"},
		{"completions", `{"prompt":null}`, 400, "prompt", "prompt is missing"},
		{"completions", `{"prompt":[]}`, 400, "prompt", "prompt must not be empty"},
		{"completions", `{"prompt":[null]}`, 400, "prompt", "a token id is null"},
		{"completions", `{"prompt":[1,null]}`, 400, "prompt", "a token id is null"},
		{"completions", `{"prompt":5}`, 400, "prompt", "must be a string or an array of token ids"},
		{"completions", `{"prompt":[1,"x"]}`, 400, "prompt", "must be a string or an array of token ids"},
		{"completions", `{"prompt":["a","b"]}`, 400, "prompt", "prompt has 2 texts"},
		{"completions", `{"prompt":[1,128]}`, 400, "prompt", "token 128 is outside the vocabulary of 128 tokens"},
		{"completions", `{"prompt":[-1]}`, 400, "prompt", "token -1 is outside"},
		{"completions", `{"prompt":"x","max_tokens":"5"}`, 400, "max_tokens", `"max_tokens" must be an integer, not a string`},
		{"completions", `{"prompt":"x","max_tokens":1.5}`, 400, "max_tokens", `"max_tokens" must be an integer, not 1.5`},
		{"completions", `{"prompt":"x","max_tokens":0}`, 400, "max_tokens", "max_tokens is 0, must be at least 1"},
		{"completions", `{"prompt":"x","max_tokens":1` + strings.Repeat("0", 300) + `}`, 400, "max_tokens", "must be an integer, not a number"},
		{"completions", `{"prompt":"x","temperature":true}`, 400, "temperature", `"temperature" must be a number, not true or false`},
		{"completions", `{"prompt":"x","temperature":2.5}`, 400, "temperature", "temperature is 2.5, must be between 0 and 2"},
		{"completions", `{"prompt":"x","top_p":0}`, 400, "top_p", "top_p is 0"},
		{"completions", `{"prompt":"x","stream":"yes"}`, 400, "stream", `"stream" must be true or false, not a string`},
		{"completions", `{"prompt":"x","stream_options":{"include_usage":true}}`, 400, "stream_options", "stream_options needs stream"},
		{"completions", `{"prompt":"x","stream":true,"stream_options":[]}`, 400, "stream_options", "must be an object, not an array"},
		{"completions", `{"prompt":"x","n":2}`, 400, "n", "n must be 1: this engine gives one answer"},
		{"completions", `{"prompt":"x","best_of":3}`, 400, "best_of", "best_of must be 1"},
		{"completions", `{"prompt":"x","logprobs":6}`, 400, "logprobs", "logprobs is 6, must be between 0 and 5"},
		{"completions", `{"prompt":"x","logprobs":true}`, 400, "logprobs", `"logprobs" must be an integer, not true or false`},
		{"completions", `{"prompt":"x","top_k":-2}`, 400, "top_k", "top_k is -2, must be at least 1"},
		{"completions", `{"prompt":"x","top_k":1.5}`, 400, "top_k", `"top_k" must be an integer, not 1.5`},
		{"completions", `{"prompt":"x","min_p":1.5}`, 400, "min_p", "min_p is 1.5, must be between 0 and 1"},
		{"completions", `{"prompt":"x","seed":"a"}`, 400, "seed", `"seed" must be an integer, not a string`},
		{"completions", `{"prompt":"x","priority":1.5}`, 400, "priority", "priority must be an integer (the lower, the more urgent) or one of realtime, normal and background"},
		{"completions", `{"prompt":"x","priority":"urgent"}`, 400, "priority", "priority must be an integer"},
		{"completions", `{"prompt":"x","priority":[1]}`, 400, "priority", "priority must be an integer"},
		{"completions", `{"prompt":"x","cache_salt":""}`, 400, "cache_salt", "cache_salt must not be empty"},
		{"completions", `{"prompt":"x","cache_salt":5}`, 400, "cache_salt", `"cache_salt" must be a string, not a number`},
		{"completions", `{"prompt":"x","stop":5}`, 400, "stop", "stop must be a string or an array of strings"},
		{"completions", `{"prompt":"x","stop":[""]}`, 400, "stop", "a stop string has 0 bytes"},
		{"completions", `{"prompt":"x","stop":[` + strings.Repeat(`"a",`, 16) + `"a"]}`, 400, "stop", "stop has 17 strings"},
		{"completions", `{"prompt":"x","echo":true}`, 400, "echo", "echo is not supported"},
		{"completions", `{"prompt":"x","suffix":"y"}`, 400, "suffix", "suffix is not supported"},
		{"completions", `{"prompt":"x","model":"other"}`, 404, "model", `this engine serves "fake"`},
		{"completions", `{"prompt":"` + long[:250] + `"}`, 400, "prompt", "the prompt has 251 tokens, which leaves no room for an answer in the context of 200 tokens"},
		{"completions", `{"prompt":"` + long + long + `"}`, 413, "", "the body is longer than 4000 bytes"},
		{"completions", strings.Repeat("[", 2000), 400, "", "nested deeper than 32 levels"},
		{"chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_completion_tokens":0}`, 400, "max_completion_tokens", "max_completion_tokens is 0"},
		{"chat/completions", `{"messages":[{"role":"user","content":"x"}],"logprobs":true,"top_logprobs":21}`, 400, "top_logprobs", "top_logprobs is 21, must be between 0 and 20"},
		{"chat/completions", `{"messages":[{"role":"user","content":"x"}],"top_logprobs":2}`, 400, "top_logprobs", "top_logprobs needs logprobs"},
		{"chat/completions", `{"messages":[{"role":"user","content":"x"}],"logprobs":3}`, 400, "logprobs", `"logprobs" must be true or false, not a number`},
		{"chat/completions", `{}`, 400, "messages", "messages must not be empty"},
		{"chat/completions", `{"messages":[]}`, 400, "messages", "messages must not be empty"},
		{"chat/completions", `{"messages":"hello"}`, 400, "messages", `"messages" must be an array, not a string`},
		{"chat/completions", `{"messages":[{"content":"x"}]}`, 400, "messages", "message 0 has no role"},
		{"chat/completions", `{"messages":[{"role":"root","content":"x"}]}`, 400, "messages", "message 0 has an unknown role"},
		{"chat/completions", `{"messages":[{"role":"user"}]}`, 400, "messages", "message 0 has no content"},
		{"chat/completions", `{"messages":[{"role":"user","content":null}]}`, 400, "messages", "message 0 has no content"},
		{"chat/completions", `{"messages":[{"role":"user","content":5}]}`, 400, "messages", "must be a string or an array of text parts"},
		{"chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "messages", "this model reads text only"},
		{"chat/completions", `{"messages":[{"role":"user","content":"x"}],"messages":[{"role":"user"}]}`, 400, "messages", "message 0 has no content"},
		{"chat/completions", `{"messages":[{"role":7,"content":"x"}]}`, 400, "messages.role", `"messages.role" must be a string, not a number`},
		{"chat/completions", `{"messages":[{"role":"user","content":"` + long + `"}]}`, 400, "messages", "in the context of 200 tokens"},
		{"embeddings", `{}`, 404, "", "there is no such path"},
	} {
		w := e.post(t.Context(), "/v1/"+c.path, c.body)
		got := decodeBody[errorBody](t, w).Error
		param := ""
		if got.Param != nil {
			param = *got.Param
		}
		if w.Code != c.status || param != c.param || !strings.Contains(got.Message, c.message) {
			t.Errorf("%.60s: %d, param %q, %q; want %d, %q, %q", c.body, w.Code, param, got.Message, c.status, c.param, c.message)
		}
		if got.Type == "" || strings.ContainsAny(got.Message, "\n\r\x1b\x00") || len(got.Message) > 200 {
			t.Errorf("%.60s: type %q, message %q", c.body, got.Type, got.Message)
		}
	}
	e.freed(t)
}

// A prompt may be too long for the KV cache although the context would hold it.
func TestPromptLongerThanCache(t *testing.T) {
	e := startFake(t, func(c *Config, f *fakeRunner) { c.NumBlocks = 10 })
	defer e.stop()
	w := e.post(t.Context(), "/v1/completions", completion(60, 1, ""))
	got := decodeBody[errorBody](t, w).Error
	if want := "in the KV cache of 40 tokens"; w.Code != 400 || !strings.Contains(got.Message, want) || got.Code != "context_length_exceeded" {
		t.Errorf("%d %+v, want %q", w.Code, got, want)
	}
	w = e.post(t.Context(), "/v1/completions", completion(35, 100, ""))
	if r := decodeBody[response](t, w); w.Code != 200 || len(*r.Choices[0].Text) != 4 || *r.Choices[0].FinishReason != FinishLength {
		t.Errorf("%d %s: want the 4 tokens that fit", w.Code, w.Body)
	}
}

func TestWrongMethod(t *testing.T) {
	e := startFake(t, nil)
	defer e.stop()
	for path, allow := range map[string]string{"/v1/completions": "POST", "/v1/chat/completions": "POST"} {
		if w := e.get(path); w.Code != 405 || w.Header().Get("Allow") != allow {
			t.Errorf("GET %s: %d, Allow %q", path, w.Code, w.Header().Get("Allow"))
		}
	}
	if w := e.post(t.Context(), "/metrics", ""); w.Code != 405 {
		t.Errorf("POST /metrics: %d", w.Code)
	}
}

func TestAPIKey(t *testing.T) {
	e := startFake(t, func(c *Config, f *fakeRunner) { c.APIKey = "secret" })
	defer e.stop()
	for _, c := range []struct {
		header string
		status int
	}{
		{"", 401}, {"Bearer secre", 401}, {"Bearer secrets", 401}, {"secret", 401}, {"Bearer ", 401}, {"Bearer secret", 200},
	} {
		r := httptest.NewRequest("POST", "/v1/completions", stringReader(completion(3, 2, "")))
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		w := httptest.NewRecorder()
		e.handler.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%q: %d, want %d", c.header, w.Code, c.status)
		}
		if c.status == 401 && (w.Header().Get("WWW-Authenticate") == "" || strings.Contains(w.Body.String(), "secret")) {
			t.Errorf("%q: %v %s", c.header, w.Header(), w.Body)
		}
	}
	if w := e.get("/v1/models"); w.Code != 401 {
		t.Errorf("models: %d", w.Code)
	}
	for _, path := range []string{"/health", "/metrics", "/debug/requests"} {
		if w := e.get(path); w.Code != 200 {
			t.Errorf("%s: %d: only /v1 wants the key", path, w.Code)
		}
	}
}
