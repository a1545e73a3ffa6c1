package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// request is a request for text.
type request struct {
	path   string
	body   []byte
	stream bool
}

// sizes bound the requests.
type sizes struct {
	prompt int // bytes of a long prompt, without what it shares
	answer int // tokens
}

// newRequest draws one: chat or completion, streaming or not, of any class, most of
// them short and some long, half of them with a beginning that others share.
func newRequest(rng *rand.Rand, s sizes) request {
	r := request{path: "/v1/chat/completions", stream: rng.IntN(2) == 0}
	text := prompt(rng, s.prompt)
	fields := map[string]any{
		"max_tokens": 1 + rng.IntN(1+rng.IntN(s.answer)), "ignore_eos": rng.IntN(2) == 0,
		"temperature": rng.Float64(), "seed": rng.IntN(1000), "stream": r.stream,
	}
	if rng.IntN(2) == 0 {
		r.path = "/v1/completions"
		fields["prompt"] = text
	} else {
		fields["messages"] = []map[string]string{{"role": "user", "content": text}}
	}
	if p := priorities[rng.IntN(len(priorities))]; p != nil {
		fields["priority"] = p
	}
	r.body = marshal(fields)
	return r
}

// priorities are the classes by name, as vLLM's integers, and none at all.
var priorities = []any{nil, "realtime", "normal", "background", -3, 0, 7}

func prompt(rng *rand.Rand, most int) string {
	var b strings.Builder
	if rng.IntN(2) == 0 {
		shared := rand.New(rand.NewPCG(7, rng.Uint64N(4))) // four beginnings
		notes(&b, shared, most/10+shared.IntN(most/4))
	}
	length := 10 + rng.IntN(most/16)
	if rng.IntN(4) == 0 {
		length = most/5 + rng.IntN(most-most/5)
	}
	notes(&b, rng, length)
	return b.String()
}

var subjects = []string{"the queue", "TTFT", "the KV cache", "the batch", "TPOT", "the pager", "preemption", "the tokenizer"}

func notes(b *strings.Builder, rng *rand.Rand, bytes int) {
	for end := b.Len() + bytes; b.Len() < end; {
		fmt.Fprintf(b, "At %02d:%02d %s was at %d. ", rng.IntN(24), rng.IntN(60), subjects[rng.IntN(len(subjects))], rng.IntN(5000))
	}
}

// wrongBodies are requests that the engine must refuse.
var wrongBodies = []string{"{", `{"prompt":1}`, `{"prompt":"x","max_tokens":0}`, `{"prompt":"x","n":3}`, "[1,2]", `{"prompt":"x","temperature":9}`}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("marshalling strings and numbers: " + err.Error())
	}
	return b
}
