// Package tokenizer turns text into the tokens of a vocabulary and back. In: the
// vocabulary a model file carries, SentencePiece-style or byte-level BPE, and UTF-8
// text (or token ids, one at a time). Out: token ids (or text in whole UTF-8
// characters). It knows nothing of files, models or chat formats.
package tokenizer

import (
	"fmt"
	"slices"
)

// Token types as GGUF's tokenizer.ggml.token_type numbers them.
const (
	typeNormal      = 1
	typeUnknown     = 2
	typeControl     = 3
	typeUserDefined = 4
	typeUnused      = 5
	typeByte        = 6
)

// Kind is the way in which a vocabulary makes tokens of text.
type Kind int

// The kinds of vocabularies.
const (
	SentencePiece Kind = iota // characters are joined by score, the whole text at once
	ByteLevel                 // text is cut into words, and their bytes are joined by rank (GPT-2, Llama 3, Qwen 2)
)

// Vocab is a vocabulary as a model file describes it. Tokens, Types and, for
// SentencePiece, Scores are indexed by token id and of one length. An id that the
// file does not name (BOS, EOS, EOT, UNK) is -1.
type Vocab struct {
	Kind   Kind
	Tokens []string
	Types  []int32   // GGUF numbers: 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte
	Scores []float32 // SentencePiece: a pair with a higher score merges earlier
	Merges []string  // ByteLevel: "left right", an earlier one merges earlier
	Pre    string    // ByteLevel: what cuts text into words, by GGUF's name (tokenizer.ggml.pre)

	BOS, EOS, EOT, UNK int
	Stops              []int // tokens that end a generation, beside EOS and EOT

	AddBOS         bool // a prompt starts with BOS
	AddSpacePrefix bool // SentencePiece: a space is put before text that starts a prompt or follows a control token
}

// Tokenizer encodes and decodes with one vocabulary. It is immutable and safe for
// concurrent use.
type Tokenizer struct {
	vocab  Vocab
	always specials // user defined: found in any text
	all    specials // and those found where control tokens are wanted
	scheme scheme
}

// scheme is what the kinds of vocabularies do differently.
type scheme interface {
	// encode appends the tokens of text that holds no special token. At the start,
	// and after a special token, a space prefix is due.
	encode(ids []int, text string, start bool) []int
	// appendText appends what a token stands for that is not special.
	appendText(b []byte, id int) []byte
}

// New checks a vocabulary and builds its lookup tables. It keeps v's slices; the
// caller must not change them.
func New(v Vocab) (*Tokenizer, error) {
	if err := check(v); err != nil {
		return nil, err
	}
	t := &Tokenizer{vocab: v}
	if err := t.findSpecials(); err != nil {
		return nil, err
	}
	var err error
	if v.Kind == ByteLevel {
		t.vocab.AddSpacePrefix = false
		t.scheme, err = newByteLevel(v)
	} else {
		t.scheme, err = newSentencePiece(v)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// maxSpecial bounds the text of a special token, in bytes; it bounds the time of a search.
const maxSpecial = 1 << 10

func (t *Tokenizer) findSpecials() error {
	for id, text := range t.vocab.Tokens {
		typ := t.vocab.Types[id]
		if typ != typeControl && typ != typeUnknown && typ != typeUserDefined {
			continue
		}
		if len(text) > maxSpecial {
			return fmt.Errorf("special token %d has %d bytes, more than %d", id, len(text), maxSpecial)
		}
		t.all.add(text, id)
		if typ == typeUserDefined {
			t.always.add(text, id)
		}
	}
	t.all.sort()
	t.always.sort()
	return nil
}

// maxTokens keeps ids in an int32; real vocabularies have up to some 300 000.
const maxTokens = 1 << 24

// check refuses what no kind of vocabulary may have.
func check(v Vocab) error {
	n := len(v.Tokens)
	if n == 0 {
		return fmt.Errorf("vocabulary has no tokens")
	}
	if len(v.Types) != n {
		return fmt.Errorf("vocabulary has %d tokens but %d types", n, len(v.Types))
	}
	if n > maxTokens {
		return fmt.Errorf("vocabulary has %d tokens, more than %d", n, maxTokens)
	}
	for id, typ := range v.Types {
		if typ < typeNormal || typ > typeByte {
			return fmt.Errorf("token %d has the unknown type %d", id, typ)
		}
	}
	return checkIDs(v)
}

// checkIDs refuses named tokens that are not there.
func checkIDs(v Vocab) error {
	n := len(v.Tokens)
	for _, id := range []struct {
		name string
		id   int
	}{{"BOS", v.BOS}, {"EOS", v.EOS}, {"EOT", v.EOT}, {"unknown", v.UNK}} {
		if id.id < -1 || id.id >= n {
			return fmt.Errorf("vocabulary of %d tokens has no %s token %d", n, id.name, id.id)
		}
	}
	for _, id := range v.Stops {
		if id < 0 || id >= n {
			return fmt.Errorf("vocabulary of %d tokens has no stop token %d", n, id)
		}
	}
	if v.AddBOS && v.BOS < 0 {
		return fmt.Errorf("vocabulary wants a BOS token but names none")
	}
	return nil
}

// Size is the number of tokens.
func (t *Tokenizer) Size() int { return len(t.vocab.Tokens) }

// BOS is the token a prompt starts with, and whether this vocabulary wants one.
func (t *Tokenizer) BOS() (id int, add bool) { return t.vocab.BOS, t.vocab.AddBOS }

// IsStop reports whether a generation ends at this token (EOS, end of turn, or
// another one of the vocabulary's Stops).
func (t *Tokenizer) IsStop(id int) bool {
	return id >= 0 && (id == t.vocab.EOS || id == t.vocab.EOT || slices.Contains(t.vocab.Stops, id))
}

// Token is the text of a token as the vocabulary writes it (a space is U+2581 or
// U+0120), or "" for an id out of range.
func (t *Tokenizer) Token(id int) string {
	if id < 0 || id >= len(t.vocab.Tokens) {
		return ""
	}
	return t.vocab.Tokens[id]
}
