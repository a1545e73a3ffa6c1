package dcgm

import (
	"math"

	"llmtop/probes"
)

// DCGM says why it has no value in the value itself (dcgm_structs.h): of each of three
// types a blank, then "not found", "not supported" and "no permission". Exporters leave
// them out; older ones do not.
const (
	blank32 = 0x7ffffff0
	blank64 = 0x7ffffffffffffff0
	blankFP = 140737488355328
)

// value is what a series says, before its unit is considered. Only the blanks themselves
// are blank: a counter of nanoseconds is beyond the smallest of them after two seconds,
// and beyond that of floats after 39 hours.
func value(v float64) probes.Opt[float64] {
	switch v {
	case blank32, blank32 + 1, blankFP, blankFP + 1:
		return probes.None[float64](probes.NotExposed)
	case blank32 + 2, blankFP + 2:
		return probes.None[float64](probes.Unsupported)
	case blank32 + 3, blankFP + 3:
		return probes.None[float64](probes.NoPermission)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) || v >= blank64 { // as a float the four of 64 bits are one
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(v)
}

// ratio is a reading between 0 and 1. What is a little more is measured so, over unequal
// times; what is much more (which MIG instances have been seen to give) is none.
func ratio(v probes.Opt[float64]) probes.Opt[float64] {
	x, ok := v.Get()
	switch {
	case !ok:
		return v
	case !(x >= 0 && x <= 1.1):
		return probes.None[float64](probes.NotSeen)
	}
	return probes.Some(min(x, 1))
}

// scaled is the reading in another unit.
func scaled(v probes.Opt[float64], by float64) probes.Opt[float64] {
	x, ok := v.Get()
	if !ok {
		return v
	}
	return probes.Some(x * by)
}

// whole is a reading that is a count or a set of bits.
func whole(v probes.Opt[float64]) probes.Opt[uint64] {
	x, ok := v.Get()
	switch {
	case !ok:
		return probes.None[uint64](v.Why())
	case x < 0 || x != math.Trunc(x):
		return probes.None[uint64](probes.NotSeen)
	}
	return probes.Some(uint64(x))
}

// sum adds up the readings that there are; none is there when none of them is.
func sum(readings ...probes.Opt[float64]) probes.Opt[float64] {
	out := readings[0]
	for _, v := range readings[1:] {
		if x, ok := v.Get(); ok {
			out = probes.Some(out.Or(0) + x)
		}
	}
	return out
}
