package engine

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"llmtop/engine/tokenizer"
)

// plainBytes has a token for each byte, and one that stands for nothing.
func plainBytes(t interface{ Fatal(...any) }) (tok *tokenizer.Tokenizer, control int) {
	const digits = "0123456789ABCDEF"
	v := tokenizer.Vocab{BOS: -1, EOS: -1, EOT: -1, UNK: 256}
	for b := range 256 {
		v.Tokens, v.Types = append(v.Tokens, "<0x"+string(digits[b>>4])+string(digits[b&15])+">"), append(v.Types, 6)
	}
	v.Tokens, v.Types = append(v.Tokens, "<unk>"), append(v.Types, 2)
	v.Scores = make([]float32, len(v.Tokens))
	tok, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok, 256
}

// However characters and stop strings cut the tokens, the log-probabilities that go
// out are those of the tokens that begin before the end of the answer, in order, each
// with the text in which it begins, and at the offset where it does.
func TestLogprobsFollowText(t *testing.T) {
	tok, control := plainBytes(t)
	rapid.Check(t, func(t *rapid.T) {
		letters := []string{"a", "b", "\n", "é", "€", "😀", "\xff", "\xe2\x82"}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 1, 20).Draw(t, "text"), "")
		stops := rapid.SliceOfN(rapid.SampledFrom([]string{"ab", "ba", "\nb", "é€", "aaa"}), 0, 2).Draw(t, "stops")
		a := &answer{decoder: tokenizer.NewDecoder(tok), filter: textFilter{stops: stops, trim: rapid.Bool().Draw(t, "trim")}}
		end := rapid.SampledFrom([]Finish{FinishStop, FinishLength}).Draw(t, "end")

		var ids []int
		for _, b := range []byte(text) {
			if rapid.IntRange(0, 9).Draw(t, "control") == 0 {
				ids = append(ids, control)
			}
			ids = append(ids, int(b))
		}
		var answered strings.Builder
		var got []placed
		var finish Finish
		for i, id := range ids {
			ev := event{token: id, logprobs: &Logprobs{Sampled: TokenLogprob{ID: id, Logprob: float32(-i)}}}
			if i == len(ids)-1 && end == FinishLength {
				ev.finish = end
			}
			p := a.piece(ev)
			answered.WriteString(p.text)
			for _, l := range p.logprobs {
				if end != FinishLength && l.bytes >= answered.Len() {
					t.Fatalf("token %g at byte %d goes out with %q", -l.Sampled.Logprob, l.bytes, answered.String())
				}
			}
			got = append(got, p.logprobs...)
			if finish = p.finish; finish != "" {
				break
			}
		}
		if finish == "" { // the token that ends the answer is no part of it
			p := a.piece(event{token: 0, finish: FinishStop, logprobs: &Logprobs{}})
			answered.WriteString(p.text)
			got, finish = append(got, p.logprobs...), p.finish
		}

		for i, l := range got {
			if l.Sampled.ID != ids[i] || l.Sampled.Logprob != float32(-i) {
				t.Fatalf("position %d: token %d, want %d", i, l.Sampled.ID, ids[i])
			}
			begins := decoded(tok, ids[:i])
			if l.bytes != len(begins) || l.runes != utf8.RuneCountInString(begins) {
				t.Fatalf("token %d begins at byte %d, rune %d; want %d of %q", i, l.bytes, l.runes, len(begins), begins)
			}
		}
		n := 0
		for n < len(ids) && (finish == FinishLength || len(decoded(tok, ids[:n])) < answered.Len()) {
			n++
		}
		if len(got) != n {
			t.Fatalf("%d tokens for the answer %q of %q, want %d", len(got), answered.String(), text, n)
		}
	})
}

// decoded is the text that is complete after these tokens.
func decoded(tok *tokenizer.Tokenizer, ids []int) string {
	d := tokenizer.NewDecoder(tok)
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(d.Push(id))
	}
	return b.String()
}
