package model

// One 64-bit multiplication does two 8-bit by 18-bit products and their sum. With
// unsigned weights a, b and activations x, y
//
//	(a + b<<32) * (y + x<<32) = a*y + (a*x + b*y)<<32   modulo 2^64
//
// so the sums of a*x + b*y collect in the upper half. 32 products of at most
// 255 * (2^18-1) stay below 2^31, and the lower half, 16 of them, is taken off
// exactly before shifting. Weights become unsigned by a bias of 128, which the
// start value (block1.offset) takes off. Integer sums are exact and floats are
// added block by block in order, so a token's result is the same bits whichever
// kernel computes it: logits do not depend on the batch.

// weights32 is 32 unpacked weights, one a byte, and what turns them into numbers: see
// the kernels of each family.
type weights32 struct {
	word         [4]uint64
	scale, other float32
}

// laneMask picks two bytes of a word of 8 weights as the halves of a factor.
const laneMask = 0x000000FF000000FF

// upper is the sum in the upper half of an accumulator.
func upper(acc int64) float32 {
	return float32(int32((acc - int64(int32(acc))) >> 32))
}

// dotQ8Rows2 adds the product of two rows of weights and one token to s and r. A
// weight is (byte - 128) * scale.
func dotQ8Rows2(w, u []weights32, x []block1, s, r float32) (float32, float32) {
	u, x = u[:len(w)], x[:len(w)]
	for b := range w {
		wb, ub, xb := &w[b], &u[b], &x[b]
		a, c := xb.offset, xb.offset
		for j := range 4 {
			v, y, l := wb.word[j], ub.word[j], (*[4]int64)(xb.lane[4*j:])
			a += int64(v&laneMask) * l[0]
			c += int64(y&laneMask) * l[0]
			a += int64(v>>8&laneMask) * l[1]
			c += int64(y>>8&laneMask) * l[1]
			a += int64(v>>16&laneMask) * l[2]
			c += int64(y>>16&laneMask) * l[2]
			a += int64(v>>24&laneMask) * l[3]
			c += int64(y>>24&laneMask) * l[3]
		}
		s += upper(a) * (wb.scale * xb.scale)
		r += upper(c) * (ub.scale * xb.scale)
	}
	return s, r
}

// dotQ8Tokens4 adds the product of one row of weights and a group of tokens.
func dotQ8Tokens4(w []weights32, x []block4, s0, s1, s2, s3 float32) (float32, float32, float32, float32) {
	x = x[:len(w)]
	for b := range w {
		wb, xb := &w[b], &x[b]
		a0, a1, a2, a3 := xb.offset[0], xb.offset[1], xb.offset[2], xb.offset[3]
		for j := range 4 {
			v, l := wb.word[j], (*[4][4]int64)(xb.lane[4*j:])
			t := int64(v & laneMask)
			a0 += t * l[0][0]
			a1 += t * l[0][1]
			a2 += t * l[0][2]
			a3 += t * l[0][3]
			t = int64(v >> 8 & laneMask)
			a0 += t * l[1][0]
			a1 += t * l[1][1]
			a2 += t * l[1][2]
			a3 += t * l[1][3]
			t = int64(v >> 16 & laneMask)
			a0 += t * l[2][0]
			a1 += t * l[2][1]
			a2 += t * l[2][2]
			a3 += t * l[2][3]
			t = int64(v >> 24 & laneMask)
			a0 += t * l[3][0]
			a1 += t * l[3][1]
			a2 += t * l[3][2]
			a3 += t * l[3][3]
		}
		s0 += upper(a0) * (wb.scale * xb.scale[0])
		s1 += upper(a1) * (wb.scale * xb.scale[1])
		s2 += upper(a2) * (wb.scale * xb.scale[2])
		s3 += upper(a3) * (wb.scale * xb.scale[3])
	}
	return s0, s1, s2, s3
}
