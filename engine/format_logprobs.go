package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// chatLogprobs are the log-probabilities of a chat answer.
type chatLogprobs struct {
	Content []chatToken `json:"content"`
	Refusal *string     `json:"refusal"` // always null
}

type chatToken struct {
	tokenText
	TopLogprobs []tokenText `json:"top_logprobs"`
}

type tokenText struct {
	Token   string  `json:"token"`
	Logprob float32 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// completionLogprobs are those of a completion, in four arrays with an element a token.
type completionLogprobs struct {
	Tokens        []string             `json:"tokens"`
	TokenLogprobs []float32            `json:"token_logprobs"`
	TopLogprobs   []map[string]float32 `json:"top_logprobs"` // the sampled token is always among them
	TextOffset    []int                `json:"text_offset"`  // where its text begins in the answer, in characters
}

// probabilities puts log-probabilities into the shape of the endpoint.
func (f format) probabilities(list []placed) any {
	if f.chat {
		return f.chatLogprobs(list)
	}
	return f.completionLogprobs(list)
}

func (f format) chatLogprobs(list []placed) chatLogprobs {
	out := chatLogprobs{Content: make([]chatToken, 0, len(list))}
	for _, p := range list {
		t := chatToken{tokenText: f.tokenText(p.Sampled), TopLogprobs: make([]tokenText, 0, len(p.Top))}
		for _, top := range p.Top {
			t.TopLogprobs = append(t.TopLogprobs, f.tokenText(top))
		}
		out.Content = append(out.Content, t)
	}
	return out
}

func (f format) tokenText(l TokenLogprob) tokenText {
	raw := f.bytes(l.ID)
	t := tokenText{Token: tokenName(raw), Logprob: l.Logprob, Bytes: make([]int, len(raw))}
	for i, b := range raw {
		t.Bytes[i] = int(b)
	}
	return t
}

func (f format) completionLogprobs(list []placed) completionLogprobs {
	out := completionLogprobs{Tokens: []string{}, TokenLogprobs: []float32{}, TopLogprobs: []map[string]float32{}, TextOffset: []int{}}
	for _, p := range list {
		name := tokenName(f.bytes(p.Sampled.ID))
		top := make(map[string]float32, len(p.Top)+1)
		for _, t := range p.Top {
			top[tokenName(f.bytes(t.ID))] = t.Logprob
		}
		top[name] = p.Sampled.Logprob
		out.Tokens = append(out.Tokens, name)
		out.TokenLogprobs = append(out.TokenLogprobs, p.Sampled.Logprob)
		out.TopLogprobs = append(out.TopLogprobs, top)
		out.TextOffset = append(out.TextOffset, p.runes)
	}
	return out
}

// tokenName is a token as text; a part of a character is written as OpenAI does: bytes:\xe2\x82.
func tokenName(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	var b strings.Builder
	b.WriteString("bytes:")
	for _, c := range raw {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return b.String()
}
