package demo

import (
	"strings"
	"sync/atomic"
	"time"

	"llmtop/engine"
)

// SlowTokenizer stands at the engine's tokenizer seam and works each text over and
// over for as long as it is told, with the real tokenizer, so that the processor is
// really busy and a profile shows real frames.
type SlowTokenizer struct {
	engine.Tokenizer
	encode func(text string, special bool) []int // the real one
	extra  atomic.Int64                          // ns
}

// Wrap puts t between the engine and its tokenizer.
func (t *SlowTokenizer) Wrap(real engine.Tokenizer) engine.Tokenizer {
	t.Tokenizer, t.encode = real, real.Encode
	return t
}

// Control takes the demo's line "tokenizer DURATION".
func (t *SlowTokenizer) Control(line string) {
	if d, err := time.ParseDuration(strings.TrimPrefix(line, "tokenizer ")); err == nil {
		t.extra.Store(int64(d))
	}
}

// Encode does the work again and again, and answers as the real one.
func (t *SlowTokenizer) Encode(text string, special bool) []int {
	end := time.Now().Add(time.Duration(t.extra.Load()))
	ids := t.encode(text, special)
	for time.Now().Before(end) {
		t.encode(text, special)
	}
	return ids
}
