// Package roofline knows what hardware and models can do at best: tables of GPUs and models from
// data sheets and model cards, and the arithmetic between them. It imports nothing.
package roofline

// DType is how numbers are kept.
type DType string

// The types.
const (
	BF16 DType = "bf16"
	FP8  DType = "fp8"
	INT8 DType = "int8"
	INT4 DType = "int4"
)

// GPU is a row of the hardware table.
type GPU struct {
	Name string // as scenarios have it: "h100"
}

// Model is a row of the model table.
type Model struct {
	Name string // as scenarios have it: "llama-3-70b"
}
