package model

// Kernels of Q6_K, whose halves of a block have scales of their own: a weight is
// (byte - 32) * scale in the first half and (byte - 32) * other in the second.

// startHalves is the start values of the sums of both halves, 32 times the sum of
// their activations to take off: see block1.offset.
func startHalves(offset int64, first int32) (a, c int64) {
	a = -int64(first) << (32 + 5)
	return a, offset>>2 - a
}

// dotHalvesRows2 adds the product of two rows of weights and one token to s and r.
func dotHalvesRows2(w, u []weights32, x []block1, s, r float32) (float32, float32) {
	u, x = u[:len(w)], x[:len(w)]
	for b := range w {
		wb, ub, xb := &w[b], &u[b], &x[b]
		a, c := startHalves(xb.offset, xb.first)
		d, e := a, c
		for j := range 2 {
			v, y, l := wb.word[j], ub.word[j], (*[4]int64)(xb.lane[4*j:])
			a += int64(v&laneMask) * l[0]
			d += int64(y&laneMask) * l[0]
			a += int64(v>>8&laneMask) * l[1]
			d += int64(y>>8&laneMask) * l[1]
			a += int64(v>>16&laneMask) * l[2]
			d += int64(y>>16&laneMask) * l[2]
			a += int64(v>>24&laneMask) * l[3]
			d += int64(y>>24&laneMask) * l[3]
		}
		for j := range 2 {
			v, y, l := wb.word[2+j], ub.word[2+j], (*[4]int64)(xb.lane[8+4*j:])
			c += int64(v&laneMask) * l[0]
			e += int64(y&laneMask) * l[0]
			c += int64(v>>8&laneMask) * l[1]
			e += int64(y>>8&laneMask) * l[1]
			c += int64(v>>16&laneMask) * l[2]
			e += int64(y>>16&laneMask) * l[2]
			c += int64(v>>24&laneMask) * l[3]
			e += int64(y>>24&laneMask) * l[3]
		}
		s += (upper(a)*wb.scale + upper(c)*wb.other) * xb.scale
		r += (upper(d)*ub.scale + upper(e)*ub.other) * xb.scale
	}
	return s, r
}

// dotHalvesTokens4 adds the product of one row of weights and a group of tokens.
func dotHalvesTokens4(w []weights32, x []block4, s0, s1, s2, s3 float32) (float32, float32, float32, float32) {
	x = x[:len(w)]
	for b := range w {
		wb, xb := &w[b], &x[b]
		a0, c0 := startHalves(xb.offset[0], xb.first[0])
		a1, c1 := startHalves(xb.offset[1], xb.first[1])
		a2, c2 := startHalves(xb.offset[2], xb.first[2])
		a3, c3 := startHalves(xb.offset[3], xb.first[3])
		for j := range 2 {
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
		for j := range 2 {
			v, l := wb.word[2+j], (*[4][4]int64)(xb.lane[8+4*j:])
			t := int64(v & laneMask)
			c0 += t * l[0][0]
			c1 += t * l[0][1]
			c2 += t * l[0][2]
			c3 += t * l[0][3]
			t = int64(v >> 8 & laneMask)
			c0 += t * l[1][0]
			c1 += t * l[1][1]
			c2 += t * l[1][2]
			c3 += t * l[1][3]
			t = int64(v >> 16 & laneMask)
			c0 += t * l[2][0]
			c1 += t * l[2][1]
			c2 += t * l[2][2]
			c3 += t * l[2][3]
			t = int64(v >> 24 & laneMask)
			c0 += t * l[3][0]
			c1 += t * l[3][1]
			c2 += t * l[3][2]
			c3 += t * l[3][3]
		}
		s0 += (upper(a0)*wb.scale + upper(c0)*wb.other) * xb.scale[0]
		s1 += (upper(a1)*wb.scale + upper(c1)*wb.other) * xb.scale[1]
		s2 += (upper(a2)*wb.scale + upper(c2)*wb.other) * xb.scale[2]
		s3 += (upper(a3)*wb.scale + upper(c3)*wb.other) * xb.scale[3]
	}
	return s0, s1, s2, s3
}
