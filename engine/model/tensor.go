package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// blockLen is the number of weights that share a scale in Q8_0 and Q4_0.
const blockLen = 32

// Tensor types of GGML that this package computes with.
const (
	tensorF32  = 0
	tensorF16  = 1
	tensorQ4_0 = 2
	tensorQ8_0 = 8
)

// otherTypes names those it does not, for the error message.
var otherTypes = map[uint32]string{3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K",
	16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 30: "BF16", 39: "MXFP4"}

// tensor is rows x cols weights of one type; data is exactly their bytes. A vector
// has one row.
type tensor struct {
	name       string
	typ        uint32
	rows, cols int
	dims       int
	offset     uint64
	data       []byte
}

// rowBytes is the size of one row, false when cols do not fill whole blocks.
func (t *tensor) rowBytes() (uint64, bool) {
	n := uint64(t.cols)
	switch t.typ {
	case tensorF32:
		return n * 4, true
	case tensorF16:
		return n * 2, true
	case tensorQ4_0:
		return n / blockLen * 18, n%blockLen == 0
	default: // tensorQ8_0: readTensor lets no other through
		return n / blockLen * 34, n%blockLen == 0
	}
}

// readTensors reads the table of tensors and gives each its part of the data.
func readTensors(r *reader, n, align int) (map[string]tensor, error) {
	list := make([]tensor, 0, min(n, (len(r.data)-r.pos)/24+1))
	for i := range n {
		t, err := readTensor(r)
		if err != nil {
			return nil, fmt.Errorf("tensor %d of %d (%s): %w", i+1, n, printable(t.name), err)
		}
		list = append(list, t)
	}
	base := min((r.pos+align-1)/align*align, len(r.data))
	for i := range list {
		if err := list[i].locate(r.data[base:], uint64(align)); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", printable(list[i].name), err)
		}
	}
	return index(list)
}

// readTensor reads one entry of the table.
func readTensor(r *reader) (tensor, error) {
	t := tensor{name: r.str(maxName)}
	dims := r.u32()
	if r.err == nil && (dims == 0 || dims > maxDims) {
		return t, fmt.Errorf("%d dimensions", dims)
	}
	t.dims, t.cols, t.rows = int(dims), 1, 1
	for i := range int(dims) {
		n := r.u64()
		if r.err == nil && (n == 0 || n > math.MaxInt32) {
			return t, fmt.Errorf("a dimension of %d", n)
		}
		if i == 0 {
			t.cols = int(n)
			continue
		}
		hi, rows := bits.Mul64(uint64(t.rows), n)
		if hi != 0 || rows > math.MaxInt32 {
			return t, errors.New("dimensions overflow")
		}
		t.rows = int(rows)
	}
	t.typ, t.offset = r.u32(), r.u64()
	if r.err != nil {
		return t, r.err
	}
	return t, t.checkType()
}

func (t *tensor) checkType() error {
	switch t.typ {
	case tensorF32, tensorF16, tensorQ4_0, tensorQ8_0:
		return nil
	}
	name, known := otherTypes[t.typ]
	if !known {
		name = fmt.Sprint(t.typ)
	}
	return fmt.Errorf("type %s is not supported (F32, F16, Q8_0 and Q4_0 are)", name)
}

// locate cuts the tensor's bytes out of the data section.
func (t *tensor) locate(data []byte, align uint64) error {
	row, whole := t.rowBytes()
	if !whole {
		return fmt.Errorf("rows of %d weights do not fill blocks of %d", t.cols, blockLen)
	}
	if t.offset%align != 0 {
		return fmt.Errorf("offset %d is not a multiple of %d", t.offset, align)
	}
	size := row * uint64(t.rows) // < 2^33 * 2^31
	if t.offset > uint64(len(data)) || size > uint64(len(data))-t.offset {
		return fmt.Errorf("%w (needs %d bytes at offset %d, the data section has %d)", errTruncated, size, t.offset, len(data))
	}
	t.data = data[t.offset : t.offset+size : t.offset+size]
	return nil
}

// index maps names to tensors and refuses doubles and overlaps: sharing bytes would
// let a small file claim any amount of memory.
func index(list []tensor) (map[string]tensor, error) {
	slices.SortFunc(list, func(a, b tensor) int { return cmp.Compare(a.offset, b.offset) })
	m := make(map[string]tensor, len(list))
	for i, t := range list {
		if _, twice := m[t.name]; twice {
			return nil, fmt.Errorf("tensor %s appears twice", printable(t.name))
		}
		if i > 0 && list[i-1].offset+uint64(len(list[i-1].data)) > t.offset {
			return nil, fmt.Errorf("tensors %s and %s overlap", printable(list[i-1].name), printable(t.name))
		}
		m[t.name] = t
	}
	return m, nil
}
