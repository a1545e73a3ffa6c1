package tokenizer

// Encode turns text into token ids, without BOS. With special, control tokens
// written out in the text ("<|end|>") become those tokens; without, they are plain
// text, so what a user typed can never act as one. Characters outside the
// vocabulary become byte tokens. Time is O(n log n).
func (t *Tokenizer) Encode(text string, special bool) []int { return t.encode(text, special, true) }

// Continue encodes text that follows other text of a prompt: control tokens are
// plain text as in Encode without special, and no space prefix is put before it.
func (t *Tokenizer) Continue(text string) []int { return t.encode(text, false, false) }

// encode cuts text at the special tokens. At the start, and after a special token,
// a space prefix is due.
func (t *Tokenizer) encode(text string, special, start bool) []int {
	var ids []int
	wanted := &t.always
	if special {
		wanted = &t.all
	}
	for text != "" {
		before, found, after := wanted.next(text)
		if before != "" {
			ids = t.scheme.encode(ids, before, start)
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
