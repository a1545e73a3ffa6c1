package tokenizer_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"llmtop/engine/model"
	"llmtop/engine/tokenizer"
)

// open builds the tokenizer of a parsed model file.
func open(t testing.TB, f *model.File, err error) *tokenizer.Tokenizer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := f.Vocab()
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.New(vocab)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func shipped(t testing.TB) *tokenizer.Tokenizer {
	f, err := model.Parse(model.Oncall())
	return open(t, f, err)
}

type goldens struct {
	Tokenizer []struct {
		Text   string `json:"text"`
		IDs    []int  `json:"ids"`
		AsText []int  `json:"ids_special_as_text"`
	} `json:"tokenizer"`
	Prompts []struct {
		Text string `json:"text"`
		IDs  []int  `json:"ids"`
	} `json:"prompts"`
}

func TestGoldens(t *testing.T) {
	data, err := os.ReadFile("../model/oncall/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldens
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Tokenizer) != 40 || len(g.Prompts) != 12 {
		t.Fatalf("%d texts and %d prompts in the goldens", len(g.Tokenizer), len(g.Prompts))
	}
	tok := shipped(t)
	bos, add := tok.BOS()
	if !add {
		t.Error("no BOS wanted")
	}
	check := func(text string, special bool, want []int) {
		t.Helper()
		got := append([]int{bos}, tok.Encode(text, special)...)
		if !slices.Equal(got, want) {
			t.Errorf("Encode(%q, %v) = %v, want %v", text, special, got, want)
		}
	}
	for _, c := range g.Tokenizer {
		check(c.Text, true, c.IDs)
		check(c.Text, false, c.AsText)
		if back := tok.Decode(c.AsText); back != strings.ReplaceAll(c.Text, "\u2581", " ") {
			t.Errorf("%q came back as %q", c.Text, back)
		}
	}
	for _, p := range g.Prompts {
		check(p.Text, true, p.IDs)
	}
}

// vocabulary opens a vocabulary file of llama.cpp that may lie beside the repository.
func vocabulary(t testing.TB, name string) (path string, f *model.File) {
	t.Helper()
	path = "../../../shared/models/vocab/ggml-vocab-" + name + ".gguf"
	f, err := model.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no vocabulary %s beside the repository", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, f
}

// TestOtherVocabularies holds vocabularies of 32 000 and 50 000 tokens, one of each
// kind, against token ids of llama.cpp, where those files are at hand.
func TestOtherVocabularies(t *testing.T) {
	for _, name := range []string{"llama-spm", "gpt-2"} {
		t.Run(name, func(t *testing.T) {
			path, f := vocabulary(t, name)
			tok := open(t, f, nil)
			in, err1 := os.ReadFile(path + ".inp")
			out, err2 := os.ReadFile(path + ".out")
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			const end = "\n__ggml_vocab_test__\n"
			texts := strings.Split(strings.TrimSuffix(string(in), end), end)
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(texts) != len(lines) {
				t.Fatalf("%d texts, %d answers", len(texts), len(lines))
			}
			for i, text := range texts {
				var want []int
				if err := json.Unmarshal([]byte("["+strings.Join(strings.Fields(lines[i]), ",")+"]"), &want); err != nil {
					t.Fatal(err)
				}
				if got := tok.Encode(text, false); !slices.Equal(got, want) {
					t.Errorf("Encode(%q) = %v, want %v", text, got, want)
				}
			}
		})
	}
}

// BenchmarkEncode reads English text with the shipped vocabulary and, where they are
// at hand, larger ones.
func BenchmarkEncode(b *testing.B) {
	text, err := os.ReadFile("../model/oncall/heldout.txt")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("oncall", func(b *testing.B) { encode(b, shipped(b), string(text)) })
	for _, name := range []string{"llama-spm", "gpt-2"} {
		b.Run(name, func(b *testing.B) {
			_, f := vocabulary(b, name)
			encode(b, open(b, f, nil), string(text))
		})
	}
}

func encode(b *testing.B, tok *tokenizer.Tokenizer, text string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tok.Encode(text, true)
	}
}

func BenchmarkDecode(b *testing.B) {
	tok := shipped(b)
	text, err := os.ReadFile("../model/oncall/heldout.txt")
	if err != nil {
		b.Fatal(err)
	}
	ids := tok.Encode(string(text), true)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d := tokenizer.NewDecoder(tok)
		for _, id := range ids {
			d.Push(id)
		}
	}
}

// BenchmarkNew builds the tables of a vocabulary, as for every request when the
// engine's tokenizer cache is off.
func BenchmarkNew(b *testing.B) {
	build := func(b *testing.B, f *model.File) {
		for b.Loop() {
			open(b, f, nil)
		}
	}
	b.Run("oncall", func(b *testing.B) {
		f, err := model.Parse(model.Oncall())
		if err != nil {
			b.Fatal(err)
		}
		build(b, f)
	})
	for _, name := range []string{"llama-spm", "gpt-2"} {
		b.Run(name, func(b *testing.B) {
			_, f := vocabulary(b, name)
			build(b, f)
		})
	}
}
