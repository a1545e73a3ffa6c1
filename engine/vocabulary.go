package engine

import (
	"fmt"

	"llmtop/engine/model"
	"llmtop/engine/tokenizer"
)

// words is what a model brings for turning text into tokens.
type words struct {
	tokenizer Tokenizer
	rebuild   func() (Tokenizer, error) // the same tokenizer anew from the model file; nil: there is no file
	template  string                    // the chat template as the file has it; empty: none
	addsEOS   bool                      // the file wants an end token after every text
}

// readWords builds the tokenizer of a model file.
func readWords(file *model.File) (w words, err error) {
	w.rebuild = func() (Tokenizer, error) { return newVocabulary(file) }
	if w.tokenizer, err = w.rebuild(); err != nil {
		return w, err
	}
	w.template, _ = file.Text("tokenizer.chat_template")
	w.addsEOS, err = file.AddsEOS()
	return w, err
}

// vocabulary is a tokenizer.Tokenizer as the engine sees it.
type vocabulary struct{ *tokenizer.Tokenizer }

func newVocabulary(file *model.File) (Tokenizer, error) {
	v, err := file.Vocab()
	if err != nil {
		return nil, fmt.Errorf("reading the vocabulary: %w", err)
	}
	t, err := tokenizer.New(v)
	if err != nil {
		return nil, fmt.Errorf("building the tokenizer: %w", err)
	}
	return vocabulary{t}, nil
}

func (v vocabulary) Encode(text string, special bool) []int {
	if special {
		return v.Tokenizer.Encode(text, true)
	}
	return v.Continue(text)
}

func (v vocabulary) Begin() []int {
	if id, add := v.BOS(); add {
		return []int{id}
	}
	return nil
}

func (v vocabulary) NewDecoder() Decoder { return tokenizer.NewDecoder(v.Tokenizer) }
