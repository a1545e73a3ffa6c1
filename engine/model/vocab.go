package model

import (
	"fmt"
	"math"
	"slices"

	"llmtop/engine/tokenizer"
)

// Vocab reads the tokenizer's vocabulary. Known are the SentencePiece style
// (tokenizer.ggml.model "llama") and byte-level BPE ("gpt2").
func (f *File) Vocab() (tokenizer.Vocab, error) {
	v := tokenizer.Vocab{}
	kind, _ := f.Text("tokenizer.ggml.model")
	switch kind {
	case "llama":
		v.Kind = tokenizer.SentencePiece
	case "gpt2":
		v.Kind = tokenizer.ByteLevel
	default:
		return v, fmt.Errorf("tokenizer %s is not supported (known are llama, the SentencePiece style, and gpt2, byte-level BPE)", printable(kind))
	}
	var err error
	if v.Tokens, err = f.strings("tokenizer.ggml.tokens"); err != nil {
		return v, err
	}
	types, err := f.words("tokenizer.ggml.token_type", typeI32, typeU32)
	if err != nil {
		return v, err
	}
	for _, t := range types {
		v.Types = append(v.Types, int32(t))
	}
	if v.Kind == tokenizer.ByteLevel {
		err = f.byteLevel(&v)
	} else {
		err = f.sentencePiece(&v)
	}
	if err != nil {
		return v, err
	}
	markStops(&v)
	return v, nil
}

// sentencePiece fills in what is that style's own, with its defaults.
func (f *File) sentencePiece(v *tokenizer.Vocab) (err error) {
	if v.Scores, err = f.scores(); err != nil {
		return err
	}
	if v.AddSpacePrefix, err = f.flag("tokenizer.ggml.add_space_prefix", true); err != nil {
		return err
	}
	return f.tokenIDs(v, tokenizer.Vocab{BOS: 1, EOS: 2, UNK: 0, AddBOS: true})
}

// byteLevel fills in what is that style's own. It has no usual ids.
func (f *File) byteLevel(v *tokenizer.Vocab) (err error) {
	if v.Merges, err = f.strings("tokenizer.ggml.merges"); err != nil {
		return err
	}
	v.Pre, _ = f.Text("tokenizer.ggml.pre")
	return f.tokenIDs(v, tokenizer.Vocab{BOS: -1, EOS: -1, UNK: -1, AddBOS: tokenizer.DefaultBOS(v.Pre)})
}

// tokenIDs fills in the named tokens and how prompts start.
func (f *File) tokenIDs(v *tokenizer.Vocab, missing tokenizer.Vocab) error {
	var errs [5]error
	v.BOS, errs[0] = f.tokenID("tokenizer.ggml.bos_token_id", missing.BOS)
	v.EOS, errs[1] = f.tokenID("tokenizer.ggml.eos_token_id", missing.EOS)
	v.UNK, errs[2] = f.tokenID("tokenizer.ggml.unknown_token_id", missing.UNK)
	v.EOT, errs[3] = f.tokenID("tokenizer.ggml.eot_token_id", -1)
	v.AddBOS, errs[4] = f.flag("tokenizer.ggml.add_bos_token", missing.AddBOS)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tokenID is the id of a named token; missing when the key is absent, -1 when the
// file says by 2^32-1 that there is none.
func (f *File) tokenID(key string, missing int) (int, error) {
	if v, ok := f.meta[key]; ok {
		if n, ok := v.integer(); ok && n == math.MaxUint32 {
			return -1, nil
		}
	}
	return f.uint(key, missing)
}

// controlToken is GGUF's type of a token that acts and has no text.
const controlToken = 3

// stopNames are tokens that end a turn or a text, whatever the ids in the file say:
// ChatML's, Llama 3's, the shipped model's and Phi's, and those of base models.
// llama.cpp (src/llama-vocab.cpp) ends generations at the same names.
var stopNames = []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>"}

// markStops finds the tokens that end a generation by name. A file that calls one
// of them anything but a control token is mistaken: users could end turns with it.
func markStops(v *tokenizer.Vocab) {
	for id, text := range v.Tokens {
		if id < len(v.Types) && slices.Contains(stopNames, text) {
			v.Stops = append(v.Stops, id)
			v.Types[id] = controlToken
		}
	}
}

// AddsEOS is whether the file wants an end token after every text
// (tokenizer.ggml.add_eos_token), as models that do not generate may.
func (f *File) AddsEOS() (bool, error) { return f.flag("tokenizer.ggml.add_eos_token", false) }
