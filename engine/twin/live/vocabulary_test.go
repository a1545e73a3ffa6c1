package live

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVocabularyRoundTrips(t *testing.T) {
	v := Vocabulary{new(front)}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		ids := v.Encode(text, false)
		var raw []byte
		var shown strings.Builder
		d := v.NewDecoder()
		for _, id := range ids {
			if id < shortest || id >= vocabSize || v.IsStop(id) {
				t.Fatalf("token %d", id)
			}
			raw = append(raw, v.Bytes(id)...)
			shown.WriteString(d.Push(id))
		}
		if string(raw) != text {
			t.Errorf("%q became %q", text, raw)
		}
		if shown.String()+d.Flush() != strings.ToValidUTF8(text, "�") && !strings.Contains(text, "�") && len(text) == len(strings.ToValidUTF8(text, "")) {
			t.Errorf("%q is shown as %q", text, shown.String())
		}
	})
	if n := len(v.Encode(strings.Repeat("four bytes a token, about. ", 400), false)); n < 2600 || n > 2800 {
		t.Errorf("10800 bytes are %d tokens", n)
	}
	if got := v.Encode("a<|eot_id|>b", true); len(got) != 3 || got[1] != endTurn {
		t.Errorf("control token: %v", got)
	}
	if got := v.Encode("<|eot_id|>", false); slices.Contains(got, endTurn) {
		t.Errorf("a control token is forged: %v", got)
	}
}

// A prompt of many marks, or of what begins like one, takes time in proportion.
func TestControlTokensAreFoundOnce(t *testing.T) {
	v := Vocabulary{new(front)}
	for text, want := range map[string]int{
		"<|eot_id|>":            1,
		"<|begin_of_text|>":     1,
		"<|eot_id|>xx<|":        3,
		"<|<|eot_id|><|eot_id|": 2 + 3,
	} {
		const n = 1 << 18
		ids := v.Encode(strings.Repeat(text, n), true)
		marks := 0
		for _, id := range ids {
			if id < firstWord {
				marks++
			}
		}
		if marks != n || len(v.Encode(text, true)) > want {
			t.Errorf("%d times %q has %d marks", n, text, marks)
		}
	}
}
