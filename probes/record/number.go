package record

import (
	"math"
	"math/bits"
)

// A number is written as the distance of an integer m from its prediction, in the
// column's mode. Readings are mostly integers or decimals with few places, often
// of a larger unit, and those differ by small integers once scaled; only the rest
// needs its bits.
//
//	mode 0–9    value = m / 10^mode
//	mode 10     m is the IEEE 754 bits
//	mode 11–13  value = m × 1000, × 1,000,000, × 1024
//	mode 16+e   value = m / 2^e: sums of differences of a clock that is itself a double
const (
	modeBits     = 10
	modeThousand = 11
	modeMillion  = 12
	modeKibi     = 13
	modeBinary   = 16
	maxBinary    = 63
	modeLimit    = modeBinary + maxBinary + 1
)

var (
	pow10 = [modeBits]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}
	units = [modeBinary]float64{modeThousand: 1e3, modeMillion: 1e6, modeKibi: 1024, 14: 1, 15: 1}

	// narrowest first: what fits a mode fits those after it, near enough
	modeOrder = [...]uint8{modeMillion, modeThousand, modeKibi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
)

// number is a scalar's value: IEEE bits of a float, or an integer's bits.
type number struct {
	bits   uint64
	absent uint8 // 0 when there is a value, else 1 + Absence
}

// maxAbsence is the highest Absence that can be written.
const maxAbsence = 63

// toMode is scaled, 0 when there is none.
func toMode(bits uint64, mode uint8) int64 {
	if v := math.Float64frombits(bits); mode == 0 {
		if m := int64(v); float64(m) == v && fitsMode(m) {
			return m
		}
		return 0
	}
	m, _ := scaled(bits, mode)
	return m
}

// fitsMode reports whether m is within ±2^53, what a double holds of integers.
func fitsMode(m int64) bool { return uint64(m+1<<53) <= 1<<54 }

// scaled returns m for which fromMode gives back the float with these bits exactly;
// ok is false, m 0, when there is none with |m| ≤ 2^53.
func scaled(bits uint64, mode uint8) (m int64, ok bool) {
	v := math.Float64frombits(bits)
	var x, back float64
	switch {
	case mode == 0:
		if m = int64(v); float64(m) == v && fitsMode(m) && (m != 0 || bits == 0) {
			return m, true
		}
		return 0, false
	case mode < modeBits:
		x = math.RoundToEven(v * pow10[mode])
		back = x / pow10[mode]
	case mode == modeBits:
		return int64(bits), true
	case mode >= modeBinary:
		unit := power2(mode)
		x = math.RoundToEven(v * unit)
		back = x / unit
	default:
		x = math.RoundToEven(v / units[mode])
		back = x * units[mode]
	}
	if !(math.Abs(x) <= 1<<53) || back != v || (x == 0 && bits != 0) {
		return 0, false
	}
	return int64(x), true
}

// fromMode is the bits of the float that m stands for.
func fromMode(m int64, mode uint8) uint64 {
	switch {
	case mode == 0:
		return math.Float64bits(float64(m))
	case mode < modeBits:
		return math.Float64bits(float64(m) / pow10[mode])
	case mode == modeBits:
		return uint64(m)
	case mode >= modeBinary:
		return math.Float64bits(float64(m) / power2(mode))
	}
	return math.Float64bits(float64(m) * units[mode])
}

// power2 is 2^e of a binary mode.
func power2(mode uint8) float64 { return math.Float64frombits(uint64(1023+int(mode)-modeBinary) << 52) }

// modeOf is the narrowest mode that holds the float with these bits.
func modeOf(bits uint64) uint8 {
	v := math.Float64frombits(bits)
	if m, ok := scaled(bits, 0); ok {
		return unitOf(m)
	}
	if math.Abs(v) < 1e6 { // below this, what has no 9 places has no fewer either
		if _, ok := scaled(bits, 9); !ok {
			return binaryOf(bits)
		}
	}
	for mode := uint8(1); mode < modeBits; mode++ {
		if _, ok := scaled(bits, mode); ok {
			return mode
		}
	}
	return binaryOf(bits)
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

// binaryOf is the binary mode of a float that is no decimal, modeBits when it has none.
func binaryOf(b uint64) uint8 {
	exponent := int(b>>52&0x7ff) - 1023
	e := 52 - exponent - bits.TrailingZeros64(b|1<<52) // value = odd integer / 2^e
	if e < 1 || e > maxBinary || exponent == -1023 {
		return modeBits
	}
	return modeBinary + uint8(e)
}
