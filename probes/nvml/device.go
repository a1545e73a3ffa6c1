//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"math"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// nvmlDevice reads one GPU.
type nvmlDevice struct {
	api    nvml.Interface
	guard  guard
	index  int
	handle nvml.Device // nil until the driver gave it
	fixed  probes.GPUDevice
	known  bool // fixed is complete
	gpm    gpm
	xids   xids
}

// read asks for everything that changes; what does not is asked for once.
func (d *nvmlDevice) read() (probes.GPUDevice, error) {
	if d.handle == nil {
		var h nvml.Device
		ret := d.guard.call("nvmlDeviceGetHandleByIndex", func() (ret nvml.Return) { h, ret = d.api.DeviceGetHandleByIndex(d.index); return })
		if ret != nvml.SUCCESS {
			return d.fixed, failure(ret)
		}
		d.handle = h
	}
	r := reader{guard: d.guard}
	if !d.known {
		d.readFixed(&r)
		d.known = r.lost == nvml.SUCCESS && r.bad == nvml.SUCCESS
	}
	out := d.fixed
	d.readChanging(&r, &out)
	if r.lost == nvml.SUCCESS {
		out.SMActiveRatio, out.DRAMActiveRatio = d.gpm.read(d, &r)
	}
	out.XidTotal, out.LastXid = d.xids.read(d)
	return out, r.err()
}

func (d *nvmlDevice) readFixed(r *reader) {
	h := d.handle
	d.fixed = probes.GPUDevice{
		UUID:              r.text("nvmlDeviceGetUUID", h.GetUUID),
		Name:              r.text("nvmlDeviceGetName", h.GetName),
		PowerDefaultWatts: r.number("nvmlDeviceGetPowerManagementDefaultLimit", h.GetPowerManagementDefaultLimit, 1e-3),
		SMClockMaxHertz:   r.number("nvmlDeviceGetMaxClockInfo", clock(h.GetMaxClockInfo, nvml.CLOCK_SM), 1e6),
		MemoryClockMaxHz:  r.number("nvmlDeviceGetMaxClockInfo", clock(h.GetMaxClockInfo, nvml.CLOCK_MEM), 1e6),
	}
}

func (d *nvmlDevice) readChanging(r *reader, out *probes.GPUDevice) {
	h := d.handle
	r.utilization(h, out)
	r.memory(h, out)
	out.PowerWatts = r.number("nvmlDeviceGetPowerUsage", h.GetPowerUsage, 1e-3)
	out.PowerLimitWatts = r.number("nvmlDeviceGetEnforcedPowerLimit", h.GetEnforcedPowerLimit, 1e-3)
	out.SMClockHertz = r.number("nvmlDeviceGetClockInfo", clock(h.GetClockInfo, nvml.CLOCK_SM), 1e6)
	out.MemoryClockHertz = r.number("nvmlDeviceGetClockInfo", clock(h.GetClockInfo, nvml.CLOCK_MEM), 1e6)
	out.TemperatureCelsius = r.number("nvmlDeviceGetTemperature", func() (uint32, nvml.Return) { return h.GetTemperature(nvml.TEMPERATURE_GPU) }, 1)
	out.ThrottleBits = r.throttle(h)
}

func (d *nvmlDevice) release() {
	d.gpm.release(d.guard)
	d.xids.release(d.guard)
}

func clock(get func(nvml.ClockType) (uint32, nvml.Return), of nvml.ClockType) func() (uint32, nvml.Return) {
	return func() (uint32, nvml.Return) { return get(of) }
}

// reader makes the calls of one round and keeps what they say about the device as
// a whole. Once it is lost, nothing more is asked.
type reader struct {
	guard guard
	lost  nvml.Return // the error that says so; SUCCESS: it is there
	good  int         // calls that succeeded
	bad   nvml.Return // an error that a healthy device does not give
}

func (r *reader) call(symbol string, f func() nvml.Return) nvml.Return {
	if r.lost != nvml.SUCCESS {
		return r.lost
	}
	ret := r.guard.call(symbol, f)
	switch {
	case ret == nvml.SUCCESS:
		r.good++
	case lost(ret):
		r.lost = ret
	case absence(ret) == probes.NotSeen:
		r.bad = ret
	}
	return ret
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
	var v uint32
	ret := r.call(symbol, func() (ret nvml.Return) { v, ret = get(); return })
	switch {
	case ret != nvml.SUCCESS:
		return probes.None[float64](absence(ret))
	case v == math.MaxUint32:
		return probes.None[float64](probes.Unsupported)
	}
	return probes.Some(float64(v) * scale)
}

func (r *reader) utilization(h nvml.Device, out *probes.GPUDevice) {
	var u nvml.Utilization
	ret := r.call("nvmlDeviceGetUtilizationRates", func() (ret nvml.Return) { u, ret = h.GetUtilizationRates(); return })
	out.KernelActiveRatio, out.MemoryActiveRatio = percent(u.Gpu, ret), percent(u.Memory, ret)
}

// percent is a ratio; more than 100 is garbage, of which drivers have been seen to
// give some.
func percent(v uint32, ret nvml.Return) probes.Opt[float64] {
	switch {
	case ret != nvml.SUCCESS:
		return probes.None[float64](absence(ret))
	case v > 100:
		return probes.None[float64](probes.NotSeen)
	}
	return probes.Some(float64(v) / 100)
}

// memory prefers the second version, which does not count what the driver keeps
// for itself as used.
func (r *reader) memory(h nvml.Device, out *probes.GPUDevice) {
	var total, used uint64
	ret := r.call("nvmlDeviceGetMemoryInfo_v2", func() nvml.Return {
		m, ret := h.GetMemoryInfo_v2()
		total, used = m.Total, m.Used
		return ret
	})
	if absence(ret) == probes.Unsupported {
		ret = r.call("nvmlDeviceGetMemoryInfo", func() nvml.Return {
			m, ret := h.GetMemoryInfo()
			total, used = m.Total, m.Used
			return ret
		})
	}
	switch {
	case ret != nvml.SUCCESS:
		out.MemoryTotalBytes, out.MemoryUsedBytes = probes.None[float64](absence(ret)), probes.None[float64](absence(ret))
	case total == 0 || used > total: // boards that share the host's memory answer so
		out.MemoryTotalBytes, out.MemoryUsedBytes = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
	default:
		out.MemoryTotalBytes, out.MemoryUsedBytes = probes.Some(float64(total)), probes.Some(float64(used))
	}
}

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
