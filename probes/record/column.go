package record

import (
	"math/bits"
)

// A column is one scalar of a table: a field of the structs at one place of the
// layout, or one series of a page. Its value is an integer m in the column's mode
// (number.go), of which the distance from a prediction is written.

// Predictors.
const (
	byBefore   = 0 // of numbers: m of the reference; of times: the clock
	byRise     = 1 // m of the reference, and the distance is never negative
	byTrend    = 2 // m of the reference (the clock) + the mean of the movements so far
	byZero     = 3 // nothing: m itself is written; it is never negative
	byNeighbor = 4 // of series: m of the reference + the movement of the series before; never below
	bySum      = 5 // of numbers: the sum of other fields; of times: the sample's less that sum, + the mean
	byTick     = 6 // of times: the sample's, + the mean of the distances so far
	byMean     = 7 // of numbers: the mean of m so far
	byShare    = 8 // of numbers: m of another field × the mean of their ratio so far
	predictors = 9
)

// spec is how a column is written in a group.
type spec struct {
	dense bool // in each row; otherwise only where it moved
	by    uint8
	mode  uint8
}

// column is a spec and what adapts while a group is written or read.
type column struct {
	spec
	level uint64 // 16 × the running mean of what is written
	trend int64  // 16 × the running mean of the movements, or 65536 × that of the ratio
}

// levelOf is the level of a column whose first Rice parameter is k.
func levelOf(k uint) uint64 { return 22 << k }

// rice is the parameter for the next number.
func (c *column) rice() uint { return uint(bits.Len64((c.level + 8) >> 5)) }

// adapt takes u into the level.
func (c *column) adapt(u uint64) { c.level += min(u, 1<<maxRice) - c.level>>4 }

// follow is the trend after a movement d.
func follow(trend, d int64) int64 {
	if trend == 0 {
		return d << 4
	}
	return trend + d - trend>>4
}

// followShare is the trend after m beside x, m of the other field.
func followShare(trend, m, x int64) int64 {
	switch {
	case x <= 0:
		return trend
	case trend == 0:
		return m << 16 / x
	}
	return trend + (m<<16/x-trend)>>4
}

// distance is how m is written, against base: what the predictor begins with (of
// byShare: m of the other field).
func (c *column) distance(m, base int64) uint64 {
	switch c.by {
	case byRise, byNeighbor:
		return uint64(m - base)
	case byZero:
		return uint64(m)
	case byTrend, byTick, bySum, byMean:
		d := m - base - c.trend>>4
		c.trend = follow(c.trend, m-base)
		return zigzag(d)
	case byShare:
		d := m - base*c.trend>>16
		c.trend = followShare(c.trend, m, base)
		return zigzag(d)
	}
	return zigzag(m - base)
}

// at is the reverse of distance.
func (c *column) at(u uint64, base int64) int64 {
	switch c.by {
	case byRise, byNeighbor:
		return base + int64(u)
	case byZero:
		return int64(u)
	case byTrend, byTick, bySum, byMean:
		m := base + c.trend>>4 + unzigzag(u)
		c.trend = follow(c.trend, m-base)
		return m
	case byShare:
		m := base*c.trend>>16 + unzigzag(u)
		c.trend = followShare(c.trend, m, base)
		return m
	}
	return base + unzigzag(u)
}

// put writes u.
func (w *bitWriter) put(c *column, u uint64, dense bool) {
	if dense {
		ok := w.rice(u, c.rice())
		c.adapt(u)
		if ok {
			return
		}
	}
	w.wide(u + 2)
}

// maxDistance is what put can write; what is beyond is escaped.
const maxDistance = 1<<64 - 3

// escape writes that what follows is written in another way.
func (w *bitWriter) escape(dense bool) {
	if dense {
		w.bits(0, riceLimit)
	}
	w.wide(1)
}

// get reads u; false: it is escaped.
func (r *bitReader) get(c *column, dense bool) (uint64, bool) {
	if dense {
		if r.n < riceLimit+1+maxRice {
			r.fill()
		}
		k, q := c.rice(), uint(bits.TrailingZeros64(r.acc|1<<riceLimit))
		if n := q + 1 + k; q < riceLimit && n <= r.n { // r.rice(k), which takes longer
			u := uint64(q)<<k | r.acc>>(q+1)&(1<<k-1)
			r.acc >>= n
			r.n -= n
			c.adapt(u)
			return u, true
		}
		if _, ok := r.rice(k); ok {
			return 0, true // beyond the end
		}
	}
	n := r.wide()
	if n == 1 {
		return 0, false
	}
	if dense {
		c.adapt(n - 2)
	}
	return n - 2, true
}

// code is a spec as a number.
func (s spec) code() uint64 {
	n := uint64(s.by)<<1 | uint64(s.mode)<<5
	if s.dense {
		n |= 1
	}
	return n
}

// allowed reports whether a column of a page, or of structs, may be written so.
func (s spec) allowed(page bool) bool {
	switch {
	case s.mode == 14 || s.mode == 15 || s.by >= predictors:
		return false
	case s.by == byNeighbor:
		return page
	case page && (s.by == bySum || s.by == byTick || s.by == byShare):
		return false
	}
	return s.dense || s.by == byBefore
}

// specs writes how the table's columns are written: runs of equal specs, each as
// what differs from the run before, and then the first Rice parameter of each
// dense column, against the dense column before it.
func (w *bitWriter) specs(t *table) {
	var last uint64
	for i := 0; i < len(t.columns); {
		code, j := t.columns[i].code(), i
		for j < len(t.columns) && t.columns[j].code() == code {
			j++
		}
		w.wide(code ^ last + 1)
		w.wide(uint64(j - i))
		i, last = j, code
	}
	var k uint
	for i := range t.columns {
		if !t.columns[i].dense {
			continue
		}
		next := t.columns[i].rice()
		w.wide(zigzag(int64(next)-int64(k)) + 1)
		k = next
	}
}

// specs reads the specs of n columns.
func (r *bitReader) specs(t *table) {
	var code uint64
	for i := 0; i < len(t.columns); {
		code ^= r.wide() - 1
		run := r.wide()
		s := spec{dense: code&1 != 0, by: uint8(code >> 1 & 15), mode: uint8(code >> 5)}
		if r.err != nil || code >= modeLimit<<5 || !s.allowed(t.plan == nil) || run > uint64(len(t.columns)-i) {
			r.fail()
			break
		}
		for ; run > 0; run-- {
			t.columns[i] = column{spec: s}
			i++
		}
	}
	t.split()
	var k int64
	for i := range t.columns {
		if !t.columns[i].dense {
			continue
		}
		if k += unzigzag(r.wide() - 1); k < 0 || k > maxRice {
			r.fail()
			return
		}
		t.columns[i].level = levelOf(uint(k))
	}
}
