package model

import _ "embed"

//go:embed oncall/oncall-main.Q8_0.gguf
var oncall []byte

// Oncall is the GGUF file of the model that ships with llmtop (see oncall/README.md).
// The bytes are shared: do not change them.
func Oncall() []byte { return oncall }
