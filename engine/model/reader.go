package model

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errTruncated = errors.New("truncated: the file ends too early")

// Value types of GGUF metadata.
const (
	typeU8 = iota
	typeI8
	typeU16
	typeI16
	typeU32
	typeI32
	typeF32
	typeBool
	typeString
	typeArray
	typeU64
	typeI64
	typeF64
)

// width is the bytes of one value of each type of fixed size.
var width = [...]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

// value is one metadata value, still as bytes. For an array, elem is the type of
// its count elements.
type value struct {
	typ, elem uint32
	count     int
	raw       []byte
}

// reader walks over untrusted bytes. The first error sticks and every later read
// gives zero.
type reader struct {
	data []byte
	pos  int
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// take returns the next n bytes, nil when they are not there.
func (r *reader) take(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.data)-r.pos) {
		r.fail(errTruncated)
		return nil
	}
	b := r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// str reads a length and that many bytes.
func (r *reader) str(limit uint64) string {
	n := r.u64()
	if r.err == nil && n > limit {
		r.fail(fmt.Errorf("a name of %d bytes", n))
	}
	return string(r.take(n))
}

// value reads a type and a value of it.
func (r *reader) value() value {
	v := value{typ: r.u32()}
	start := r.pos
	switch {
	case r.err != nil:
	case v.typ == typeString:
		v.raw = r.take(r.u64())
		return v
	case v.typ == typeArray:
		v.elem, v.count = r.array(0)
		start += 12
	case int(v.typ) < len(width):
		r.take(uint64(width[v.typ]))
	default:
		r.fail(fmt.Errorf("unknown value type %d", v.typ))
	}
	if r.err == nil {
		v.raw = r.data[start:r.pos]
	}
	return v
}

// array walks over an array, checking that all of it is there.
func (r *reader) array(depth int) (elem uint32, count int) {
	elem, n := r.u32(), r.u64()
	if r.err != nil {
		return 0, 0
	}
	if depth == maxNesting {
		r.fail(errors.New("arrays nested too deep"))
		return 0, 0
	}
	if n > uint64(len(r.data)-r.pos) { // every element takes at least a byte
		r.fail(errTruncated)
		return 0, 0
	}
	count = int(n)
	switch {
	case elem == typeString:
		for i := 0; i < count && r.err == nil; i++ {
			r.take(r.u64())
		}
	case elem == typeArray:
		for i := 0; i < count && r.err == nil; i++ {
			r.array(depth + 1)
		}
	case int(elem) < len(width):
		r.take(n * uint64(width[elem]))
	default:
		r.fail(fmt.Errorf("unknown array element type %d", elem))
	}
	return elem, count
}
