package model

import (
	"encoding/binary"
	"math"
)

// dotF32 adds the products of a row of floats and a token to s, in order.
func dotF32(w *[span]float32, x []float32, s float32) float32 {
	u := w[:len(x)]
	for i, v := range x {
		s += u[i] * v
	}
	return s
}

// dotF32Rows4 does so for four rows; each sum is in the order of dotF32.
func dotF32Rows4(w *[4][span]float32, x []float32, sum *[4]float32) {
	n := len(x)
	w0, w1, w2, w3 := w[0][:n], w[1][:n], w[2][:n], w[3][:n]
	a0, a1, a2, a3 := sum[0], sum[1], sum[2], sum[3]
	for i, p := range x {
		a0 += w0[i] * p
		a1 += w1[i] * p
		a2 += w2[i] * p
		a3 += w3[i] * p
	}
	*sum = [4]float32{a0, a1, a2, a3}
}

// dotF32Rows4Tokens2 does so for four rows and two tokens.
func dotF32Rows4Tokens2(w *[4][span]float32, x, y []float32, sum, other *[4]float32) {
	n := len(x)
	w0, w1, w2, w3 := w[0][:n], w[1][:n], w[2][:n], w[3][:n]
	y = y[:n]
	a0, a1, a2, a3 := sum[0], sum[1], sum[2], sum[3]
	b0, b1, b2, b3 := other[0], other[1], other[2], other[3]
	for i, p := range x {
		q := y[i]
		v := w0[i]
		a0 += v * p
		b0 += v * q
		v = w1[i]
		a1 += v * p
		b1 += v * q
		v = w2[i]
		a2 += v * p
		b2 += v * q
		v = w3[i]
		a3 += v * p
		b3 += v * q
	}
	*sum, *other = [4]float32{a0, a1, a2, a3}, [4]float32{b0, b1, b2, b3}
}

// fileF32Rows4 is the product of four rows of F32 as they lie in the file and one
// token, whose numbers are a multiple of four; each sum is in the order of dotF32.
func fileF32Rows4(w []byte, x []float32, sum *[4]float32) {
	n := 4 * len(x)
	w0, w1, w2, w3 := w[:n], w[n:2*n], w[2*n:3*n], w[3*n:4*n]
	a0, a1, a2, a3 := float32(0), float32(0), float32(0), float32(0)
	for i := 0; i+4 <= len(x); i += 4 {
		v := (*[4]float32)(x[i:])
		b0, b1, b2, b3 := (*[16]byte)(w0[4*i:]), (*[16]byte)(w1[4*i:]), (*[16]byte)(w2[4*i:]), (*[16]byte)(w3[4*i:])
		a0 = a0 + float(b0, 0)*v[0] + float(b0, 4)*v[1] + float(b0, 8)*v[2] + float(b0, 12)*v[3]
		a1 = a1 + float(b1, 0)*v[0] + float(b1, 4)*v[1] + float(b1, 8)*v[2] + float(b1, 12)*v[3]
		a2 = a2 + float(b2, 0)*v[0] + float(b2, 4)*v[1] + float(b2, 8)*v[2] + float(b2, 12)*v[3]
		a3 = a3 + float(b3, 0)*v[0] + float(b3, 4)*v[1] + float(b3, 8)*v[2] + float(b3, 12)*v[3]
	}
	*sum = [4]float32{a0, a1, a2, a3}
}

// float is the float at one of the first 13 bytes.
func float(b *[16]byte, at int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))
}
