package record

import "math"

// v1Modes are the modes of version 1; the token of a float in one of them is a
// uvarint, in modeBits zigzag of the difference of the bits.
const v1Modes = 14

// Codes after token 0: a mode, or what follows.
const (
	v1EscapeBits   = 10 // 8 bytes, the value's bits
	v1EscapeAbsent = 16 // plus the Absence: an Opt without a value
	v1EscapeLast   = v1EscapeAbsent + 63
)

// float reads a float or opt-float that differs from ref.
func (c *cursor) float(ref number, mode uint8) number {
	token := c.uvarint()
	if token == 0 {
		return c.escape(true)
	}
	return number{bits: fromMode(toMode(ref.bits, mode)+unzigzag(token), mode)}
}

// int reads an integer that differs from ref.
func (c *cursor) int(ref number) number {
	token := c.uvarint()
	if token == 0 {
		return c.escape(false)
	}
	return number{bits: ref.bits + uint64(unzigzag(token))}
}

func (c *cursor) escape(float bool) number {
	code := c.byte()
	switch {
	case code >= v1EscapeAbsent && code <= v1EscapeLast:
		return number{absent: code - v1EscapeAbsent + 1}
	case code == v1EscapeBits:
		return number{bits: c.uint64()}
	case code < v1Modes && float:
		return number{bits: fromMode(c.varint(), code)}
	case code == 0:
		return number{bits: uint64(c.varint())}
	}
	c.fail()
	return number{}
}

// modes reads the runs of n columns.
func (c *cursor) modes(n int) []uint8 {
	out := make([]uint8, 0, n)
	for len(out) < n && c.err == nil {
		mode, run := c.byte(), c.count(n-len(out))
		if mode >= v1Modes || run == 0 {
			c.fail()
			break
		}
		for range run {
			out = append(out, mode)
		}
	}
	if len(out) < n {
		out = append(out, make([]uint8, n-len(out))...)
	}
	return out
}

// vectorMask is which values of a scrape moved in the frame before.
type vectorMask struct {
	schema int
	bits   []byte
}

// reference is the bits of what value i is written against: the value of the frame
// before, or without one the value beside it (buckets of a histogram are much alike).
func reference(values, ref []float64, i int) uint64 {
	switch {
	case ref != nil:
		return valueAt(ref, i)
	case i > 0:
		return valueAt(values, i-1)
	}
	return 0
}

// valueAt is the bits of value i, those of 0 beyond the end.
func valueAt(values []float64, i int) uint64 {
	if i >= len(values) {
		return 0
	}
	return math.Float64bits(values[i])
}
