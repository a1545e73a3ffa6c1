package model

import (
	"fmt"
	"math"
)

// KVType is how a KV pool keeps its numbers.
type KVType int

// The types.
const (
	// KVFloat32 keeps them as they are computed.
	KVFloat32 KVType = iota
	// KVInt8 keeps a byte for each, and for every position and head a float32 scale
	// for the key and one for the value: about 3.5 times the positions in the same
	// memory for heads of 32.
	KVInt8
)

var kvTypeNames = []string{"float32", "int8"}

func (t KVType) String() string { return kvTypeNames[t] }

// ParseKVType is the type of that name: float32 (f32, too) or int8.
func ParseKVType(name string) (KVType, error) {
	if name == "f32" {
		return KVFloat32, nil
	}
	for i, n := range kvTypeNames {
		if n == name {
			return KVType(i), nil
		}
	}
	return 0, fmt.Errorf("a KV cache of type %q is not supported; there are f32 and int8", name)
}

// quantise8 writes x as whole numbers of -127 to 127, the first to out[0], the next
// to out[stride] and so on, and returns what they are to be multiplied with. The
// scale of what is not finite is NaN, so that a fault stays visible.
func quantise8(x []float32, out []int8, stride int) (scale float32) {
	var most float32
	finite := true
	for _, v := range x {
		if v < 0 {
			v = -v
		}
		finite = finite && v <= math.MaxFloat32 // false for NaN, too
		if v > most {
			most = v
		}
	}
	scale = most / 127
	inverse := 1 / scale
	switch {
	case !finite:
		scale, inverse = float32(math.NaN()), 0
	case inverse > math.MaxFloat32: // so small that it is nothing
		scale, inverse = 0, 0
	}
	for i, v := range x {
		out[i*stride] = 0
		if inverse > 0 {
			out[i*stride] = int8(round(v * inverse))
		}
	}
	return scale
}

// scaleBy multiplies numbers with a scale for each.
func scaleBy(x, scale []float32) {
	scale = scale[:len(x)]
	for i := range x {
		x[i] *= scale[i]
	}
}
