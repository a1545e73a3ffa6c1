//go:build linux && cgo

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// nvmlDevice reads one GPU and its MIG instances.
type nvmlDevice struct {
	api       nvml.Interface
	guard     guard
	now       func() time.Time
	index     int
	root      string // of /sys
	driver    int    // major version; 0: not known
	topology  *topology
	handle    nvml.Device      // nil until the driver gave it
	kept      probes.GPUDevice // what is not asked for each time: it never changes, or seldom
	keptAt    time.Time        // when what changes seldom was read
	board     board
	refused   refusals
	fields    fields
	times     throttleTimes
	flows     flows
	gpm       gpm
	instances []*instance
	changed   bool // one of them was gone
	users     users
}

// seldom is how often errors, links and the division of a device are asked for: they change
// rarely, take many calls, and some of the calls are dear.
const seldom = 10 * time.Second

// read asks for what changes; what changes seldom, or never, is asked for when it is time
// or when it is not known yet. The first is the device, the others are its MIG instances.
func (d *nvmlDevice) read() ([]probes.GPUDevice, error) {
	if d.handle == nil {
		var h nvml.Device
		ret := d.guard.call("nvmlDeviceGetHandleByIndex", func() (ret nvml.Return) { h, ret = d.api.DeviceGetHandleByIndex(d.index); return })
		if ret != nvml.SUCCESS {
			return []probes.GPUDevice{d.kept}, failure(ret)
		}
		d.handle = h
	}
	now := d.now()
	r := reader{guard: d.guard, refused: d.refused.at(now)}
	switch {
	case now.Sub(d.keptAt) >= seldom:
		d.readSeldom(&r)
		d.keptAt = now
	case d.kept.UUID == "":
		d.readIdentity(&r)
	case d.changed:
		d.findInstances(&r)
	default: // not in the first round, which is to be quick
		d.topology.add(d)
	}
	out := d.kept
	d.readChanging(&r, now, &out)
	all := []probes.GPUDevice{out}
	if r.err() == nil {
		all = d.readInstances(all, now)
	}
	return all, r.err()
}

func (d *nvmlDevice) readSeldom(r *reader) {
	d.readIdentity(r)
	d.readMIGMode(r)
	d.readErrors(r)
	d.readPCIe(r)
	d.readNVLinks(r)
	d.findInstances(r)
}

func (d *nvmlDevice) readChanging(r *reader, now time.Time, out *probes.GPUDevice) {
	h := d.handle
	d.utilization(r, out)
	r.memory(h, out)
	out.PowerLimitWatts = positive(r.number("nvmlDeviceGetEnforcedPowerLimit", h.GetEnforcedPowerLimit, 1e-3))
	out.SMClockHertz = positive(r.numberOf("nvmlDeviceGetClockInfo", uint32(nvml.CLOCK_SM), clock(h.GetClockInfo, nvml.CLOCK_SM), 1e6))
	out.MemoryClockHertz = positive(r.numberOf("nvmlDeviceGetClockInfo", uint32(nvml.CLOCK_MEM), clock(h.GetClockInfo, nvml.CLOCK_MEM), 1e6))
	out.PerformanceState = d.performanceState(r)
	out.ThrottleBits = r.throttle(h)
	d.temperatures(r, out)
	d.gpm.read(d.gpmSource(), r, out)
	d.readFields(r, now, out)
}

// readFields is one call for all that has no function of its own.
func (d *nvmlDevice) readFields(r *reader, now time.Time, out *probes.GPUDevice) {
	f := &d.fields
	f.want(0, powerFields...)
	f.want(0, fieldEnergy, fieldMemoryTemperature)
	f.want(0, d.times.ids(d.driver)...)
	d.flows.want(f, out)
	f.read(r, d.handle)
	d.power(r, out)
	out.MemoryTemperatureCelsius = positive(f.of(fieldMemoryTemperature).opt(1))
	d.times.take(f, d.driver, now, out)
	d.flows.take(f, now, out)
}

func (d *nvmlDevice) release() {
	d.gpm.release(d.guard)
	for _, i := range d.instances {
		i.gpm.release(d.guard)
	}
}

func clock(get func(nvml.ClockType) (uint32, nvml.Return), of nvml.ClockType) func() (uint32, nvml.Return) {
	return func() (uint32, nvml.Return) { return get(of) }
}

// utilization has no meaning for a device that is divided: drivers answer that they do not
// support it, or with a 0 that is none.
func (d *nvmlDevice) utilization(r *reader, out *probes.GPUDevice) {
	if d.kept.MIG {
		out.KernelActiveRatio, out.MemoryActiveRatio = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
		return
	}
	var u nvml.Utilization
	ret := r.call("nvmlDeviceGetUtilizationRates", func() (ret nvml.Return) { u, ret = d.handle.GetUtilizationRates(); return })
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

// performanceState is P0, the fastest, to P15; 32 is how NVML says that it does not know.
func (d *nvmlDevice) performanceState(r *reader) probes.Opt[float64] {
	o := r.number("nvmlDeviceGetPerformanceState", func() (uint32, nvml.Return) {
		p, ret := d.handle.GetPerformanceState()
		return uint32(p), ret
	}, 1)
	if v, ok := o.Get(); ok && v > 15 {
		return probes.Opt[float64]{}
	}
	return o
}
