package record

import (
	"encoding/binary"
	"math"
)

// A number is written as a token: the difference from its reference in the
// column's mode. Readings are mostly integers or decimals with few places, often
// of a larger unit, and those differ by small integers once scaled; only the rest
// needs its bits.
//
//	mode 0–9    value = m / 10^mode with an integer m; the token is zigzag(m − reference m)
//	mode 10     the token is zigzag of the difference of the IEEE 754 bits
//	mode 11–13  value = m × 1000, × 1,000,000, × 1024
//
// Token 0 is an escape: a code follows, then what the code says.
const (
	modeBits     = 10
	modeThousand = 11
	modeMillion  = 12
	modeKibi     = 13
	modeCount    = 14

	escapeBits   = 10 // 8 bytes, the value's bits; the code of another mode: varint m in that mode
	escapeAbsent = 16 // plus the Absence: an Opt without a value
	escapeLast   = escapeAbsent + 63
)

var (
	pow10 = [modeBits]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}
	units = [modeCount]float64{modeThousand: 1e3, modeMillion: 1e6, modeKibi: 1024}

	// narrowest first: what fits a mode fits those after it, near enough
	modeOrder = [modeCount]uint8{modeMillion, modeThousand, modeKibi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, modeBits}
)

// number is a slot's value: IEEE bits of a float, or an integer's bits.
type number struct {
	bits   uint64
	absent uint8 // 0 when there is a value, else 1 + Absence
}

// scaled returns m with v == m/10^mode (or m × the mode's unit) exactly; ok is
// false, m 0, when there is none.
func scaled(v float64, mode uint8) (m int64, ok bool) {
	var x, back float64
	if mode < modeBits {
		x = math.RoundToEven(v * pow10[mode])
		back = x / pow10[mode]
	} else {
		x = math.RoundToEven(v / units[mode])
		back = x * units[mode]
	}
	if !(math.Abs(x) <= 1<<53) || back != v || (x == 0 && math.Signbit(v)) {
		return 0, false
	}
	return int64(x), true
}

func fromScaled(m int64, mode uint8) number {
	if mode < modeBits {
		return number{bits: math.Float64bits(float64(m) / pow10[mode])}
	}
	return number{bits: math.Float64bits(float64(m) * units[mode])}
}

// modeOf is the narrowest mode that holds v.
func modeOf(v float64) uint8 {
	if _, ok := scaled(v, 0); ok {
		return unitOf(int64(v))
	}
	if math.Abs(v) < 1e6 { // below this, what has no 9 places has no fewer either
		if _, ok := scaled(v, 9); !ok {
			return modeBits
		}
	}
	for mode := uint8(1); mode < modeBits; mode++ {
		if _, ok := scaled(v, mode); ok {
			return mode
		}
	}
	return modeBits
}

func unitOf(m int64) uint8 {
	switch {
	case m == 0:
		return 0
	case m%1e6 == 0:
		return modeMillion
	case m%1e3 == 0:
		return modeThousand
	case m%1024 == 0:
		return modeKibi
	}
	return 0
}

// appendFloat appends the token of a float that differs from ref.
func appendFloat(b []byte, v, ref number, mode uint8) []byte {
	if v.absent != 0 {
		return append(b, 0, escapeAbsent+v.absent-1)
	}
	value := math.Float64frombits(v.bits)
	if mode == modeBits {
		if d := int64(v.bits - ref.bits); d != 0 {
			return appendVarint(b, d)
		}
	} else if m, ok := scaled(value, mode); ok {
		r, _ := scaled(math.Float64frombits(ref.bits), mode)
		if m != r {
			return appendVarint(b, m-r)
		}
	}
	own := modeOf(value)
	b = append(b, 0, own)
	if own == modeBits {
		return binary.LittleEndian.AppendUint64(b, v.bits)
	}
	m, _ := scaled(value, own)
	return appendVarint(b, m)
}

// float reads what appendFloat wrote.
func (c *cursor) float(ref number, mode uint8) number {
	token := c.uvarint()
	if token == 0 {
		return c.escape(true)
	}
	if mode == modeBits {
		return number{bits: ref.bits + uint64(unzigzag(token))}
	}
	r, _ := scaled(math.Float64frombits(ref.bits), mode)
	return fromScaled(r+unzigzag(token), mode)
}

// appendInt appends the token of an integer that differs from ref.
func appendInt(b []byte, v, ref number) []byte {
	if v.absent != 0 {
		return append(b, 0, escapeAbsent+v.absent-1)
	}
	if d := int64(v.bits - ref.bits); d != 0 {
		return appendVarint(b, d)
	}
	return appendVarint(append(b, 0, 0), int64(v.bits))
}

// int reads what appendInt wrote.
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
	case code >= escapeAbsent && code <= escapeLast:
		return number{absent: code - escapeAbsent + 1}
	case code == escapeBits:
		return number{bits: c.uint64()}
	case code < modeCount && float:
		return fromScaled(c.varint(), code)
	case code == 0:
		return number{bits: uint64(c.varint())}
	}
	c.fail()
	return number{}
}

// modeTable chooses the mode of each column for the next group from some of the
// values seen in the group before.
type modeTable struct {
	modes []uint8
	seen  []columnModes
}

type columnModes struct {
	values uint32
	held   [modeCount]uint32 // how many of the values looked at have this as their narrowest mode
}

// lookEvery is how many values of a column pass for one that is looked at.
const lookEvery = 4

func newModeTable(n int) *modeTable {
	return &modeTable{modes: make([]uint8, n), seen: make([]columnModes, n)}
}

func (t *modeTable) note(column int, v float64) {
	c := &t.seen[column]
	if c.values++; c.values%lookEvery == 1 {
		c.held[modeOf(v)]++
	}
}

// choose sets each column that had values to the narrowest mode that holds three
// quarters of them, and forgets them.
func (t *modeTable) choose() {
	for i := range t.seen {
		c := &t.seen[i]
		if c.values == 0 {
			continue
		}
		var total, held int
		for _, n := range c.held {
			total += int(n)
		}
		for _, mode := range modeOrder {
			if held += int(c.held[mode]); total > 0 && 4*held >= 3*total {
				t.modes[i] = mode
				break
			}
		}
		*c = columnModes{}
	}
}

// appendModes appends modes as runs: mode, how many columns.
func appendModes(b []byte, modes []uint8) []byte {
	for i := 0; i < len(modes); {
		j := i
		for j < len(modes) && modes[j] == modes[i] {
			j++
		}
		b = binary.AppendUvarint(append(b, modes[i]), uint64(j-i))
		i = j
	}
	return b
}

// modes reads the runs of n columns.
func (c *cursor) modes(n int) []uint8 {
	out := make([]uint8, 0, n)
	for len(out) < n && c.err == nil {
		mode, run := c.byte(), c.count(n-len(out))
		if mode >= modeCount || run == 0 {
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
