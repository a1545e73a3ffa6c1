package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

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
	k := kindOf(t.typ) // readTensor lets no unknown one through
	n := uint64(t.cols)
	return n / uint64(k.weights) * uint64(k.bytes), n%uint64(k.weights) == 0
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
	return t, checkType(t.typ)
}

// locate cuts the tensor's bytes out of the data section.
func (t *tensor) locate(data []byte, align uint64) error {
	row, whole := t.rowBytes()
	if !whole {
		return fmt.Errorf("rows of %d weights do not fill blocks of %d", t.cols, kindOf(t.typ).weights)
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
