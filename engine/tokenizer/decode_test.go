package tokenizer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// byteIDs gives the byte tokens of a text.
func byteIDs(s string) []int {
	var ids []int
	for i := range len(s) {
		ids = append(ids, 3+int(s[i]))
	}
	return ids
}

func TestDecoder(t *testing.T) {
	tok := build(t, nil)
	abc := int(spm(tok).pieces["abc"])
	for _, c := range []struct {
		name  string
		ids   []int
		want  []string // one a token
		flush string
	}{
		{"pieces", []int{abc, int(spm(tok).pieces["▁a"])}, []string{"abc", " a"}, ""},
		{"control tokens are silent", []int{1, abc, 2, 0}, []string{"", "abc", "", ""}, ""},
		{"ids out of range are silent", []int{-1, 1 << 20}, []string{"", ""}, ""},
		{"a character over bytes", byteIDs("🙂"), []string{"", "", "", "🙂"}, ""},
		{"cut off at the end", byteIDs("🙂")[:3], []string{"", "", ""}, "\uFFFD"},
		{"cut off by a letter", append(byteIDs("🙂")[:3], abc), []string{"", "", "", "\uFFFDabc"}, ""},
		{"never a character", byteIDs("\xff\x80"), []string{"\uFFFD", "\uFFFD"}, ""},
		{"overlong form", byteIDs("\xc0\xaf"), []string{"\uFFFD", "\uFFFD"}, ""},
		{"a true replacement character", byteIDs("\uFFFD"), []string{"", "", "\uFFFD"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecoder(tok)
			for i, id := range c.ids {
				if got := d.Push(id); got != c.want[i] {
					t.Errorf("token %d: %q, want %q", i, got, c.want[i])
				}
			}
			if got := d.Flush(); got != c.flush {
				t.Errorf("flush: %q, want %q", got, c.flush)
			}
		})
	}
}

// TestDecoderWhole pushes random tokens: every piece is valid UTF-8, and valid text
// comes through unchanged however it is cut into bytes.
func TestDecoderWhole(t *testing.T) {
	tok := build(t, nil)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		d := NewDecoder(tok)
		for range 20 {
			if s := d.Push(rng.IntN(tok.Size())); !utf8.ValidString(s) {
				t.Fatalf("%q is not UTF-8", s)
			}
			if len(d.pending) > 3 {
				t.Fatalf("%d bytes held back", len(d.pending))
			}
		}
		if s := d.Flush(); !utf8.ValidString(s) {
			t.Fatalf("%q is not UTF-8", s)
		}
	}
	text := "naïve 日本語 🙂\n"
	var out strings.Builder
	d := NewDecoder(tok)
	for _, id := range byteIDs(text) {
		out.WriteString(d.Push(id))
	}
	if out.String() != text {
		t.Errorf("%q came out as %q", text, out.String())
	}
}
