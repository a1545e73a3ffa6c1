package tokenizer

// Bytes is what a token stands for in a text: a part of a word, at times a part of
// a character. A control token stands for nothing; of it the bytes are its name.
// An id out of range has none.
func (t *Tokenizer) Bytes(id int) []byte {
	if b := t.appendBytes(nil, id); len(b) > 0 {
		return b
	}
	return []byte(t.Token(id))
}
