package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

func TestAppendLogprobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float32Range(-40, 40), 1, 50).Draw(t, "logits")
		token := rapid.IntRange(0, len(logits)-1).Draw(t, "token")
		s := NewSampler(rapid.Float64Range(0, 2).Draw(t, "temperature"), 1, 0)
		s.Logprobs, s.TopLogprobs = true, rapid.IntRange(0, 60).Draw(t, "top")
		s.Sample(logits) // leaves its scratch
		sum := 0.0
		for _, l := range logits {
			sum += math.Exp(float64(l))
		}
		want := func(id int) float64 { return float64(logits[id]) - math.Log(sum) }
		got := s.AppendLogprobs(nil, logits, token)
		if len(got) != 1 || got[0].Sampled.ID != token || math.Abs(float64(got[0].Sampled.Logprob)-want(token)) > 1e-5 {
			t.Fatalf("%+v, want %g", got, want(token))
		}
		if n := min(s.TopLogprobs, len(logits)); len(got[0].Top) != n {
			t.Fatalf("%d of the likeliest, want %d", len(got[0].Top), n)
		}
		for i, l := range got[0].Top {
			if math.Abs(float64(l.Logprob)-want(l.ID)) > 1e-5 || i > 0 && l.Logprob > got[0].Top[i-1].Logprob {
				t.Fatalf("place %d: %+v, want %g", i, l, want(l.ID))
			}
		}
	})
}

func TestLogprobsOfBadLogits(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	s := NewSampler(0, 1, 0)
	if got := s.AppendLogprobs(nil, []float32{1, 2}, 0); got != nil {
		t.Errorf("%+v, none were wanted", got)
	}
	s.Logprobs, s.TopLogprobs = true, 3
	for _, logits := range [][]float32{{nan, nan, nan}, {0, -inf, nan}, {inf, 0, 0}, {-inf, -inf, -inf}} {
		for id := range logits {
			got := s.AppendLogprobs(nil, logits, id)
			if _, err := json.Marshal(got); err != nil || got[0].Sampled.Logprob < minLogprob || got[0].Sampled.Logprob > 0 {
				t.Errorf("%v, token %d: %+v, %v", logits, id, got, err)
			}
		}
	}
}

type chatLogprobsBody struct {
	Choices []struct {
		Message struct{ Content string }
		Delta   struct{ Content string }
		// nil: null
		Logprobs *struct{ Content []chatToken }
	}
}

// The log-probabilities of a chat answer are those of the tokens that make its text,
// the same in a stream; greedy means that each token is the likeliest.
func TestChatLogprobs(t *testing.T) {
	e := startOncall(t, Config{})
	defer e.stop()
	const ask = `{"messages":[{"role":"user","content":"What is TTFT?"}],"max_tokens":30,"logprobs":true,"top_logprobs":3,"temperature":0`
	whole := decodeBody[chatLogprobsBody](t, e.post(t.Context(), "/v1/chat/completions", ask+"}")).Choices[0]
	if whole.Logprobs == nil || len(whole.Logprobs.Content) == 0 {
		t.Fatal("no log-probabilities")
	}
	var text []byte
	for i, c := range whole.Logprobs.Content {
		for _, b := range c.Bytes {
			text = append(text, byte(b))
		}
		total := 0.0
		for _, top := range c.TopLogprobs {
			total += math.Exp(float64(top.Logprob))
		}
		if len(c.TopLogprobs) != 3 || c.TopLogprobs[0].Token != c.Token || c.TopLogprobs[0].Logprob != c.Logprob || total > 1+1e-6 {
			t.Errorf("token %d: %+v", i, c)
		}
	}
	if string(text) != whole.Message.Content {
		t.Errorf("tokens make %q, the answer is %q", text, whole.Message.Content)
	}

	var streamed []chatToken
	for _, d := range events(e.post(t.Context(), "/v1/chat/completions", ask+`,"stream":true}`)) {
		if d == "[DONE]" {
			continue
		}
		var r chatLogprobsBody
		if err := json.Unmarshal([]byte(d), &r); err != nil {
			t.Fatal(err)
		}
		if l := r.Choices[0].Logprobs; l != nil {
			streamed = append(streamed, l.Content...)
		} else if r.Choices[0].Delta.Content != "" {
			t.Errorf("no log-probabilities in %s", d)
		}
	}
	if fmt.Sprint(streamed) != fmt.Sprint(whole.Logprobs.Content) {
		t.Errorf("streamed %v\nwhole    %v", streamed, whole.Logprobs.Content)
	}
}

// The shapes are OpenAI's, written out.
func TestLogprobsWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		a, b := expected(3, 2)[:1], expected(3, 2)[1:]
		sum := 0.0
		for i := range fakeVocab {
			sum += math.Exp(-float64(i))
		}
		first, second := fmt.Sprint(float32(-math.Log(sum))), fmt.Sprint(float32(-1-math.Log(sum)))
		next := func(s string) string { return string(rune(s[0] + 1)) }
		top := func(s string) string {
			pair := []string{`"` + s + `":` + first, `"` + next(s) + `":` + second}
			slices.Sort(pair)
			return `{` + strings.Join(pair, ",") + `}`
		}
		for _, c := range []struct{ path, body, want string }{
			{"/v1/completions", completion(3, 2, `,"logprobs":2`),
				`"logprobs":{"tokens":["` + a + `","` + b + `"],"token_logprobs":[` + first + `,` + first + `],"top_logprobs":[` + top(a) + `,` + top(b) + `],"text_offset":[0,1]}`},
			{"/v1/completions", completion(3, 2, `,"logprobs":0`),
				`"top_logprobs":[{"` + a + `":` + first + `},{"` + b + `":` + first + `}]`},
			{"/v1/completions", completion(3, 2, ""), `"logprobs":null`},
			{"/v1/completions", completion(3, 2, `,"logprobs":0,"stream":true`),
				`"logprobs":{"tokens":["` + b + `"],"token_logprobs":[` + first + `],"top_logprobs":[{"` + b + `":` + first + `}],"text_offset":[1]},"finish_reason":"length"`},
			{"/v1/completions", completion(3, 2, `,"logprobs":0,"stop":"`+a+`"`),
				`"logprobs":{"tokens":[],"token_logprobs":[],"top_logprobs":[],"text_offset":[]},"finish_reason":"stop"`},
		} {
			w := e.post(t.Context(), c.path, c.body)
			if !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: %s\nlacks %s", c.body, w.Body, c.want)
			}
		}
		w := e.post(t.Context(), "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_tokens":1,"logprobs":true,"top_logprobs":1}`)
		r := decodeBody[chatLogprobsBody](t, w)
		token := r.Choices[0].Message.Content
		item := fmt.Sprintf(`"token":%q,"logprob":%s,"bytes":[%d]`, token, first, token[0])
		if want := `"logprobs":{"content":[{` + item + `,"top_logprobs":[{` + item + `}]}],"refusal":null}`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s\nlacks %s", w.Body, want)
		}
	})
}

func TestTokenName(t *testing.T) {
	for raw, want := range map[string]string{" a": " a", "é": "é", "\xe2\x82": `bytes:\xe2\x82`, "": ""} {
		if got := tokenName([]byte(raw)); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}
