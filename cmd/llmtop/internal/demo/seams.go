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
	extra atomic.Int64 // ns
}

// Wrap puts t between the engine and one of its tokenizers.
func (t *SlowTokenizer) Wrap(real engine.Tokenizer) engine.Tokenizer { return slowed{real, t} }

// Control takes the demo's line "tokenizer DURATION".
func (t *SlowTokenizer) Control(line string) {
	if d, err := time.ParseDuration(strings.TrimPrefix(line, "tokenizer ")); err == nil {
		t.extra.Store(int64(d))
	}
}

// slowed is one tokenizer that is worked over and over.
type slowed struct {
	engine.Tokenizer
	by *SlowTokenizer
}

// Encode does the work again and again, and answers as the real one.
func (s slowed) Encode(text string, special bool) []int {
	end := time.Now().Add(time.Duration(s.by.extra.Load()))
	ids := s.Tokenizer.Encode(text, special)
	for time.Now().Before(end) {
		s.Tokenizer.Encode(text, special)
	}
	return ids
}
