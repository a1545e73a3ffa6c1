package model

import (
	"encoding/binary"
	"fmt"
	"math"
)

// matrix is rows x cols weights. mul computes rows lo to hi of the product with
// every token into out[token][row].
type matrix interface {
	shape() (rows, cols int)
	quantised() bool // whether mul reads the quantised activations
	copyRow(i int, into []float32)
	mul(in *activations, out []float32, lo, hi int)
}

// tile is the number of rows that stay in the first-level cache while all tokens
// pass: weights come from memory once a step.
const tile = 16

// newMatrix unpacks a tensor. Q4_0 becomes Q8_0 and F16 becomes F32, both exactly.
func newMatrix(t tensor) matrix {
	switch t.typ {
	case tensorQ8_0, tensorQ4_0:
		return newQ8(t)
	default:
		return &f32Matrix{t.rows, t.cols, floats(t)}
	}
}

// f32Matrix holds floats row by row.
type f32Matrix struct {
	rows, cols int
	w          []float32
}

func (m *f32Matrix) shape() (rows, cols int)       { return m.rows, m.cols }
func (m *f32Matrix) quantised() bool               { return false }
func (m *f32Matrix) row(i int) []float32           { return m.w[i*m.cols : (i+1)*m.cols] }
func (m *f32Matrix) copyRow(i int, into []float32) { copy(into, m.row(i)) }

func (m *f32Matrix) mul(in *activations, out []float32, lo, hi int) {
	for ; lo+3 < hi; lo += 4 {
		t := 0
		for ; t+1 < in.n; t += 2 {
			a, b := dotF32Rows4Tokens2(m.row(lo), m.row(lo+1), m.row(lo+2), m.row(lo+3), in.row(t), in.row(t+1))
			copy(out[t*m.rows+lo:], a[:])
			copy(out[(t+1)*m.rows+lo:], b[:])
		}
		for ; t < in.n; t++ {
			m.mulPlain(in, t, out, lo, lo+4)
		}
	}
	for t := range in.n {
		m.mulPlain(in, t, out, lo, hi)
	}
}

func (m *f32Matrix) mulPlain(in *activations, t int, out []float32, lo, hi int) {
	for r := lo; r < hi; r++ {
		out[t*m.rows+r] = dotF32(m.row(r), in.row(t))
	}
}

// floats is the values of an F32 or F16 tensor.
func floats(t tensor) []float32 {
	x := make([]float32, t.rows*t.cols)
	for i := range x {
		if t.typ == tensorF16 {
			x[i] = half(binary.LittleEndian.Uint16(t.data[2*i:]))
			continue
		}
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
	}
	return x
}

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

// vector reads a tensor of n floats.
func (f *File) vector(name string, n int) ([]float32, error) {
	t, ok := f.tensors[name]
	if !ok {
		return nil, fmt.Errorf("tensor %s is missing", name)
	}
	if t.typ != tensorF32 && t.typ != tensorF16 || t.rows != 1 || t.cols != n {
		return nil, fmt.Errorf("tensor %s is not a vector of %d floats", name, n)
	}
	return floats(t), nil
}

// matrix reads a tensor of rows x cols weights.
func (f *File) matrix(name string, rows, cols int) (matrix, error) {
	t, ok := f.tensors[name]
	if !ok {
		return nil, fmt.Errorf("tensor %s is missing", name)
	}
	if t.rows != rows || t.cols != cols || t.dims > 2 {
		return nil, fmt.Errorf("tensor %s has %d rows of %d, the configuration wants %d of %d", name, t.rows, t.cols, rows, cols)
	}
	return newMatrix(t), nil
}
