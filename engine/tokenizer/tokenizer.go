// Package tokenizer turns text into the tokens of a SentencePiece-style vocabulary
// and back. In: the vocabulary a model file carries and UTF-8 text (or token ids,
// one at a time). Out: token ids (or text in whole UTF-8 characters). It knows
// nothing of files, models or chat formats.
package tokenizer

import (
	"fmt"
	"math"
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

// spaceMark (U+2581) stands for a space inside pieces.
const spaceMark = "\u2581"

// Vocab is a vocabulary as a model file describes it. Tokens, Scores and Types are
// indexed by token id and of one length. An id that the file does not name (BOS,
// EOS, EOT, UNK) is -1.
type Vocab struct {
	Tokens []string
	Scores []float32 // a pair with a higher score merges earlier
	Types  []int32   // GGUF numbers: 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte

	BOS, EOS, EOT, UNK int

	AddBOS         bool // a prompt starts with BOS
	AddSpacePrefix bool // a space is put before text that starts a prompt or follows a control token
}

// Tokenizer encodes and decodes with one vocabulary. It is immutable and safe for
// concurrent use.
type Tokenizer struct {
	vocab    Vocab
	pieces   map[string]int // what plain text may become: never a control or byte token
	longest  int            // bytes of the longest piece
	bytes    [256]int       // token of each byte, UNK where the vocabulary has none
	specials specials
}

// New checks a vocabulary and builds its lookup tables. It keeps v's slices; the
// caller must not change them.
func New(v Vocab) (*Tokenizer, error) {
	if err := check(v); err != nil {
		return nil, err
	}
	t := &Tokenizer{vocab: v, pieces: make(map[string]int, len(v.Tokens))}
	for b := range t.bytes {
		t.bytes[b] = v.UNK
	}
	for id, text := range v.Tokens {
		if err := t.index(id, text); err != nil {
			return nil, err
		}
	}
	t.specials.sort()
	return t, nil
}

func check(v Vocab) error {
	n := len(v.Tokens)
	if n == 0 {
		return fmt.Errorf("vocabulary has no tokens")
	}
	if len(v.Scores) != n || len(v.Types) != n {
		return fmt.Errorf("vocabulary has %d tokens but %d scores and %d types", n, len(v.Scores), len(v.Types))
	}
	for _, id := range []struct {
		name string
		id   int
	}{{"BOS", v.BOS}, {"EOS", v.EOS}, {"EOT", v.EOT}, {"unknown", v.UNK}} {
		if id.id < -1 || id.id >= n {
			return fmt.Errorf("vocabulary of %d tokens has no %s token %d", n, id.name, id.id)
		}
	}
	if v.AddBOS && v.BOS < 0 {
		return fmt.Errorf("vocabulary wants a BOS token but names none")
	}
	for id, s := range v.Scores {
		if math.IsNaN(float64(s)) {
			return fmt.Errorf("score of token %d is not a number", id)
		}
	}
	return nil
}

// index files one token under its type.
func (t *Tokenizer) index(id int, text string) error {
	switch typ := t.vocab.Types[id]; typ {
	case typeByte:
		b, ok := byteOf(text)
		if !ok {
			return fmt.Errorf("byte token %d is %q, not <0xHH>", id, text)
		}
		t.bytes[b] = id
	case typeControl, typeUnknown:
		t.specials.add(text, id, false)
	case typeUserDefined:
		t.specials.add(text, id, true)
	case typeNormal, typeUnused:
		if first, twice := t.pieces[text]; twice {
			return fmt.Errorf("tokens %d and %d are both %q", first, id, text)
		}
		t.pieces[text] = id
		t.longest = max(t.longest, len(text))
	default:
		return fmt.Errorf("token %d has the unknown type %d", id, typ)
	}
	return nil
}

// byteOf reads "<0xHH>".
func byteOf(text string) (byte, bool) {
	if len(text) != 6 || text[:3] != "<0x" || text[5] != '>' {
		return 0, false
	}
	hi, ok1 := hex(text[3])
	lo, ok2 := hex(text[4])
	return hi<<4 | lo, ok1 && ok2
}

func hex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// Size is the number of tokens.
func (t *Tokenizer) Size() int { return len(t.vocab.Tokens) }

// BOS is the token a prompt starts with, and whether this vocabulary wants one.
func (t *Tokenizer) BOS() (id int, add bool) { return t.vocab.BOS, t.vocab.AddBOS }

// IsStop reports whether a generation ends at this token (EOS or end of turn).
func (t *Tokenizer) IsStop(id int) bool {
	return id >= 0 && (id == t.vocab.EOS || id == t.vocab.EOT)
}

// Token is the text of a token as the vocabulary writes it (spaces as U+2581), or
// "" for an id out of range.
func (t *Tokenizer) Token(id int) string {
	if id < 0 || id >= len(t.vocab.Tokens) {
		return ""
	}
	return t.vocab.Tokens[id]
}
