package model

import "math"

// half widens an IEEE 754 binary16.
func half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0: // zero and subnormals: frac * 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*(1.0/(1<<24))))
	case 31:
		return math.Float32frombits(sign | 0xFF<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// finiteHalf is half for a finite number, without a branch: the bits of a binary16
// at the places of a float32 are the number times 2^-112, subnormals too.
func finiteHalf(h uint16) float32 {
	return math.Float32frombits(uint32(h&0x8000)<<16|uint32(h&0x7FFF)<<13) * (1 << 112)
}

// brain widens a bfloat16, the upper half of a float32.
func brain(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }
