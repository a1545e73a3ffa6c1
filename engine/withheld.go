package engine

import "unicode/utf8"

// placed are the log-probabilities of a token and where its text begins in the answer.
type placed struct {
	Logprobs
	bytes, runes int
}

// withheld keeps the log-probabilities of tokens until it is sure that their text
// is part of the answer: a character may need more tokens, and what may be a stop
// string is held back. A token belongs to the answer when it begins before the
// answer's end.
type withheld struct {
	waiting      []placed
	bytes, runes int // of the text that all tokens have become so far
	sure         int // bytes of it that are part of the answer
}

// token notes a token that begins where the text ends now; nil: nothing is wanted of it.
func (w *withheld) token(l *Logprobs) {
	if l != nil {
		w.waiting = append(w.waiting, placed{*l, w.bytes, w.runes})
	}
}

// text notes what a token has become.
func (w *withheld) text(s string) {
	w.bytes += len(s)
	w.runes += utf8.RuneCountInString(s)
}

// release returns those of the tokens that the text now given out shows, in order;
// all gives out the rest, too.
func (w *withheld) release(text string, all bool) (out []placed) {
	w.sure += len(text)
	n := 0
	for n < len(w.waiting) && (all || w.waiting[n].bytes < w.sure) {
		n++
	}
	out, w.waiting = w.waiting[:n:n], w.waiting[n:]
	return out
}
