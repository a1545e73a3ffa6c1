package tokenizer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// small is a vocabulary with a few merges, all bytes and three control tokens.
func small() Vocab {
	v := Vocab{BOS: 1, EOS: 2, EOT: -1, UNK: 0, AddBOS: true}
	add := func(text string, score float32, typ int32) int {
		v.Tokens, v.Scores, v.Types = append(v.Tokens, text), append(v.Scores, score), append(v.Types, typ)
		return len(v.Tokens) - 1
	}
	add("<unk>", 0, typeUnknown)
	add("<s>", 0, typeControl)
	add("</s>", 0, typeControl)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), 0, typeByte)
	}
	for i, p := range []string{"ab", "bc", "abc", spaceMark + "a", "aa", "aaaa", "é", "▁", "a", "b", "c", "<", "s", ">"} {
		add(p, float32(-i), typeNormal)
	}
	v.EOT = add("<end>", 0, typeControl)
	add("<en", 0, typeControl)
	add("[tool]", 0, typeUserDefined)
	return v
}

func build(t testing.TB, change func(*Vocab)) *Tokenizer {
	t.Helper()
	v := small()
	if change != nil {
		change(&v)
	}
	tok, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// spm is the scheme of a SentencePiece vocabulary.
func spm(t *Tokenizer) *sentencePiece { return t.scheme.(*sentencePiece) }

// pieces shows ids as text.
func pieces(t *Tokenizer, ids []int) string {
	var list []string
	for _, id := range ids {
		list = append(list, t.Token(id))
	}
	return strings.Join(list, "|")
}

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		name, text string
		special    bool
		prefix     bool
		want       string
	}{
		{"nothing", "", true, true, ""},
		{"best score first", "abc", true, false, "abc"},
		{"leftmost among equals", "aaa", true, false, "aa|a"},
		{"merges of merges", "aaaaa", true, false, "aaaa|a"},
		{"space is a piece", " a", true, false, "▁a"},
		{"space prefix", "a", true, true, "▁a"},
		{"no space prefix", "a", true, false, "a"},
		{"prefix after control", "a<end>a", true, true, "▁a|<end>|▁a"},
		{"control token", "<s>ab", true, false, "<s>|ab"},
		{"control text", "<s>ab", false, false, "<|s|>|ab"},
		{"longest control token", "<end><en", true, false, "<end>|<en"},
		{"user defined always", "a[tool]b", false, false, "a|[tool]|b"},
		{"byte fallback", "x\n", true, false, "<0x78>|<0x0A>"},
		{"known character", "é", true, false, "é"},
		{"unknown character", "ü", true, false, "<0xC3>|<0xBC>"},
		{"invalid UTF-8", "a\xffb", true, false, "a|<0xFF>|b"},
		{"byte token text stays text", "<0x41>", false, false, "<|<0x30>|<0x78>|<0x34>|<0x31>|>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tok := build(t, func(v *Vocab) { v.AddSpacePrefix = c.prefix })
			if got := pieces(tok, tok.Encode(c.text, c.special)); got != c.want {
				t.Errorf("Encode(%q) = %s, want %s", c.text, got, c.want)
			}
		})
	}
}

// TestUnknown has no byte tokens: what is not in the vocabulary becomes UNK, or
// nothing where there is none.
func TestUnknown(t *testing.T) {
	v := Vocab{Tokens: []string{"<unk>", "a"}, Scores: []float32{0, 0}, Types: []int32{typeUnknown, typeNormal}, BOS: -1, EOS: -1, EOT: -1}
	for unk, want := range map[int][]int{0: {1, 0}, -1: {1}} {
		v.UNK = unk
		tok, err := New(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode("ax", true); !slices.Equal(got, want) {
			t.Errorf("UNK %d: %v, want %v", unk, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Vocab)
		want   string
	}{
		{"empty", func(v *Vocab) { *v = Vocab{} }, "no tokens"},
		{"scores short", func(v *Vocab) { v.Scores = v.Scores[1:] }, "scores"},
		{"types short", func(v *Vocab) { v.Types = nil }, "types"},
		{"BOS beyond", func(v *Vocab) { v.BOS = len(v.Tokens) }, "no BOS token"},
		{"EOT below", func(v *Vocab) { v.EOT = -2 }, "no EOT token"},
		{"BOS wanted, none named", func(v *Vocab) { v.BOS = -1 }, "BOS"},
		{"NaN score", func(v *Vocab) { v.Scores[300%len(v.Scores)] = float32(math.NaN()) }, "not a number"},
		{"twice", func(v *Vocab) { v.Tokens[260] = v.Tokens[259] }, "both"},
		{"bad byte", func(v *Vocab) { v.Tokens[3] = "<0xG0>" }, "byte token"},
		{"bad type", func(v *Vocab) { v.Types[5] = 9 }, "unknown type 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := small()
			c.change(&v)
			_, err := New(v)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestStopAndBOS(t *testing.T) {
	tok := build(t, nil)
	for id := -1; id <= tok.Size(); id++ {
		want := id == 2 || tok.Token(id) == "<end>"
		if tok.IsStop(id) != want {
			t.Errorf("IsStop(%d %q) = %v", id, tok.Token(id), !want)
		}
	}
	if id, add := tok.BOS(); id != 1 || !add {
		t.Errorf("BOS() = %d, %v", id, add)
	}
	without := build(t, func(v *Vocab) { v.EOS, v.EOT = -1, -1 })
	if without.IsStop(-1) {
		t.Error("a vocabulary without stop tokens stops at -1")
	}
}
