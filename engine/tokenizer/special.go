package tokenizer

import (
	"slices"
	"strings"
)

// special is a token that is found in the text as a whole, before any merging.
type special struct {
	text   string
	id     int
	always bool // user defined: found even where control tokens are not wanted
}

// specials holds them by first byte, so that plain text costs one look a byte.
type specials struct {
	byFirst [256][]special
}

func (s *specials) add(text string, id int, always bool) {
	if text == "" {
		return
	}
	s.byFirst[text[0]] = append(s.byFirst[text[0]], special{text, id, always})
}

// sort puts the longest first: "<|end|>" wins over "<|".
func (s *specials) sort() {
	for _, list := range s.byFirst {
		slices.SortStableFunc(list, func(a, b special) int { return len(b.text) - len(a.text) })
	}
}

// next finds the first special token in text: the text before it, the token (nil
// when there is none) and the text after it.
func (s *specials) next(text string, control bool) (before string, found *special, after string) {
	for i := 0; i < len(text); i++ {
		list := s.byFirst[text[i]]
		for k := range list {
			if (control || list[k].always) && strings.HasPrefix(text[i:], list[k].text) {
				return text[:i], &list[k], text[i+len(list[k].text):]
			}
		}
	}
	return text, nil, ""
}
