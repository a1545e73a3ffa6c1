package record

import (
	"encoding/binary"
	"errors"
)

var errMalformed = errors.New("malformed record")

// cursor reads a payload that cannot be trusted. After an error it yields
// zeros; the caller looks at err once at the end.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) fail() {
	c.b = nil
	if c.err == nil {
		c.err = errMalformed
	}
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.fail()
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail()
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) varint() int64 { return unzigzag(c.uvarint()) }

// count reads a number of things of which each takes at least perByte⁻¹ bytes
// of what is left; more than limit is malformed.
func (c *cursor) count(limit int) int {
	v := c.uvarint()
	if v > uint64(limit) {
		c.fail()
		return 0
	}
	return int(v)
}

func (c *cursor) uint64() uint64 {
	p := c.take(8)
	if p == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(p)
}

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func appendVarint(b []byte, v int64) []byte { return binary.AppendUvarint(b, zigzag(v)) }
