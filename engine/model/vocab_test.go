package model

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"llmtop/engine/tokenizer"
)

// byteVocab writes a byte-level vocabulary of normal tokens, without its merges.
func (w *writer) byteVocab(tokens ...string) {
	var texts, types []byte
	for _, s := range tokens {
		texts = w.text(texts, s)
		types = binary.LittleEndian.AppendUint32(types, 1)
	}
	w.str("tokenizer.ggml.model", "gpt2")
	w.array("tokenizer.ggml.tokens", typeString, uint64(len(tokens)), texts)
	w.array("tokenizer.ggml.token_type", typeI32, uint64(len(tokens)), types)
}

// A byte-level vocabulary is read with the defaults of its pre-tokenizer, and the
// tokens that end a turn are found by name, whatever the file calls them.
func TestByteLevelVocab(t *testing.T) {
	for _, c := range []struct {
		pre    string
		more   func(w *writer)
		bos    int
		addBOS bool
		eos    int
	}{
		{"gpt-2", func(w *writer) {}, -1, false, -1},
		{"qwen2", func(w *writer) { w.u32("tokenizer.ggml.eos_token_id", 3) }, -1, false, 3},
		{"llama-bpe", func(w *writer) { w.u32("tokenizer.ggml.bos_token_id", 4) }, 4, true, -1},
		{"gpt-2", func(w *writer) { w.u32("tokenizer.ggml.eos_token_id", math.MaxUint32) }, -1, false, -1},
		{"llama-bpe", func(w *writer) { w.key("tokenizer.ggml.add_bos_token", typeBool, []byte{0}) }, -1, false, -1},
	} {
		w := &writer{}
		w.byteVocab("a", "b", "ab", "<|im_end|>", "<|eot_id|>", "<|im_start|>")
		w.array("tokenizer.ggml.merges", typeString, 1, w.text(nil, "a b"))
		w.str("tokenizer.ggml.pre", c.pre)
		c.more(w)
		f, err := Parse(w.bytes())
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.Vocab()
		if err != nil {
			t.Fatal(err)
		}
		if v.Kind != tokenizer.ByteLevel || v.Pre != c.pre || v.BOS != c.bos || v.AddBOS != c.addBOS || v.EOS != c.eos || v.UNK != -1 {
			t.Errorf("%s: %+v", c.pre, v)
		}
		if !slices.Equal(v.Merges, []string{"a b"}) || !slices.Equal(v.Stops, []int{3, 4}) || !slices.Equal(v.Types, []int32{1, 1, 1, 3, 3, 1}) {
			t.Errorf("merges %q, stops %v, types %v", v.Merges, v.Stops, v.Types)
		}
	}
}

func TestAddsEOS(t *testing.T) {
	for _, want := range []bool{false, true} {
		w := &writer{}
		if want {
			w.key("tokenizer.ggml.add_eos_token", typeBool, []byte{1})
		}
		f, err := Parse(w.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.AddsEOS(); got != want || err != nil {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
}

func TestVocabRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(w *writer)
		want  string
	}{
		{"word pieces", func(w *writer) { w.str("tokenizer.ggml.model", "bert") }, `tokenizer "bert" is not supported (known are llama`},
		{"none", func(w *writer) {}, `tokenizer "" is not supported`},
		{"no tokens", func(w *writer) { w.str("tokenizer.ggml.model", "llama") }, "tokenizer.ggml.tokens"},
		{"tokens are numbers", func(w *writer) {
			w.str("tokenizer.ggml.model", "llama")
			w.array("tokenizer.ggml.tokens", typeU32, 1, make([]byte, 4))
		}, "tokenizer.ggml.tokens"},
		{"scores are text", func(w *writer) {
			w.str("tokenizer.ggml.model", "llama")
			w.array("tokenizer.ggml.tokens", typeString, 1, make([]byte, 8))
			w.array("tokenizer.ggml.token_type", typeI32, 1, make([]byte, 4))
			w.array("tokenizer.ggml.scores", typeString, 1, make([]byte, 8))
		}, "tokenizer.ggml.scores"},
		{"types are missing", func(w *writer) {
			w.str("tokenizer.ggml.model", "gpt2")
			w.array("tokenizer.ggml.tokens", typeString, 1, make([]byte, 8))
		}, "tokenizer.ggml.token_type"},
		{"merges are missing", func(w *writer) { w.byteVocab("a") }, "tokenizer.ggml.merges"},
		{"flag is a number", func(w *writer) {
			w.vocab(4)
			w.u32("tokenizer.ggml.add_bos_token", 1)
		}, "add_bos_token is not a bool"},
		{"BOS is text", func(w *writer) {
			w.vocab(4)
			w.str("tokenizer.ggml.bos_token_id", "1")
		}, "bos_token_id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &writer{}
			c.build(w)
			f, err := Parse(w.bytes())
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Vocab()
			refused(t, err, c.want)
		})
	}
}
