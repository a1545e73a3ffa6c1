package model

import (
	"encoding/binary"
	"fmt"
)

// Exponent bits that are all set in an infinite number or a NaN.
const (
	endlessF32  = 0x7F800000
	endlessF16  = 0x7C00
	endlessBF16 = 0x7F80
)

// checkFinite refuses a tensor with a scale or a weight that is infinite or NaN: one
// of them would spoil the logits of every token. It reads all of the tensor.
func (t *tensor) checkFinite() error {
	at := -1
	switch t.typ {
	case tensorF32:
		at = endless32(t.data)
	case tensorBF16:
		at = endless16(t.data, 2, 0, endlessBF16)
	default:
		k := kindOf(t.typ)
		for i := 0; i < len(k.scales) && at < 0; i++ {
			at = endless16(t.data, k.bytes, k.scales[i], endlessF16)
		}
	}
	if at >= 0 {
		return fmt.Errorf("tensor %s holds a number that is not finite (block %d of %s)", printable(t.name), at, kindOf(t.typ).name)
	}
	return nil
}

// endless32 is the index of the first float32 that is not finite, else -1.
func endless32(data []byte) int {
	for i := 0; i+4 <= len(data); i += 4 {
		if binary.LittleEndian.Uint32(data[i:])&endlessF32 == endlessF32 {
			return i / 4
		}
	}
	return -1
}

// endless16 is the same for the 2-byte floats at one offset of blocks of some bytes.
func endless16(data []byte, size, offset int, mask uint16) int {
	for i := offset; i+2 <= len(data); i += size {
		if binary.LittleEndian.Uint16(data[i:])&mask == mask {
			return i / size
		}
	}
	return -1
}
