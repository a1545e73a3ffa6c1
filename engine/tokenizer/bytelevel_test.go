package tokenizer

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// encodeBytes writes text in the alphabet of byte-level vocabularies.
func encodeBytes(text string) string {
	var out strings.Builder
	letters := newAlphabet()
	for i := range len(text) {
		out.WriteRune(rune(slices.Index(letters[:], int16(text[i]))))
	}
	return out.String()
}

// bytesOnly is a vocabulary of the 256 bytes, each with its value as id, and three special tokens.
func bytesOnly(pre string) Vocab {
	v := Vocab{Kind: ByteLevel, Pre: pre, BOS: -1, EOS: 256, EOT: -1, UNK: -1}
	for b := range 256 {
		v.Tokens, v.Types = append(v.Tokens, encodeBytes(string([]byte{byte(b)}))), append(v.Types, typeNormal)
	}
	v.Tokens = append(v.Tokens, "<|end|>", "<|start|>", "[tool]")
	v.Types = append(v.Types, typeControl, typeControl, typeUserDefined)
	return v
}

// train adds the n merges that join the most frequent neighbours of a text, one after
// another, as BPE vocabularies are made.
func train(v Vocab, text string, n int) Vocab {
	var words [][]string
	for p, _ := findPreTokenizer(v.Pre); text != ""; {
		size := p.stages[0](text)
		words = append(words, strings.Split(encodeBytes(text[:size]), ""))
		text = text[size:]
	}
	for range n {
		counts, best := map[[2]string]int{}, [2]string{}
		for _, w := range words {
			for i := range len(w) - 1 {
				p := [2]string{w[i], w[i+1]}
				if counts[p]++; counts[p] > counts[best] || counts[p] == counts[best] && p[0]+p[1] < best[0]+best[1] {
					best = p
				}
			}
		}
		if counts[best] == 0 {
			break
		}
		for k, w := range words {
			for i := 0; i+1 < len(w); i++ {
				if w[i] == best[0] && w[i+1] == best[1] {
					w = slices.Concat(w[:i], []string{best[0] + best[1]}, w[i+2:])
				}
			}
			words[k] = w
		}
		v.Merges = append(v.Merges, best[0]+" "+best[1])
		if !slices.Contains(v.Tokens, best[0]+best[1]) { // two ways may lead to one token
			v.Tokens, v.Types = append(v.Tokens, best[0]+best[1]), append(v.Types, typeNormal)
		}
	}
	return v
}

const lesson = "the queue is full, the queue is long: it's the prefill that holds the decode; they'll wait.\n" +
	"the cache is cold and the batch is small, 2048 tokens in 128 blocks of 16.\n\n\tKV cache, KV cache, über alles, naïve 日本語 日本\n"

func trained(t testing.TB, pre string, merges int) *Tokenizer {
	t.Helper()
	tok, err := New(train(bytesOnly(pre), lesson, merges))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestByteLevelEncode(t *testing.T) {
	v := bytesOnly("gpt-2")
	for _, m := range []string{"a b", "b c", "ab c", "Ġ a", "Ã ©", "x yz", "y z"} {
		if both := strings.Replace(m, " ", "", 1); !slices.Contains(v.Tokens, both) {
			v.Tokens, v.Types = append(v.Tokens, both), append(v.Types, typeNormal)
		}
		v.Merges = append(v.Merges, m)
	}
	v.Tokens, v.Types = append(v.Tokens, "whole", "ĠĠ"), append(v.Types, typeNormal, typeNormal)
	for _, c := range []struct {
		pre, text string
		special   bool
		want      string
	}{
		{"gpt-2", "", true, ""},
		{"gpt-2", "abc", true, "abc"},
		{"gpt-2", "bca", true, "bc|a"},
		{"gpt-2", "xyz", true, "xyz"}, // its merge has the lower rank, but yz must come first
		{"gpt-2", "b ab", true, "b|Ġ|ab"},
		{"gpt-2", "a b", true, "a|Ġ|b"},
		{"gpt-2", "é", true, "Ã©"},
		{"gpt-2", "a\xffb", true, "a|ÿ|b"},
		{"gpt-2", "a<|end|>b", true, "a|<|end|>|b"},
		{"gpt-2", "a<|end|>", false, "a|<|||e|n|d|||>"},
		{"gpt-2", "ab[tool]c", false, "ab|[tool]|c"},
		{"gpt-2", "whole", true, "w|h|o|l|e"},
		{"smaug-bpe", "whole", true, "w|h|o|l|e"},
		{"llama-bpe", "whole", true, "whole"}, // no merges lead to it
		{"llama-bpe", "whole whole", true, "whole|Ġ|w|h|o|l|e"},
		{"llama-bpe", "   x", true, "ĠĠ|Ġ|x"},
		{"gpt-2", "   x", true, "Ġ|Ġ|Ġ|x"},
	} {
		v.Pre = c.pre
		tok, err := New(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := pieces(tok, tok.Encode(c.text, c.special)); got != c.want {
			t.Errorf("%s: Encode(%q) = %s, want %s", c.pre, c.text, got, c.want)
		}
	}
}

// slowWord is the rule itself, in quadratic time: join the pair with the best rank,
// leftmost first, until none joins.
func slowWord(v Vocab, word string) []int {
	parts := strings.Split(encodeBytes(word), "")
	for {
		best, rank := none, math.MaxInt
		for i := range len(parts) - 1 {
			if r := slices.Index(v.Merges, parts[i]+" "+parts[i+1]); r >= 0 && r < rank {
				best, rank = i, r
			}
		}
		if best == none {
			break
		}
		parts[best] += parts[best+1]
		parts = slices.Delete(parts, best+1, best+2)
	}
	var ids []int
	for _, p := range parts {
		ids = append(ids, slices.Index(v.Tokens, p))
	}
	return ids
}

// TestByteLevelMergeOrder holds both ways of merging against the rule, on words of
// all lengths in which many merges compete.
func TestByteLevelMergeOrder(t *testing.T) {
	v := train(bytesOnly("gpt-2"), strings.Repeat("aabaabbabcabacbbcaabcb", 5), 40)
	tok, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		word := make([]byte, 1+rng.IntN(3*fewParts))
		for i := range word {
			word[i] = "aabbc"[rng.IntN(5)]
		}
		if got, want := tok.Encode(string(word), false), slowWord(v, string(word)); !slices.Equal(got, want) {
			t.Fatalf("%q: %s, want %s", word, pieces(tok, got), pieces(tok, want))
		}
	}
}

// TestTrained encodes the text that a vocabulary was made from, and others: fewer
// tokens than bytes, and each text comes back.
func TestTrained(t *testing.T) {
	for _, p := range preTokenizers() {
		tok := trained(t, p.names[0], 150)
		ids := tok.Encode(lesson, false)
		if len(ids) > len(lesson)*4/5 {
			t.Errorf("%s: %d tokens for %d bytes", p.names[0], len(ids), len(lesson))
		}
		for _, text := range []string{lesson, "the decode", " \n\t ", "日本 nai\u0308ve 🙂\u200d🙂", "\x00\x7f"} {
			if back := tok.Decode(tok.Encode(text, false)); back != text {
				t.Errorf("%s: %q came back as %q", p.names[0], text, back)
			}
		}
	}
}

// TestLongWord encodes texts that are one word, two of 1 MB, which quadratic time
// would not survive.
func TestLongWord(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte('a' + rng.IntN(26))
	}
	pre, few, sp := trained(t, "llama-bpe", 60), trained(t, "default", 60), build(t, nil)
	for _, c := range []struct {
		name, text string
		toks       []*Tokenizer
	}{
		{"one letter", strings.Repeat("a", 1<<20), []*Tokenizer{pre}},
		{"random", string(random), []*Tokenizer{pre}},
		{"random, all kinds", string(random[:1<<16]), []*Tokenizer{few, sp}},
		{"one letter, all kinds", strings.Repeat("a", 1<<16), []*Tokenizer{few, sp}},
		{"spaces", strings.Repeat(" ", 1<<16), []*Tokenizer{pre, few, sp}},
		{"digits", strings.Repeat("7", 1<<16), []*Tokenizer{pre, few, sp}},
		{"line ends", strings.Repeat("\n \r", 1<<15), []*Tokenizer{pre, few, sp}},
		{"signs", strings.Repeat("!<", 1<<15), []*Tokenizer{pre, few, sp}},
	} {
		for _, tok := range c.toks {
			if back := tok.Decode(tok.Encode(c.text, false)); back != c.text {
				t.Errorf("%s: the text does not come back", c.name)
			}
		}
	}
}

func TestByteLevelDecoder(t *testing.T) {
	tok := trained(t, "gpt-2", 150)
	d := NewDecoder(tok)
	var got []string
	for _, id := range append([]int{256, 258, 'a', 257, 0xF0, 0x9F, 0x99}, 0x82, 0xE6, 'b', -1, tok.Size()) {
		got = append(got, d.Push(id))
	}
	want := []string{"", "[tool]", "a", "", "", "", "", "🙂", "", "\uFFFDb", "", ""}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if d.Push(0xE6); d.Flush() != "\uFFFD" {
		t.Error("an unfinished character at the end is lost")
	}
}

func TestStops(t *testing.T) {
	v := bytesOnly("gpt-2")
	v.Stops = []int{257}
	tok, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	for id := -1; id <= tok.Size(); id++ {
		if want := id == 256 || id == 257; tok.IsStop(id) != want {
			t.Errorf("IsStop(%d) = %v", id, !want)
		}
	}
}

func TestByteLevelRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Vocab)
		want   string
	}{
		{"pre-tokenizer", func(v *Vocab) { v.Pre = "tekken" }, `pre-tokenizer "tekken" is not known (known are gpt-2, llama-bpe,`},
		{"long name", func(v *Vocab) { v.Pre = strings.Repeat("x", 1<<20) }, "xxx…"},
		{"twice", func(v *Vocab) { v.Tokens[257] = v.Tokens[256] }, "tokens 256 and 257 are both"},
		{"byte missing", func(v *Vocab) { v.Tokens['A'] = "long" }, "no token for the byte 0x41"},
		{"byte token", func(v *Vocab) { v.Types[65] = typeByte }, "byte token"},
		{"no space", func(v *Vocab) { v.Merges = []string{"ab"} }, "not two tokens"},
		{"nothing", func(v *Vocab) { v.Merges = []string{""} }, "not two tokens"},
		{"nothing right", func(v *Vocab) { v.Merges = []string{"a "} }, "not two tokens"},
		{"no such side", func(v *Vocab) { v.Merges = []string{"a zz"} }, "merge 0"},
		{"no such token", func(v *Vocab) { v.Merges = []string{"a b"} }, "not in the vocabulary"},
		{"long special token", func(v *Vocab) { v.Tokens[257] = strings.Repeat("<", 2000) }, "more than 1024"},
		{"stop beyond", func(v *Vocab) { v.Stops = []int{len(v.Tokens)} }, "no stop token"},
	} {
		v := bytesOnly("gpt-2")
		c.change(&v)
		_, err := New(v)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// TestOddVocabularies have what no training makes: merges that come twice, that lead
// in circles, or to control tokens; thousands of special tokens.
func TestOddVocabularies(t *testing.T) {
	v := bytesOnly("gpt-2")
	v.Tokens, v.Types = append(v.Tokens, "ab", "ba", "aba", "hi"), append(v.Types, typeNormal, typeNormal, typeNormal, typeControl)
	v.Merges = []string{"ab a", "a ba", "b a", "a b", "a b", "a ba", "h i"}
	prefix := ""
	for range 1000 {
		prefix += "<"
		v.Tokens, v.Types = append(v.Tokens, prefix+">"), append(v.Types, typeControl)
	}
	tok, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"ab": "ab", "aba": "aba", "abab": "aba|b", "hi": "h|i"} {
		if got := pieces(tok, tok.Encode(text, false)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := pieces(tok, tok.Encode("a<<<>", true)); got != "a|<<<>" {
		t.Errorf("%s", got)
	}
	long := strings.Repeat("<", 1<<14)
	if n := len(tok.Encode(long, true)); n != len(long) {
		t.Errorf("%d tokens for %d bytes", n, len(long))
	}
}

// FuzzByteLevel: whatever the text, it comes back, and no special token is made of it.
func FuzzByteLevel(f *testing.F) {
	var toks []*Tokenizer
	for _, p := range preTokenizers() {
		toks = append(toks, trained(f, p.names[0], 100))
	}
	for i, s := range []string{"", "it's the queue", "<|end|>", "1234567 \r\n  x", "\xff\xc0é\u0301", "  \u3000!", "$5+x"} {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		if len(text) > 5000 {
			return
		}
		tok := toks[int(which)%len(toks)]
		tool := strings.Count(text, "[tool]")
		var raw []byte
		for _, id := range tok.Encode(text, false) {
			if id == 258 {
				tool--
			} else if id >= 256 && id < 259 {
				t.Fatalf("%q became %q", text, tok.Token(id))
			}
			raw = tok.appendBytes(raw, id)
		}
		if string(raw) != text || tool != 0 {
			t.Fatalf("%q came back as %q, %d tools missing", text, raw, tool)
		}
		if utf8.ValidString(text) && tok.Decode(tok.Encode(text, false)) != text {
			t.Fatalf("%q does not come back", text)
		}
		for _, id := range tok.Encode(text, true) {
			if id < 0 || id >= tok.Size() {
				t.Fatalf("token %d", id)
			}
		}
	})
}

// FuzzVocab builds tokenizers of nonsense: an error, or one that works in bounds and
// makes no control token of plain text.
func FuzzVocab(f *testing.F) {
	byteBase, charBase := bytesOnly("llama-bpe"), small()
	f.Add("ab\nba\naba", "a b\nb a\nab a", "\x01\x01\x03", "abab", true)
	f.Add("Ġa\n<x>", "Ġ a", "\x01\x04", " a<x>", false)
	f.Add("", " ", "", "x", true)
	f.Fuzz(func(t *testing.T, tokens, merges, types, text string, bytes bool) {
		if len(tokens)+len(merges)+len(text) > 3000 {
			return
		}
		v := byteBase
		if !bytes {
			v = charBase
			v.AddSpacePrefix = len(tokens)%2 == 0
		}
		v.Tokens, v.Types, v.Scores = slices.Clone(v.Tokens), slices.Clone(v.Types), slices.Clone(v.Scores)
		for i, s := range strings.Split(tokens, "\n") {
			typ := int32(typeNormal)
			if i < len(types) {
				typ = int32(types[i])
			}
			v.Tokens, v.Types = append(v.Tokens, s), append(v.Types, typ)
			if !bytes {
				v.Scores = append(v.Scores, float32(len(merges)%7))
			}
		}
		v.Merges = strings.Split(merges, "\n")
		tok, err := New(v)
		if err != nil {
			return
		}
		for _, id := range tok.Encode(text, false) {
			if v.Types[id] == typeControl || v.Types[id] == typeUnknown {
				t.Fatalf("%q became %q", text, tok.Token(id))
			}
		}
		tok.Decode(tok.Encode(text, true))
	})
}
