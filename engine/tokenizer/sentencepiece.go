package tokenizer

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// spaceMark (U+2581) stands for a space inside pieces.
const spaceMark = "\u2581"

// sentencePiece joins the characters of a text by score.
type sentencePiece struct {
	vocab   Vocab
	pieces  map[string]int32 // what plain text may become: never a control or byte token
	longest int              // bytes of the longest piece
	words   bool             // no piece has a space behind anything else: words can be joined one by one
	bytes   [256]int         // token of each byte, UNK where the vocabulary has none
}

func newSentencePiece(v Vocab) (*sentencePiece, error) {
	if len(v.Scores) != len(v.Tokens) {
		return nil, fmt.Errorf("vocabulary has %d tokens but %d scores", len(v.Tokens), len(v.Scores))
	}
	s := &sentencePiece{vocab: v, pieces: make(map[string]int32, len(v.Tokens)), words: true}
	for id, score := range v.Scores {
		if math.IsNaN(float64(score)) {
			return nil, fmt.Errorf("score of token %d is not a number", id)
		}
	}
	for b := range s.bytes {
		s.bytes[b] = v.UNK
	}
	for id, text := range v.Tokens {
		if err := s.index(id, text); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// index files one token under its type.
func (s *sentencePiece) index(id int, text string) error {
	switch s.vocab.Types[id] {
	case typeByte:
		b, ok := byteOf(text)
		if !ok {
			return fmt.Errorf("byte token %d is %q, not <0xHH>", id, text)
		}
		s.bytes[b] = id
	case typeNormal, typeUnused:
		if first, twice := s.pieces[text]; twice {
			return fmt.Errorf("tokens %d and %d are both %q", first, id, text)
		}
		s.pieces[text] = int32(id)
		s.longest = max(s.longest, len(text))
		s.words = s.words && wordEnd(text) == len(text)
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

func (s *sentencePiece) encode(ids []int, text string, start bool) []int {
	if start && s.vocab.AddSpacePrefix {
		text = " " + text
	}
	text = strings.ReplaceAll(text, " ", spaceMark)
	m := &merger{rule: s}
	for text != "" {
		n := len(text)
		if s.words {
			n = wordEnd(text)
		}
		ids = s.word(m, ids, text[:n])
		text = text[n:]
	}
	return ids
}

// wordEnd is where the first space of text begins that follows something else.
func wordEnd(text string) int {
	rest := strings.TrimLeft(text, spaceMark)
	if n := strings.Index(rest, spaceMark); n >= 0 {
		return len(text) - len(rest) + n
	}
	return len(text)
}

// word appends the tokens of text in which pieces may be anywhere. It starts with
// one part a character (a byte where the text is not UTF-8).
func (s *sentencePiece) word(m *merger, ids []int, text string) []int {
	m.text = text
	m.begin(len(text))
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRuneInString(text[at:])
		m.add(at, at+size, none)
		at += size
	}
	m.run()
	for _, p := range m.parts {
		ids = s.appendPiece(ids, text[p.start:p.end])
	}
	return ids
}

// join makes a piece of what two neighbours are together.
func (s *sentencePiece) join(text string, left, right *part) (id int32, score float32, ok bool) {
	text = text[left.start:right.end]
	if len(text) > s.longest {
		return 0, 0, false
	}
	if id, ok = s.pieces[text]; ok {
		score = s.vocab.Scores[id]
	}
	return id, score, ok
}

// appendPiece appends one merged piece, or the bytes of a character that is none.
func (s *sentencePiece) appendPiece(ids []int, piece string) []int {
	if id, ok := s.pieces[piece]; ok {
		return append(ids, int(id))
	}
	for i := range len(piece) {
		if id := s.bytes[piece[i]]; id >= 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *sentencePiece) appendText(b []byte, id int) []byte {
	text := s.vocab.Tokens[id]
	if s.vocab.Types[id] == typeByte {
		c, _ := byteOf(text) // newSentencePiece has checked it
		return append(b, c)
	}
	return append(b, strings.ReplaceAll(text, spaceMark, " ")...)
}
