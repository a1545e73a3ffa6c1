package record

import (
	"math"
	"reflect"

	"llmtop/probes"
)

// numberOf is the value of a scalar that is a number.
func numberOf(s *slot, v reflect.Value) number {
	switch s.Kind {
	case kindFloat:
		return number{bits: math.Float64bits(v.Float())}
	case kindOptFloat:
		o := v.Addr().Interface().(*probes.Opt[float64])
		if f, ok := o.Get(); ok {
			return number{bits: math.Float64bits(f)}
		}
		return absent(o.Why())
	case kindOptUint:
		o := v.Addr().Interface().(*probes.Opt[uint64])
		if u, ok := o.Get(); ok {
			return number{bits: u}
		}
		return absent(o.Why())
	case kindBool:
		if v.Bool() {
			return number{bits: 1}
		}
	case kindInt:
		return number{bits: uint64(v.Int())}
	case kindUint:
		return number{bits: v.Uint()}
	}
	return number{}
}

// setNumber is the reverse of numberOf. An integer too wide for its field here is cut.
func setNumber(s *slot, v reflect.Value, n number) {
	switch s.Kind {
	case kindFloat:
		v.SetFloat(math.Float64frombits(n.bits))
	case kindOptFloat:
		o := v.Addr().Interface().(*probes.Opt[float64])
		if *o = probes.None[float64](probes.Absence(n.absent - 1)); n.absent == 0 {
			*o = probes.Some(math.Float64frombits(n.bits))
		}
	case kindOptUint:
		o := v.Addr().Interface().(*probes.Opt[uint64])
		if *o = probes.None[uint64](probes.Absence(n.absent - 1)); n.absent == 0 {
			*o = probes.Some(n.bits)
		}
	case kindBool:
		v.SetBool(n.bits != 0)
	case kindInt:
		v.SetInt(int64(n.bits))
	case kindUint:
		v.SetUint(n.bits)
	}
}
