package seams

import (
	"sync"
	"sync/atomic"
	"time"

	"llmtop/engine"
)

// Tokenizer stands at the engine's tokenizer seam and works each text over and
// over for as long as it is told, with the real tokenizer, so that the processor is
// really busy and a profile shows real frames.
type Tokenizer struct {
	extra atomic.Int64 // ns
}

// Wrap puts t between the engine and one of its tokenizers.
func (t *Tokenizer) Wrap(real engine.Tokenizer) engine.Tokenizer { return slowed{real, t} }

func (t *Tokenizer) control(words []string) error { return setDuration(&t.extra, words[0]) }

// setDuration takes a length of time that is not negative.
func setDuration(to *atomic.Int64, text string) error {
	d, err := time.ParseDuration(text)
	if err == nil && d >= 0 {
		to.Store(int64(d))
	}
	return err
}

// slowed is one tokenizer that is worked over and over.
type slowed struct {
	engine.Tokenizer
	by *Tokenizer
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

// detokenizer makes tokens into text slowly: as where one process or thread does it for
// all streams, one token at a time has its turn.
type detokenizer struct {
	extra atomic.Int64 // ns a token
	turn  sync.Mutex
}

func (d *detokenizer) control(words []string) error { return setDuration(&d.extra, words[0]) }

func (d *detokenizer) wrap(real engine.Tokenizer) engine.Tokenizer { return slowText{real, d} }

// slowText is a tokenizer whose decoders are slow.
type slowText struct {
	engine.Tokenizer
	by *detokenizer
}

func (s slowText) NewDecoder() engine.Decoder {
	return &slowDecoder{Decoder: s.Tokenizer.NewDecoder(), fresh: s.Tokenizer.NewDecoder, by: s.by}
}

type slowDecoder struct {
	engine.Decoder
	fresh func() engine.Decoder
	by    *detokenizer
}

// Push does the work again and again on decoders that are thrown away, and answers as
// the real one.
func (s *slowDecoder) Push(id int) string {
	if extra := time.Duration(s.by.extra.Load()); extra > 0 {
		s.work(id, extra)
	}
	return s.Decoder.Push(id)
}

func (s *slowDecoder) work(id int, extra time.Duration) {
	s.by.turn.Lock()
	defer s.by.turn.Unlock()
	for end := time.Now().Add(extra); time.Now().Before(end); {
		s.fresh().Push(id)
	}
}
