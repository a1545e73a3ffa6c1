package engine

import (
	"context"
	"crypto/sha256"
	"errors"
)

// Tokenizer is the vocabulary of a model. It is safe for concurrent use.
type Tokenizer interface {
	// Encode returns the tokens of a text, without the token of the beginning.
	// With special, control tokens in the text are recognised. Without, they are
	// plain text, and the text is one that follows others in a prompt: no space is
	// put before it.
	Encode(text string, special bool) []int
	// Begin returns the tokens that every prompt begins with, none or one.
	Begin() []int
	// Bytes returns what a token stands for in a text; of a control token, which
	// stands for nothing, the name.
	Bytes(id int) []byte
	// IsStop reports whether a token ends an answer.
	IsStop(id int) bool
	// NewDecoder returns a decoder for one stream of tokens.
	NewDecoder() Decoder
}

// Decoder turns a stream of tokens into text, whole UTF-8 characters at a time.
type Decoder interface {
	Push(id int) string
	Flush() string
}

// tokenizing is the way of texts to the tokenizer: so many at once, past the
// encodings that are kept.
type tokenizing struct {
	shared  Tokenizer
	rebuild func() (Tokenizer, error) // makes a tokenizer for each request; nil: shared serves all
	slots   chan struct{}             // holds one for each text that is being tokenized
	kept    *encodings                // nil: none are kept
}

// newTokenizing wires up a tokenizer. Whoever wraps it wants to see the work of every
// text, so then no encodings are kept.
func newTokenizing(c Config, w words) (*tokenizing, error) {
	wrap := c.WrapTokenizer
	if wrap == nil {
		wrap = func(t Tokenizer) Tokenizer { return t }
	}
	t := &tokenizing{shared: wrap(w.tokenizer), slots: make(chan struct{}, c.TokenizerThreads)}
	switch {
	case c.TokenizerCache == On:
		if c.WrapTokenizer == nil {
			t.kept = newEncodings(keptTokens)
		}
	case w.rebuild == nil:
		return nil, errors.New("tokenizer_cache is off, but there is no model file to read the vocabulary from")
	default:
		t.rebuild = func() (Tokenizer, error) {
			fresh, err := w.rebuild()
			if err != nil {
				return nil, err
			}
			return wrap(fresh), nil
		}
	}
	return t, nil
}

// encoder encodes the texts of one request.
type encoder struct {
	*Engine
	ctx context.Context // of the client
	own Tokenizer       // the request's; nil until it is made
}

func (e *Engine) encoder(ctx context.Context) *encoder {
	enc := &encoder{Engine: e, ctx: ctx}
	if e.texts.rebuild == nil {
		enc.own = e.texts.shared
	}
	return enc
}

// encode waits for its turn and returns the tokens of a text; they are shared: the
// caller must not change them. It fails when the client goes away meanwhile.
func (e *encoder) encode(text string, special bool) (ids []int, err error) {
	t := e.texts
	key := encodingKey{sha256.Sum256([]byte(text)), special}
	if ids, ok := t.kept.find(key); ok {
		return ids, nil
	}
	select {
	case t.slots <- struct{}{}:
	case <-e.ctx.Done():
		return nil, errGone
	}
	defer func() { <-t.slots }()
	if e.own == nil {
		if e.own, err = t.rebuild(); err != nil {
			return nil, err
		}
	}
	ids = e.own.Encode(text, special)
	t.kept.keep(key, ids)
	return ids, nil
}

// errGone ends a request that nobody waits for any more.
var errGone = &apiError{status: statusClientGone, kind: "invalid_request_error", message: "the client has gone"}
