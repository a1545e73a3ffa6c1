package tokenizer

import (
	"slices"
	"sort"
	"strings"
)

// special is a token that is found in the text as a whole, before any merging.
type special struct {
	text string
	id   int
}

// specials holds them sorted by text. Those that begin with byte b are
// list[first[b]:first[b+1]], so that plain text costs one look a byte.
type specials struct {
	list  []special
	first [257]int
}

func (s *specials) add(text string, id int) {
	if text != "" {
		s.list = append(s.list, special{text, id})
	}
}

// sort makes the list ready; of several with one text the first one counts.
func (s *specials) sort() {
	slices.SortStableFunc(s.list, func(a, b special) int { return strings.Compare(a.text, b.text) })
	s.list = slices.CompactFunc(s.list, func(a, b special) bool { return a.text == b.text })
	for _, e := range s.list {
		s.first[int(e.text[0])+1]++
	}
	for b := range 256 {
		s.first[b+1] += s.first[b]
	}
}

// next finds the first special token in text: the text before it, the token (nil
// when there is none) and the text after it.
func (s *specials) next(text string) (before string, found *special, after string) {
	for i := 0; i < len(text); i++ {
		if s.first[text[i]] == s.first[int(text[i])+1] {
			continue
		}
		if found := s.at(text[i:]); found != nil {
			return text[:i], found, text[i+len(found.text):]
		}
	}
	return text, nil, ""
}

// at is the longest special token that text begins with: "<|end|>" wins over "<|".
// It narrows the list byte by byte, so that many of them cost little.
func (s *specials) at(text string) (best *special) {
	list := s.list[s.first[text[0]]:s.first[int(text[0])+1]]
	for n := 1; len(list) > 0; n++ { // all in list begin with text[:n]
		if len(list[0].text) == n {
			best, list = &list[0], list[1:]
		}
		if n == len(text) {
			break
		}
		list = narrow(list, n, text[n])
	}
	return best
}

// narrow is the part of a sorted list whose texts, equal up to byte n, go on with c.
func narrow(list []special, n int, c byte) []special {
	if len(list) == 0 || list[0].text[n] > c || list[len(list)-1].text[n] < c {
		return nil
	}
	if list[0].text[n] == list[len(list)-1].text[n] {
		return list
	}
	from := sort.Search(len(list), func(i int) bool { return list[i].text[n] >= c })
	to := sort.Search(len(list), func(i int) bool { return list[i].text[n] > c })
	return list[from:to]
}
