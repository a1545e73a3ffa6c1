package model

// Kernels of Q4_K and Q5_K, whose parts of 32 weights have a scale and a minimum: a
// weight is byte * scale - other. The bytes need no bias, so the start value of the
// integer sum is zero, and the minimum takes off a multiple of the sum of the
// activations, which is in block1.offset.

// negative is minus the sum of a block of activations, as a number.
func negative(offset int64, scale float32) float32 { return float32(offset>>39) * scale }

// dotMinRows2 adds the product of two rows of weights and one token to s and r.
func dotMinRows2(w, u []weights32, x []block1, s, r float32) (float32, float32) {
	u, x = u[:len(w)], x[:len(w)]
	for b := range w {
		wb, ub, xb := &w[b], &u[b], &x[b]
		var a, c int64
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
		n := negative(xb.offset, xb.scale)
		s += upper(a)*(wb.scale*xb.scale) + wb.other*n
		r += upper(c)*(ub.scale*xb.scale) + ub.other*n
	}
	return s, r
}

// dotMinTokens4 adds the product of one row of weights and a group of tokens.
func dotMinTokens4(w []weights32, x []block4, s0, s1, s2, s3 float32) (float32, float32, float32, float32) {
	x = x[:len(w)]
	for b := range w {
		wb, xb := &w[b], &x[b]
		var a0, a1, a2, a3 int64
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
		s0 += upper(a0)*(wb.scale*xb.scale[0]) + wb.other*negative(xb.offset[0], xb.scale[0])
		s1 += upper(a1)*(wb.scale*xb.scale[1]) + wb.other*negative(xb.offset[1], xb.scale[1])
		s2 += upper(a2)*(wb.scale*xb.scale[2]) + wb.other*negative(xb.offset[2], xb.scale[2])
		s3 += upper(a3)*(wb.scale*xb.scale[3]) + wb.other*negative(xb.offset[3], xb.scale[3])
	}
	return s0, s1, s2, s3
}
