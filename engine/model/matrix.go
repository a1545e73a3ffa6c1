package model

import "fmt"

// matrix is rows x cols weights. mul computes rows lo to hi of the product with
// every token into out[token][row]. A kernel for some machine takes a type over by
// being what newMatrix returns for it.
type matrix interface {
	shape() (rows, cols int)
	quantised() bool // whether mul reads the quantised activations
	bytes() int64    // memory held, mapped bytes of the file included
	copyRow(i int, into []float32)
	mul(in *activations, out []float32, lo, hi int)
}

// tile is the number of rows that are unpacked and then multiplied with all tokens:
// weights are read from memory and unpacked once a step. Sixteen rows of a span fit the
// first-level cache beside the activations.
const tile = 16

// span is the number of weights of a row unpacked at a time, a super-block of a K-type.
const span = 256

// newMatrix makes the products of a tensor computable. Weights stay as they lie in the
// file, which keeps memory at its size, and a tile of them at a time is unpacked.
func newMatrix(t tensor) matrix {
	switch t.typ {
	case tensorF32, tensorF16, tensorBF16:
		return &floatMatrix{t}
	default:
		return &blockMatrix{t, t.cols / blockLen}
	}
}

// vector reads a tensor of n floats.
func (f *File) vector(name string, n int) ([]float32, error) {
	t, ok := f.tensors[name]
	if !ok {
		return nil, fmt.Errorf("tensor %s is missing", name)
	}
	if kindOf(t.typ).weights != 1 || t.rows != 1 || t.cols != n {
		return nil, fmt.Errorf("tensor %s is not a vector of %d floats", name, n)
	}
	if err := t.checkFinite(); err != nil {
		return nil, err
	}
	x := make([]float32, n)
	widen(t.typ, t.data, x)
	return x, nil
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
	if err := t.checkFinite(); err != nil {
		return nil, err
	}
	return newMatrix(t), nil
}

// clearRows zeroes rows lo to hi of every token, where sums are about to collect.
func clearRows(out []float32, rows, tokens, lo, hi int) {
	for t := range tokens {
		clear(out[t*rows+lo : t*rows+hi])
	}
}
