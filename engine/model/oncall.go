package model

import _ "embed"

//go:embed oncall/oncall-main.Q8_0.gguf
var oncall []byte

//go:embed oncall/oncall-draft.Q8_0.gguf
var oncallDraft []byte

// Oncall is the GGUF file of the model that ships with llmtop (see oncall/README.md).
// The bytes are shared: do not change them.
func Oncall() []byte { return oncall }

// OncallDraft is the GGUF file of a small model of the same vocabulary, to guess
// what Oncall says. The bytes are shared: do not change them.
func OncallDraft() []byte { return oncallDraft }
