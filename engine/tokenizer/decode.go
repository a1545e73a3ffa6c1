package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Decoder turns a stream of tokens into text, in whole UTF-8 characters: a
// character spread over byte tokens appears with its last one. Bytes that cannot
// become a character come out as U+FFFD, control tokens as nothing. Not safe for
// concurrent use; one Decoder serves one stream.
type Decoder struct {
	tok     *Tokenizer
	pending []byte // at most 3 bytes between calls: the start of a character
}

// NewDecoder starts a stream.
func NewDecoder(t *Tokenizer) *Decoder { return &Decoder{tok: t} }

// Push adds a token and returns the text that is now complete, often "" in the
// middle of a character. An id out of range adds nothing.
func (d *Decoder) Push(id int) string {
	d.pending = d.tok.appendBytes(d.pending, id)
	return d.take(false)
}

// Flush ends the stream: an unfinished character comes out as U+FFFD.
func (d *Decoder) Flush() string { return d.take(true) }

// take removes what is complete (or all of it) from pending.
func (d *Decoder) take(all bool) string {
	var out strings.Builder
	p := d.pending
	for len(p) > 0 && (all || utf8.FullRune(p)) {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n <= 1 {
			n = badPrefix(p)
		}
		out.WriteRune(r)
		p = p[n:]
	}
	d.pending = append(d.pending[:0], p...)
	return out.String()
}

// badPrefix is the length of the longest start of p that could have become a
// character, at least 1: one U+FFFD stands for all of it, as the Unicode standard
// (3.9, "substitution of maximal subparts") recommends.
func badPrefix(p []byte) int {
	n := 0
	for n < len(p) && !utf8.FullRune(p[:n+1]) {
		n++
	}
	return max(n, 1)
}

// appendBytes appends what a token means as text.
func (t *Tokenizer) appendBytes(b []byte, id int) []byte {
	if id < 0 || id >= len(t.vocab.Tokens) {
		return b
	}
	switch t.vocab.Types[id] {
	case typeControl, typeUnknown:
		return b
	}
	return t.scheme.appendText(b, id)
}

// Decode is the text of a whole sequence. The space that AddSpacePrefix put in
// front is taken off again.
func (t *Tokenizer) Decode(ids []int) string {
	d := NewDecoder(t)
	var out strings.Builder
	for _, id := range ids {
		out.WriteString(d.Push(id))
	}
	out.WriteString(d.Flush())
	if t.vocab.AddSpacePrefix {
		return strings.TrimPrefix(out.String(), " ")
	}
	return out.String()
}
