package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// slow is the rule itself, in quadratic time: join the pair with the best score,
// leftmost first, until none joins.
func slow(tok *Tokenizer, text string) []int {
	var parts []string
	for rest := strings.ReplaceAll(text, " ", spaceMark); rest != ""; {
		_, n := utf8.DecodeRuneInString(rest)
		parts, rest = append(parts, rest[:n]), rest[n:]
	}
	for {
		best, score := none, float32(0)
		for i := range len(parts) - 1 {
			id, ok := spm(tok).pieces[parts[i]+parts[i+1]]
			if ok && (best == none || tok.vocab.Scores[id] > score) {
				best, score = i, tok.vocab.Scores[id]
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
		ids = spm(tok).appendPiece(ids, p)
	}
	return ids
}

// TestMergeOrder holds the heap against the rule on random texts over an alphabet
// where many merges compete, some with equal scores.
func TestMergeOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", "c", " ", "é", "x", "\xff"}
	for round := range 300 {
		tok := build(t, func(v *Vocab) {
			if round%2 == 0 {
				for i := range v.Scores {
					v.Scores[i] = float32(rng.IntN(3))
				}
			}
			if round%3 == 0 { // a piece across words
				v.Tokens, v.Types, v.Scores = append(v.Tokens, "c"+spaceMark), append(v.Types, typeNormal), append(v.Scores, 1)
			}
		})
		if spm(tok).words != (round%3 != 0) {
			t.Fatalf("round %d: words %v", round, spm(tok).words)
		}
		var text strings.Builder
		for range rng.IntN(4 * fewParts) {
			text.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		got, want := tok.Encode(text.String(), false), slow(tok, text.String())
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %s, want %s", text.String(), pieces(tok, got), pieces(tok, want))
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "abc aab", "<s>a<end>", "é\xff\x80", "▁▁ "} {
		f.Add(s)
	}
	plain := build(f, nil)
	prefixed := build(f, func(v *Vocab) { v.AddSpacePrefix = true })
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		for _, id := range plain.Encode(text, true) {
			if id < 0 || id >= plain.Size() {
				t.Fatalf("token %d", id)
			}
		}
		for _, id := range plain.Encode(text, false) {
			if typ := plain.vocab.Types[id]; typ == typeControl || typ == typeUnknown {
				t.Fatalf("plain text became %q", plain.Token(id))
			}
		}
		if !utf8.ValidString(text) || strings.Contains(text, spaceMark) {
			return
		}
		for _, tok := range []*Tokenizer{plain, prefixed} {
			if back := tok.Decode(tok.Encode(text, false)); back != text && !strings.Contains(text, "[tool]") {
				t.Fatalf("%q came back as %q", text, back)
			}
		}
	})
}
