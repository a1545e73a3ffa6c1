package engine

import "strings"

// textFilter looks for stop strings in an answer and holds back what may be the
// beginning of one, or the newline before the end of a chat answer.
type textFilter struct {
	stops []string // none is empty
	trim  bool     // newlines at the end of an answer are no part of it
	held  string
}

// push takes the next piece of text and returns what is sure to belong to the
// answer. stopped means that a stop string was found: the answer ends before it.
func (f *textFilter) push(text string) (sure string, stopped bool) {
	text = f.held + text
	if end := f.find(text); end >= 0 {
		f.held = ""
		return text[:end], true
	}
	keep := f.undecided(text)
	f.held = text[keep:]
	return text[:keep], false
}

// flush returns what is held back when the answer is over. complete means that the
// model has ended it; else it was cut off.
func (f *textFilter) flush(complete bool) string {
	rest := f.held
	f.held = ""
	if f.trim && complete {
		rest = strings.TrimRight(rest, "\n")
	}
	return rest
}

// find is the position of the first stop string, -1 if there is none.
func (f *textFilter) find(text string) int {
	first := -1
	for _, stop := range f.stops {
		if i := strings.Index(text, stop); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// undecided is where the end of text begins that may still become a stop string
// or the end of the answer.
func (f *textFilter) undecided(text string) int {
	at := len(text)
	if f.trim {
		at = len(strings.TrimRight(text, "\n"))
	}
	for _, stop := range f.stops {
		for n := min(len(stop)-1, len(text)); n > 0; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				at = min(at, len(text)-n)
				break
			}
		}
	}
	return at
}
