//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// question is what a driver function was asked about: which clock, which link, which field
// of which scope.
type question struct {
	symbol    string
	of, scope uint32
}

// refusals are the questions to which a device answered that it, or its driver, has no such
// thing. They are not asked again for refusalsHold: most devices lack a good part of what
// NVML can tell, and each question is a call into the driver. Other errors are not kept.
type refusals struct {
	since time.Time
	to    map[question]nvml.Return
}

// refusalsHold is short enough to see that a device was switched to another mode.
const refusalsHold = time.Minute

// at forgets what is too old and returns what is left.
func (f *refusals) at(now time.Time) map[question]nvml.Return {
	if f.to == nil || now.Sub(f.since) >= refusalsHold {
		f.to, f.since = map[question]nvml.Return{}, now
	}
	return f.to
}

// reader makes the calls of one round and keeps what they say about the device as
// a whole. Once it is lost, nothing more is asked.
type reader struct {
	guard   guard
	refused map[question]nvml.Return
	lost    nvml.Return // the error that says so; SUCCESS: it is there
	good    int         // calls that succeeded
	bad     nvml.Return // an error that a healthy device does not give
}

func (r *reader) call(symbol string, f func() nvml.Return) nvml.Return {
	return r.callOf(symbol, 0, f)
}

// callOf is call for a function that is asked about several things: of says about which.
func (r *reader) callOf(symbol string, of uint32, f func() nvml.Return) nvml.Return {
	q := question{symbol: symbol, of: of}
	if r.lost != nvml.SUCCESS {
		return r.lost
	}
	if ret, ok := r.refused[q]; ok {
		return ret
	}
	ret := r.guard.call(symbol, f)
	r.note(q, ret)
	return ret
}

func (r *reader) note(q question, ret nvml.Return) {
	switch {
	case ret == nvml.SUCCESS:
		r.good++
	case lost(ret):
		r.lost = ret
	case absence(ret) == probes.Unsupported:
		r.refused[q] = ret
	case absence(ret) == probes.NotSeen:
		r.bad = ret
	}
}

// err is nil when anything could be read.
func (r *reader) err() error {
	switch {
	case r.lost != nvml.SUCCESS:
		return failure(r.lost)
	case r.good == 0 && r.bad != nvml.SUCCESS:
		return failure(r.bad)
	}
	return nil
}

func failure(ret nvml.Return) error {
	if lost(ret) {
		return fmt.Errorf("%w: %s", errLost, inWords(ret))
	}
	return errors.New(inWords(ret))
}

func (r *reader) text(symbol string, get func() (string, nvml.Return)) (s string) {
	r.call(symbol, func() (ret nvml.Return) { s, ret = get(); return })
	return probes.Printable(s, 100)
}

// number reads a value and scales it to base units. All bits set is how some
// drivers say that they do not know.
func (r *reader) number(symbol string, get func() (uint32, nvml.Return), scale float64) probes.Opt[float64] {
	return r.numberOf(symbol, 0, get, scale)
}

func (r *reader) numberOf(symbol string, of uint32, get func() (uint32, nvml.Return), scale float64) probes.Opt[float64] {
	var v uint32
	ret := r.callOf(symbol, of, func() (ret nvml.Return) { v, ret = get(); return })
	switch {
	case ret != nvml.SUCCESS:
		return probes.None[float64](absence(ret))
	case v == math.MaxUint32:
		return probes.None[float64](probes.Unsupported)
	}
	return probes.Some(float64(v) * scale)
}

// long is number for a function that gives 64 bits.
func (r *reader) long(symbol string, of uint32, get func() (uint64, nvml.Return), scale float64) probes.Opt[float64] {
	var v uint64
	ret := r.callOf(symbol, of, func() (ret nvml.Return) { v, ret = get(); return })
	switch {
	case ret != nvml.SUCCESS:
		return probes.None[float64](absence(ret))
	case v == math.MaxUint64:
		return probes.None[float64](probes.Unsupported)
	}
	return probes.Some(float64(v) * scale)
}

// positive takes a 0 as no reading where nothing real can be 0, as a temperature, a clock or
// a power: boards of the Jetson family answer so for what they cannot measure.
func positive(o probes.Opt[float64]) probes.Opt[float64] {
	if v, ok := o.Get(); ok && v <= 0 {
		return probes.None[float64](probes.Unsupported)
	}
	return o
}

// ints adapts a getter that gives an int.
func ints(get func() (int, nvml.Return)) func() (uint32, nvml.Return) {
	return func() (uint32, nvml.Return) { v, ret := get(); return uint32(v), ret }
}

// once reads what does not change, unless it is known.
func once(o *probes.Opt[float64], read func() probes.Opt[float64]) {
	if !o.Seen() {
		*o = read()
	}
}
