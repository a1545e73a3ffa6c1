package model

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Text is a string of the metadata, and whether the file has it.
func (f *File) Text(key string) (string, bool) {
	v, ok := f.meta[key]
	if !ok || v.typ != typeString {
		return "", false
	}
	return string(v.raw), true
}

// integer reads a number of any integer type as int64.
func (v value) integer() (int64, bool) {
	switch v.typ {
	case typeU8, typeBool:
		return int64(v.raw[0]), true
	case typeI8:
		return int64(int8(v.raw[0])), true
	case typeU16:
		return int64(binary.LittleEndian.Uint16(v.raw)), true
	case typeI16:
		return int64(int16(binary.LittleEndian.Uint16(v.raw))), true
	case typeU32:
		return int64(binary.LittleEndian.Uint32(v.raw)), true
	case typeI32:
		return int64(int32(binary.LittleEndian.Uint32(v.raw))), true
	case typeU64, typeI64:
		n := int64(binary.LittleEndian.Uint64(v.raw))
		return n, n >= 0 || v.typ == typeI64
	}
	return 0, false
}

// uint is a count of the metadata, from 0 to 2^31-1; missing when the key is absent.
func (f *File) uint(key string, missing int) (int, error) {
	v, ok := f.meta[key]
	if !ok {
		return missing, nil
	}
	n, ok := v.integer()
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("metadata %s is not a number from 0 to 2^31-1", key)
	}
	return int(n), nil
}

// float is a finite number of the metadata; missing when the key is absent.
func (f *File) float(key string, missing float64) (float64, error) {
	v, ok := f.meta[key]
	if !ok {
		return missing, nil
	}
	var x float64
	switch v.typ {
	case typeF32:
		x = float64(math.Float32frombits(binary.LittleEndian.Uint32(v.raw)))
	case typeF64:
		x = math.Float64frombits(binary.LittleEndian.Uint64(v.raw))
	default:
		return 0, fmt.Errorf("metadata %s is not a float", key)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("metadata %s is not finite", key)
	}
	return x, nil
}

// flag is a bool of the metadata; missing when the key is absent.
func (f *File) flag(key string, missing bool) (bool, error) {
	v, ok := f.meta[key]
	if !ok {
		return missing, nil
	}
	if v.typ != typeBool {
		return false, fmt.Errorf("metadata %s is not a bool", key)
	}
	return v.raw[0] != 0, nil
}

// strings is an array of strings.
func (f *File) strings(key string) ([]string, error) {
	v, ok := f.meta[key]
	if !ok || v.typ != typeArray || v.elem != typeString {
		return nil, fmt.Errorf("metadata has no array of strings %s", key)
	}
	r := reader{data: v.raw}
	list := make([]string, v.count)
	for i := range list {
		list[i] = string(r.take(r.u64()))
	}
	return list, r.err
}

// words is an array of 4-byte numbers of one of two types.
func (f *File) words(key string, a, b uint32) ([]uint32, error) {
	v, ok := f.meta[key]
	if !ok || v.typ != typeArray || v.elem != a && v.elem != b {
		return nil, fmt.Errorf("metadata has no array of 4-byte numbers %s", key)
	}
	list := make([]uint32, v.count)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(v.raw[4*i:])
	}
	return list, nil
}

// scores is the array of token scores.
func (f *File) scores() ([]float32, error) {
	words, err := f.words("tokenizer.ggml.scores", typeF32, typeF32)
	if err != nil {
		return nil, err
	}
	list := make([]float32, len(words))
	for i, w := range words {
		list[i] = math.Float32frombits(w)
	}
	return list, nil
}
