package tokenizer

import "strings"

// Encode turns text into token ids, without BOS. With special, control tokens
// written out in the text ("<|end|>") become those tokens; without, they are plain
// text, so what a user typed can never act as one. Characters outside the
// vocabulary become byte tokens. Time is O(n log n).
func (t *Tokenizer) Encode(text string, special bool) []int {
	var ids []int
	start := true // at the start, and after a special token, a space prefix is due
	for text != "" {
		before, found, after := t.specials.next(text, special)
		if before != "" {
			ids = t.encodePlain(ids, before, start)
			start = false
		}
		if found != nil {
			ids = append(ids, found.id)
			start = true
		}
		text = after
	}
	return ids
}

// encodePlain appends the tokens of text that holds no special token.
func (t *Tokenizer) encodePlain(ids []int, text string, start bool) []int {
	if start && t.vocab.AddSpacePrefix {
		text = " " + text
	}
	m := merger{tok: t, text: strings.ReplaceAll(text, " ", spaceMark)}
	m.split()
	m.run()
	for i := 0; i != none; i = m.parts[i].next {
		ids = t.appendPiece(ids, m.piece(i))
	}
	return ids
}

// appendPiece appends one merged piece, or the bytes of a character that is none.
func (t *Tokenizer) appendPiece(ids []int, piece string) []int {
	if id, ok := t.pieces[piece]; ok {
		return append(ids, id)
	}
	for i := range len(piece) {
		if id := t.bytes[piece[i]]; id >= 0 {
			ids = append(ids, id)
		}
	}
	return ids
}
