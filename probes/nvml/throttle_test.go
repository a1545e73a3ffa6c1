//go:build linux && cgo

package nvml

import (
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// The counters of the slowdowns moved from 251 to 269, where 251 became a switch; between
// the two, and of a driver without a version, nobody knows.
func TestThrottleFieldsByDriver(t *testing.T) {
	const fields = `
0 * count 1
0 0 field.74 1000000000
0 0 field.75 2000000000
0 0 field.76 3000000000
0 0 field.251 4000000000
0 0 field.252 5000000000
0 0 field.253 6000000000
0 0 field.269 7000000000
0 0 field.270 8000000000
0 0 field.271 9000000000
`
	for _, x := range []struct {
		driver   string
		sw, hw   any
		brake    any
		switches string
	}{
		{"535.216.01", 4, 5, 6, ""},
		{"580.159.04", 4, 5, 6, ""},
		{"590.44", 7, 8, 9, ""},
		{"610.57.04", 7, 8, 9, ""},
		{"585.1", unsupported, unsupported, unsupported, ""},
		{"beta", unsupported, unsupported, unsupported, ""},
		// a driver that is numbered otherwise than we think: on/off, a level, watts
		{"570.86", unsupported, unsupported, unsupported, "0 0 field.251 1 u32\n0 0 field.252 2\n0 0 field.253 0 u32\n"},
	} {
		t.Run(x.driver, func(t *testing.T) {
			s := play(t, "driver", fields+x.switches+"0 * driver "+x.driver+"\n")
			if s == nil {
				return
			}
			readings(t, s.fresh(0).Devices[0], map[string]any{
				"throttle_power_seconds_total": 1, "throttle_thermal_seconds_total": 2, "throttle_sync_seconds_total": 3,
				"throttle_sw_thermal_seconds_total": x.sw, "throttle_hw_thermal_seconds_total": x.hw, "throttle_brake_seconds_total": x.brake})
		})
	}
}

// What is no time is not taken for one.
func TestThrottleTimePlausible(t *testing.T) {
	const second = 1e9
	long := func(ns float64) fieldAnswer {
		return fieldAnswer{kind: nvml.VALUE_TYPE_UNSIGNED_LONG_LONG, value: ns}
	}
	at := time.Unix(1000, 0)
	for _, x := range []struct {
		name   string
		before float64 // ns, one second earlier; below 0: nothing was read
		a      fieldAnswer
		want   probes.Opt[float64]
	}{
		{"first", -1, long(7 * second), probes.Some(7.0)},
		{"none yet", -1, long(0), probes.Some(0.0)},
		{"goes on", 7 * second, long(7.5 * second), probes.Some(7.5)},
		{"stands", 7 * second, long(7 * second), probes.Some(7.0)},
		{"a switch in 64 bits", -1, long(1), probes.None[float64](unsupported)},
		{"watts in 64 bits", -1, long(700), probes.None[float64](unsupported)},
		{"32 bits", -1, fieldAnswer{kind: nvml.VALUE_TYPE_UNSIGNED_INT, value: 7 * second}, probes.None[float64](unsupported)},
		{"a percentage", -1, fieldAnswer{kind: nvml.VALUE_TYPE_DOUBLE, value: 99e3}, probes.None[float64](unsupported)},
		{"centuries", -1, long(1e19), probes.None[float64](unsupported)},
		{"back in time", 7 * second, long(6 * second), probes.Opt[float64]{}},
		{"faster than time", 7 * second, long(70 * second), probes.Opt[float64]{}},
		{"no permission", -1, fieldAnswer{ret: nvml.ERROR_NO_PERMISSION}, probes.None[float64](noPermission)},
		{"not a number of this driver", -1, fieldAnswer{ret: nvml.ERROR_INVALID_ARGUMENT}, probes.None[float64](unsupported)},
	} {
		var c throttleTime
		if x.before >= 0 {
			c = throttleTime{x.before, at.Add(-time.Second)}
		}
		if got := c.next(x.a, at); got != x.want {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.want)
		}
	}
}
