package model

import "encoding/binary"

// The kernels of a single token compute on blocks as they lie in the file: unpacking
// them first would take up to half as long as the product. Integer sums are exact
// and the floats are those of the unpacked kernels in the same order, so the result is
// the same bits.

// lanes is the products of 8 weights and their lanes of activations.
func lanes(v uint64, l *[4]int64) int64 {
	return int64(v&laneMask)*l[0] + int64(v>>8&laneMask)*l[1] + int64(v>>16&laneMask)*l[2] + int64(v>>24&laneMask)*l[3]
}

// block is the products of 32 weights.
func (x *block1) block(v0, v1, v2, v3 uint64) int64 {
	return lanes(v0, (*[4]int64)(x.lane[0:])) + lanes(v1, (*[4]int64)(x.lane[4:])) +
		lanes(v2, (*[4]int64)(x.lane[8:])) + lanes(v3, (*[4]int64)(x.lane[12:]))
}

// fileQ8 is the product of a row of Q8_0 blocks and a token.
func fileQ8(row []byte, x []block1) (s float32) {
	for b := range x {
		w, xb := (*[34]byte)(row[34*b:]), &x[b]
		v0, v1, v2, v3 := words((*[32]byte)(w[2:]))
		a := xb.offset + xb.block(v0^flipSign, v1^flipSign, v2^flipSign, v3^flipSign)
		s += upper(a) * (finiteHalf(binary.LittleEndian.Uint16(w[:])) * xb.scale)
	}
	return s
}

// fileQ4 is the product of a row of Q4_0 blocks and a token. The bias is 8, not 128.
func fileQ4(row []byte, x []block1) (s float32) {
	for b := range x {
		w, xb := (*[18]byte)(row[18*b:]), &x[b]
		u, v := binary.LittleEndian.Uint64(w[2:]), binary.LittleEndian.Uint64(w[10:])
		a := xb.offset/(bias8/8) + xb.block(u&lowNibs, v&lowNibs, u>>4&lowNibs, v>>4&lowNibs)
		s += upper(a) * (finiteHalf(binary.LittleEndian.Uint16(w[:])) * xb.scale)
	}
	return s
}
