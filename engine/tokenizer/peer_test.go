package tokenizer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"llmtop/engine/tokenizer"
)

// TestPreTokenizers holds each pre-tokenizer against token ids of llama.cpp for texts
// of every nasty kind, where GPT-2's vocabulary is at hand (testdata/peer/goldens.sh
// made them).
func TestPreTokenizers(t *testing.T) {
	_, f := vocabulary(t, "gpt-2")
	vocab, err := f.Vocab()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	var ids map[string][][]int
	readJSON(t, "texts.json", &texts)
	readJSON(t, "ids.json", &ids)
	for _, pre := range []string{"gpt-2", "llama-bpe", "qwen2", "smollm", "default"} {
		t.Run(pre, func(t *testing.T) {
			vocab.Pre = pre
			tok, err := tokenizer.New(vocab)
			if err != nil {
				t.Fatal(err)
			}
			if len(texts) < 700 || len(ids[pre]) != len(texts) {
				t.Fatalf("%d texts, %d answers", len(texts), len(ids[pre]))
			}
			for i, text := range texts {
				got := tok.Encode(text, false)
				if !slices.Equal(got, ids[pre][i]) {
					t.Errorf("Encode(%q) = %v, want %v", text, got, ids[pre][i])
				}
				if back := tok.Decode(got); back != text {
					t.Errorf("%q came back as %q", text, back)
				}
			}
		})
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "peer", name))
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
