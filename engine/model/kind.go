package model

import (
	"fmt"
	"strings"
)

// Tensor types of GGML that this package computes with.
const (
	tensorF32  = 0
	tensorF16  = 1
	tensorQ4_0 = 2
	tensorQ8_0 = 8
	tensorQ4_K = 12
	tensorQ5_K = 13
	tensorQ6_K = 14
	tensorBF16 = 30
)

// blockLen is the number of weights the kernels take at a time. Activations are
// quantised in blocks of as many.
const blockLen = 32

// kind is a tensor type: blocks of so many weights in so many bytes, with float16
// scales at some offsets of each.
type kind struct {
	typ            uint32
	name           string
	weights, bytes int
	scales         []int
}

// kinds lists the types in GGML's layouts. A super-block of 256 weights of a K-type has
// scales of its parts as small integers beside the float16 ones.
var kinds = []kind{
	{tensorF32, "F32", 1, 4, nil},
	{tensorF16, "F16", 1, 2, []int{0}},
	{tensorBF16, "BF16", 1, 2, nil},
	{tensorQ8_0, "Q8_0", 32, 34, []int{0}},
	{tensorQ4_0, "Q4_0", 32, 18, []int{0}},
	{tensorQ4_K, "Q4_K", 256, 144, []int{0, 2}},
	{tensorQ5_K, "Q5_K", 256, 176, []int{0, 2}},
	{tensorQ6_K, "Q6_K", 256, 210, []int{208}},
}

// otherTypes names those it does not, for the error message.
var otherTypes = map[uint32]string{3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 15: "Q8_K",
	16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4"}

// kindOf is nil for a type that is not supported.
func kindOf(typ uint32) *kind {
	for i := range kinds {
		if kinds[i].typ == typ {
			return &kinds[i]
		}
	}
	return nil
}

func checkType(typ uint32) error {
	if kindOf(typ) != nil {
		return nil
	}
	name, known := otherTypes[typ]
	if !known {
		name = fmt.Sprint(typ)
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return fmt.Errorf("type %s is not supported (%s are)", name, strings.Join(names, ", "))
}
