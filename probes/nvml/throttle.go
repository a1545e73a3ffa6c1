//go:build linux && cgo

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// throttle asks under the new name (drivers from 535 on), else under the old one.
func (r *reader) throttle(h nvml.Device) probes.Opt[uint64] {
	var bits uint64
	ret := r.call("nvmlDeviceGetCurrentClocksEventReasons", func() (ret nvml.Return) { bits, ret = h.GetCurrentClocksEventReasons(); return })
	if ret == nvml.ERROR_FUNCTION_NOT_FOUND {
		ret = r.call("nvmlDeviceGetCurrentClocksThrottleReasons", func() (ret nvml.Return) { bits, ret = h.GetCurrentClocksThrottleReasons(); return })
	}
	if ret != nvml.SUCCESS {
		return probes.None[uint64](absence(ret))
	}
	return probes.Some(bits)
}

// throttleTimes are counters of the time, in nanoseconds, for which clocks were held down,
// one for each reason. They catch what the bits miss between two readings.
type throttleTimes struct {
	last [6]throttleTime
}

type throttleTime struct {
	ns float64
	at time.Time // zero: not read yet
}

var throttleSeconds = [6]func(*probes.GPUDevice) *probes.Opt[float64]{
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottlePowerSecondsTotal },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleThermalSecondsTotal },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleSyncSecondsTotal },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleSWThermalSecondsTotal },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleHWThermalSecondsTotal },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleBrakeSecondsTotal },
}

// The numbers of the fields behind throttleSeconds. The first three never changed. The others
// moved: nvml.h of CUDA 12.9 and 13.0 (drivers up to 580) has them at 251, that of 13.1 at 269
// (drivers from 590 on), where 251 became a switch of another kind.
var (
	throttleFields      = []uint32{nvml.FI_DEV_PERF_POLICY_POWER, nvml.FI_DEV_PERF_POLICY_THERMAL, nvml.FI_DEV_PERF_POLICY_SYNC_BOOST}
	throttleFieldsTo580 = []uint32{74, 75, 76, 251, 252, 253}
	throttleFieldsFrom  = []uint32{74, 75, 76, nvml.FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
		nvml.FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, nvml.FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN}
)

// ids are the numbers for a driver of that major version; where it is not certain which
// meaning a number has, it is not asked for.
func (*throttleTimes) ids(driver int) []uint32 {
	switch {
	case driver >= 590:
		return throttleFieldsFrom
	case driver > 0 && driver <= 580:
		return throttleFieldsTo580
	}
	return throttleFields
}

func (t *throttleTimes) take(f *fields, driver int, now time.Time, out *probes.GPUDevice) {
	ids := t.ids(driver)
	for i, of := range throttleSeconds {
		*of(out) = probes.None[float64](probes.Unsupported)
		if i < len(ids) {
			*of(out) = t.last[i].next(f.of(ids[i]), now)
		}
	}
}

const (
	leastThrottle = 1e3       // ns: a smaller count than a microsecond is a switch or a number of watts
	mostThrottle  = 10 * 3e16 // ns: ten years
)

// next is the counter in seconds, if what the driver gave can be one: 64 bits, neither tiny
// nor beyond a machine's life, and not grown faster than time.
func (t *throttleTime) next(a fieldAnswer, now time.Time) probes.Opt[float64] {
	switch {
	case a.ret != nvml.SUCCESS:
		return probes.None[float64](fieldAbsence(a.ret))
	case !a.wide(), a.value < 0, a.value > 0 && a.value < leastThrottle, a.value > mostThrottle:
		return probes.None[float64](probes.Unsupported)
	}
	before := *t
	*t = throttleTime{a.value, now}
	if grown := a.value - before.ns; !before.at.IsZero() && (grown < 0 || grown > 2*float64(now.Sub(before.at))+1e9) {
		return probes.Opt[float64]{}
	}
	return probes.Some(a.value / 1e9)
}
