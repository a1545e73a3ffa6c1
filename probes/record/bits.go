package record

import (
	"encoding/binary"
	"math/bits"
)

// A frame's body is a stream of bits, low bits first: bit i of the stream is bit
// i mod 8 of byte i/8, and a number of n bits begins with its lowest. Numbers
// without a fixed width are written in one of two codes:
//
//	Rice with parameter k   u ≥ 0: u>>k zeros, a one, the low k bits of u; when there
//	                        would be riceLimit zeros or more: riceLimit zeros and an outlier
//	wide                    n ≥ 1: Elias' delta code
const (
	riceLimit = 12
	maxRice   = 40 // riceLimit + 1 + maxRice bits are read at once
)

// bitWriter appends bits to b.
type bitWriter struct {
	b   []byte
	acc uint64
	n   uint // bits in acc, below 8 after each call
}

// bits writes the low n ≤ 56 bits of v, which has no others.
func (w *bitWriter) bits(v uint64, n uint) {
	w.acc |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.acc))
		w.acc >>= 8
	}
}

// bit writes one bit.
func (w *bitWriter) bit(v bool) {
	if v {
		w.bits(1, 1)
	} else {
		w.bits(0, 1)
	}
}

// word writes 64 bits.
func (w *bitWriter) word(v uint64) {
	w.bits(v&(1<<32-1), 32)
	w.bits(v>>32, 32)
}

// wide writes n ≥ 1.
func (w *bitWriter) wide(n uint64) {
	length := uint(bits.Len64(n))
	z := uint(bits.Len(length)) - 1
	w.bits(1<<z, z+1)
	w.bits(uint64(length)&(1<<z-1), z)
	if length > 33 {
		w.bits(n&(1<<32-1), 32)
		n, length = n>>32, length-32
	}
	w.bits(n&(1<<(length-1)-1), length-1)
}

// rice writes u with parameter k; false: it is an outlier, which the caller goes on to write.
func (w *bitWriter) rice(u uint64, k uint) bool {
	q := u >> k
	if q >= riceLimit {
		w.bits(0, riceLimit)
		return false
	}
	w.bits(1<<q|(u&(1<<k-1))<<(q+1), uint(q)+1+k)
	return true
}

// text writes bytes.
func (w *bitWriter) text(s string) {
	for i := range len(s) {
		w.bits(uint64(s[i]), 8)
	}
}

// end fills the last byte with zeros and returns what was written.
func (w *bitWriter) end() []byte {
	if w.n > 0 {
		w.b = append(w.b, byte(w.acc))
	}
	w.acc, w.n = 0, 0
	return w.b
}

// bitReader reads what a bitWriter wrote, from bytes that cannot be trusted. After
// an error it yields zeros; the caller looks at err.
type bitReader struct {
	b   []byte
	at  int    // first byte of b that is not wholly in acc
	acc uint64 // the next bits; those above n are right as well, or zero
	n   uint   // bits that are certainly in acc
	err error
}

func (r *bitReader) fail() {
	r.b, r.at, r.acc, r.n = nil, 0, 0, 0
	if r.err == nil {
		r.err = errMalformed
	}
}

// fill makes acc hold 56 bits or more, or all there are.
func (r *bitReader) fill() {
	if rest := r.b[r.at:]; len(rest) >= 8 {
		r.acc |= binary.LittleEndian.Uint64(rest) << r.n
		r.at += int((63 - r.n) >> 3)
		r.n |= 56
		return
	}
	for ; r.n < 56 && r.at < len(r.b); r.at++ {
		r.acc |= uint64(r.b[r.at]) << r.n
		r.n += 8
	}
}

// bits reads n ≤ 56 bits.
func (r *bitReader) bits(n uint) uint64 {
	if r.n < n {
		if r.fill(); r.n < n {
			r.fail()
			return 0
		}
	}
	v := r.acc & (1<<n - 1)
	r.acc >>= n
	r.n -= n
	return v
}

func (r *bitReader) bit() bool { return r.bits(1) != 0 }

func (r *bitReader) word() uint64 { return r.bits(32) | r.bits(32)<<32 }

// left is how many bits there are, the padding of the last byte among them.
func (r *bitReader) left() int { return int(r.n) + 8*(len(r.b)-r.at) }

// wide reads n ≥ 1; 1 after an error.
func (r *bitReader) wide() uint64 {
	r.fill()
	z := uint(bits.TrailingZeros64(r.acc))
	if z > 6 {
		r.fail()
		return 1
	}
	r.bits(z + 1)
	length := uint(1<<z | r.bits(z))
	if length > 64 {
		r.fail()
		return 1
	}
	if length > 33 {
		low := r.bits(32)
		return low | (1<<(length-33)|r.bits(length-33))<<32
	}
	return 1<<(length-1) | r.bits(length-1)
}

// rice reads a number of parameter k; false: it is an outlier.
func (r *bitReader) rice(k uint) (uint64, bool) {
	r.fill()
	q := uint(bits.TrailingZeros64(r.acc | 1<<riceLimit))
	if q == riceLimit {
		r.bits(riceLimit)
		return 0, false
	}
	n := q + 1 + k
	if r.n < n {
		r.fail()
		return 0, true
	}
	u := uint64(q)<<k | (r.acc>>(q+1))&(1<<k-1)
	r.acc >>= n
	r.n -= n
	return u, true
}

// count reads a wide number less 1, at most limit.
func (r *bitReader) count(limit int) int {
	n := r.wide() - 1
	if n > uint64(max(limit, 0)) {
		r.fail()
		return 0
	}
	return int(n)
}

// text reads n bytes.
func (r *bitReader) text(n int) string {
	if n > r.left()/8 {
		r.fail()
		return ""
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.bits(8))
	}
	return string(out)
}
