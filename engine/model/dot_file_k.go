package model

// fileQ4K is the product of a row of Q4_K super-blocks and a token.
func fileQ4K(row []byte, x []block1) (s float32) {
	var scale, lowest [spanBlocks]float32
	for ; len(x) >= spanBlocks; x, row = x[spanBlocks:], row[144:] {
		w := (*[144]byte)(row)
		partScales((*[16]byte)(w[:]), &scale, &lowest)
		for i := range 4 {
			v0, v1, v2, v3 := words((*[32]byte)(w[16+32*i:]))
			xb := &x[2*i]
			a := xb.block(v0&lowNibs, v1&lowNibs, v2&lowNibs, v3&lowNibs)
			s += upper(a)*(scale[2*i]*xb.scale) + lowest[2*i]*negative(xb.offset, xb.scale)
			xb = &x[2*i+1]
			a = xb.block(v0>>4&lowNibs, v1>>4&lowNibs, v2>>4&lowNibs, v3>>4&lowNibs)
			s += upper(a)*(scale[2*i+1]*xb.scale) + lowest[2*i+1]*negative(xb.offset, xb.scale)
		}
	}
	return s
}

// fileQ5K is the product of a row of Q5_K super-blocks and a token.
func fileQ5K(row []byte, x []block1) (s float32) {
	var scale, lowest [spanBlocks]float32
	for ; len(x) >= spanBlocks; x, row = x[spanBlocks:], row[176:] {
		w := (*[176]byte)(row)
		partScales((*[16]byte)(w[:]), &scale, &lowest)
		f0, f1, f2, f3 := words((*[32]byte)(w[16:]))
		for i := range 4 {
			v0, v1, v2, v3 := words((*[32]byte)(w[48+32*i:]))
			xb := &x[2*i]
			a := xb.block(v0&lowNibs|f0&each<<4, v1&lowNibs|f1&each<<4, v2&lowNibs|f2&each<<4, v3&lowNibs|f3&each<<4)
			s += upper(a)*(scale[2*i]*xb.scale) + lowest[2*i]*negative(xb.offset, xb.scale)
			xb = &x[2*i+1]
			a = xb.block(v0>>4&lowNibs|f0>>1&each<<4, v1>>4&lowNibs|f1>>1&each<<4, v2>>4&lowNibs|f2>>1&each<<4, v3>>4&lowNibs|f3>>1&each<<4)
			s += upper(a)*(scale[2*i+1]*xb.scale) + lowest[2*i+1]*negative(xb.offset, xb.scale)
			f0, f1, f2, f3 = f0>>2, f1>>2, f2>>2, f3>>2
		}
	}
	return s
}

// fileQ6K is the product of a row of Q6_K super-blocks and a token. The weights of a
// super-block are unpacked all the same: a block's lie in four places.
func fileQ6K(row []byte, x []block1) (s float32) {
	var w [spanBlocks]weights32
	for ; len(x) >= spanBlocks; x, row = x[spanBlocks:], row[210:] {
		unpackQ6K((*[210]byte)(row), &w)
		for i := range w {
			wb, xb := &w[i], &x[i]
			a, c := startHalves(xb.offset, xb.first)
			a += lanes(wb.word[0], (*[4]int64)(xb.lane[0:])) + lanes(wb.word[1], (*[4]int64)(xb.lane[4:]))
			c += lanes(wb.word[2], (*[4]int64)(xb.lane[8:])) + lanes(wb.word[3], (*[4]int64)(xb.lane[12:]))
			s += (upper(a)*wb.scale + upper(c)*wb.other) * xb.scale
		}
	}
	return s
}
