package roofline

// DType is how numbers are kept.
type DType string

// The types. INT4 is weights alone in groups of 128 (GPTQ, AWQ), computed in bf16; FP4 is NVFP4.
const (
	BF16 DType = "bf16"
	FP8  DType = "fp8"
	INT8 DType = "int8"
	INT4 DType = "int4"
	FP4  DType = "fp4"
)

// dtypes has the bytes of a weight, scales included, and of a number of the KV cache; 0: not kept so.
// Scales: fp8 and int8 have one a channel or block, int4 an fp16 scale and a zero point for 128
// weights, NVFP4 a byte for 16.
var dtypes = []struct {
	name   DType
	weight float64
	kv     float64
}{
	{BF16, 2, 2},
	{FP8, 1.001, 1},
	{INT8, 1.001, 1},
	{INT4, 0.5 + 2.5/128, 0},
	{FP4, 0.5 + 1.0/16, 0},
}

// DTypes are all that there are.
func DTypes() []DType {
	all := make([]DType, len(dtypes))
	for i, d := range dtypes {
		all[i] = d.name
	}
	return all
}

// WeightBytes is what a weight takes, its share of the scales included; 0 of an unknown type.
func (d DType) WeightBytes() float64 {
	for _, t := range dtypes {
		if t.name == d {
			return t.weight
		}
	}
	return 0
}

// KVBytes is what a number in the KV cache takes; 0 where the cache is not kept so.
func (d DType) KVBytes() float64 {
	for _, t := range dtypes {
		if t.name == d {
			return t.kv
		}
	}
	return 0
}
