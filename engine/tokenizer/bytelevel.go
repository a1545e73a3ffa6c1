package tokenizer

import (
	"fmt"
	"strings"
)

// byteLevel joins the bytes of each word by the rank of the merges.
type byteLevel struct {
	pre    preTokenizer
	text   []string   // what each token stands for; nothing for control and unused ones
	bytes  [256]int32 // token of each byte; none where the vocabulary lacks it
	merges map[uint64]joined
	whole  map[string]int32 // tokens by what they stand for; only with pre.wholeWords
}

// joined is what a pair of tokens becomes. Ranks are exact in a float32 up to 2^24.
type joined struct {
	id   int32
	rank float32
}

const maxMerges = 1 << 24

func newByteLevel(v Vocab) (*byteLevel, error) {
	pre, err := findPreTokenizer(v.Pre)
	if err != nil {
		return nil, err
	}
	b := &byteLevel{pre: pre, text: make([]string, len(v.Tokens)), merges: make(map[uint64]joined, len(v.Merges))}
	for i := range b.bytes {
		b.bytes[i] = none
	}
	if pre.wholeWords {
		b.whole = make(map[string]int32, len(v.Tokens))
	}
	ids, err := b.index(v)
	if err != nil {
		return nil, err
	}
	for i, id := range b.bytes {
		if id == none && inUTF8(byte(i)) {
			return nil, fmt.Errorf("vocabulary has no token for the byte 0x%02X", i)
		}
	}
	if err := b.rank(v, ids); err != nil {
		return nil, err
	}
	return b, nil
}

// inUTF8 is whether a byte occurs in UTF-8 text. Those that do not may be missing
// from a vocabulary, and vanish from text that is not UTF-8.
func inUTF8(b byte) bool { return b < 0xC0 || b > 0xC1 && b < 0xF5 }

// index decodes the normal tokens and returns all ids by text.
func (b *byteLevel) index(v Vocab) (map[string]int32, error) {
	ids, letters := make(map[string]int32, len(v.Tokens)), newAlphabet()
	for id, text := range v.Tokens {
		if v.Types[id] == typeByte {
			return nil, fmt.Errorf("token %d is a byte token, which a byte-level vocabulary does not have", id)
		}
		if text == "" {
			continue
		}
		if first, twice := ids[text]; twice {
			return nil, fmt.Errorf("tokens %d and %d are both %q", first, id, cut(text, 64))
		}
		ids[text] = int32(id)
		if v.Types[id] == typeUserDefined {
			b.text[id] = text
		}
		if v.Types[id] != typeNormal {
			continue
		}
		raw, ok := letters.decode(text)
		if b.text[id] = raw; !ok {
			continue // no text becomes this token
		}
		if len(raw) == 1 {
			b.bytes[raw[0]] = int32(id)
		}
		if b.whole != nil {
			b.whole[raw] = int32(id)
		}
	}
	return ids, nil
}

// rank reads the merges. Those that involve a token which plain text never becomes
// are left out; of a pair that comes twice the first one counts.
func (b *byteLevel) rank(v Vocab, ids map[string]int32) error {
	if len(v.Merges) > maxMerges {
		return fmt.Errorf("vocabulary has %d merges, more than %d", len(v.Merges), maxMerges)
	}
	var both []byte
	for rank, m := range v.Merges {
		at := strings.IndexByte(m[min(1, len(m)):], ' ') + 1 // the first character may be a space
		if at < 1 || at == len(m)-1 {
			return fmt.Errorf("merge %d is %q, not two tokens", rank, cut(m, 64))
		}
		both = append(append(both[:0], m[:at]...), m[at+1:]...)
		left, ok1 := ids[m[:at]]
		right, ok2 := ids[m[at+1:]]
		id, ok3 := ids[string(both)]
		if !ok1 || !ok2 || !ok3 {
			return fmt.Errorf("merge %d, %q, names a token that is not in the vocabulary", rank, cut(m, 64))
		}
		if v.Types[left] != typeNormal || v.Types[right] != typeNormal || v.Types[id] != typeNormal {
			continue
		}
		if _, twice := b.merges[pair(left, right)]; !twice {
			b.merges[pair(left, right)] = joined{id, float32(rank)}
		}
	}
	return nil
}

func pair(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

func (b *byteLevel) encode(ids []int, text string, _ bool) []int {
	return b.split(&merger{rule: b}, ids, text, b.pre.stages)
}

// split cuts text stage by stage and appends the tokens of the words.
func (b *byteLevel) split(m *merger, ids []int, text string, stages []cutter) []int {
	if len(stages) == 0 {
		return b.word(m, ids, text)
	}
	for text != "" {
		n := stages[0](text)
		ids = b.split(m, ids, text[:n], stages[1:])
		text = text[n:]
	}
	return ids
}

// word appends the tokens of one word.
func (b *byteLevel) word(m *merger, ids []int, word string) []int {
	if id, ok := b.whole[word]; ok {
		return append(ids, int(id))
	}
	m.text = word
	m.begin(len(word))
	for i := range len(word) {
		m.add(i, i+1, b.bytes[word[i]])
	}
	m.run()
	for i := range m.parts {
		if id := m.parts[i].id; id >= 0 {
			ids = append(ids, int(id))
		}
	}
	return ids
}

func (b *byteLevel) join(_ string, left, right *part) (id int32, score float32, ok bool) {
	j, ok := b.merges[pair(left.id, right.id)]
	return j.id, -j.rank, ok
}

func (b *byteLevel) appendText(out []byte, id int) []byte { return append(out, b.text[id]...) }

// alphabet maps the characters that byte-level vocabularies write for bytes.
type alphabet [256 + 68]int16 // by character; -1: stands for no byte

// newAlphabet is GPT-2's: printable characters of Latin-1 stand for themselves, the
// other bytes, in order, are the characters from U+0100 on.
func newAlphabet() *alphabet {
	var a alphabet
	for i := range a {
		a[i] = -1
	}
	next := 256
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xA1 && b != 0xAD {
			a[b] = int16(b)
			continue
		}
		a[next] = int16(b)
		next++
	}
	return &a
}

// decode is the bytes that a token's text stands for. Text with a character outside
// the alphabet stands for itself.
func (a *alphabet) decode(text string) (raw string, ok bool) {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if int(r) >= len(a) || a[r] < 0 {
			return text, false
		}
		out = append(out, byte(a[r]))
	}
	return string(out), true
}
