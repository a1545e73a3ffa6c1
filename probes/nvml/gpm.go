//go:build linux && cgo

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// gpm reads the GPU performance monitor of Hopper and newer: what share of the
// SMs' cycles had a warp on them, and what share of the memory's bandwidth was
// used. A reading spans two samples; the older one is kept from the last round.
type gpm struct {
	now        func() time.Time
	state      gpmState
	why        nvml.Return // of unavailable
	last, next nvml.GpmSample
	taken      time.Time // when last was; zero: not yet.
	sm, dram   probes.Opt[float64]
}

type gpmState uint8

const (
	gpmUnknown gpmState = iota
	gpmAvailable
	gpmUnavailable
)

// gpmApart is how far two samples must be apart (nvml.h, nvmlGpmMetricsGet).
const gpmApart = 100 * time.Millisecond

func (g *gpm) read(d *nvmlDevice, r *reader) (sm, dram probes.Opt[float64]) {
	if g.state == gpmUnknown {
		g.start(d, r)
	}
	if g.state != gpmAvailable {
		none := probes.None[float64](absence(g.why))
		return none, none
	}
	now := g.now()
	if !g.taken.IsZero() && now.Sub(g.taken) <= gpmApart {
		return g.sm, g.dram
	}
	if ret := r.call("nvmlGpmSampleGet", func() nvml.Return { return d.handle.GpmSampleGet(g.next) }); ret != nvml.SUCCESS {
		g.taken = time.Time{}
		none := probes.None[float64](absence(ret))
		return none, none
	}
	g.sm, g.dram = probes.Opt[float64]{}, probes.Opt[float64]{}
	if !g.taken.IsZero() {
		g.sm, g.dram = g.between(d.api, r)
	}
	g.last, g.next, g.taken = g.next, g.last, now
	return g.sm, g.dram
}

// start finds out whether the device can, and gets the two samples. A device that
// cannot is not asked again; any other failure is tried again next time.
func (g *gpm) start(d *nvmlDevice, r *reader) {
	var s nvml.GpmSupport
	g.why = r.call("nvmlGpmQueryDeviceSupport", func() (ret nvml.Return) { s, ret = d.handle.GpmQueryDeviceSupport(); return })
	if g.why == nvml.SUCCESS && s.IsSupportedDevice == 0 {
		g.why = nvml.ERROR_NOT_SUPPORTED
	}
	for _, sample := range []*nvml.GpmSample{&g.last, &g.next} {
		if g.why == nvml.SUCCESS && *sample == nil {
			g.why = r.call("nvmlGpmSampleAlloc", func() nvml.Return {
				s, ret := d.api.GpmSampleAlloc()
				if ret == nvml.SUCCESS {
					*sample = s
				}
				return ret
			})
		}
	}
	switch {
	case g.why == nvml.SUCCESS:
		g.state = gpmAvailable
	case absence(g.why) == probes.Unsupported:
		g.state = gpmUnavailable
	}
}

// between asks what happened from the last sample to the next.
func (g *gpm) between(api nvml.Interface, r *reader) (sm, dram probes.Opt[float64]) {
	q := nvml.GpmMetricsGetType{NumMetrics: 2, Sample1: g.last, Sample2: g.next}
	q.Metrics[0].MetricId = uint32(nvml.GPM_METRIC_SM_UTIL)
	q.Metrics[1].MetricId = uint32(nvml.GPM_METRIC_DRAM_BW_UTIL)
	if ret := r.call("nvmlGpmMetricsGet", func() nvml.Return { return api.GpmMetricsGet(&q) }); ret != nvml.SUCCESS {
		none := probes.None[float64](absence(ret))
		return none, none
	}
	return gpmRatio(q.Metrics[0]), gpmRatio(q.Metrics[1])
}

// gpmRatio has a status of its own for each metric. The value is a percentage, NaN
// when nothing could be measured, and a little above 100 at times.
func gpmRatio(m nvml.GpmMetric) probes.Opt[float64] {
	if ret := nvml.Return(m.NvmlReturn); ret != nvml.SUCCESS {
		return probes.None[float64](absence(ret))
	}
	if !(m.Value >= 0 && m.Value <= 110) {
		return probes.None[float64](probes.NotSeen)
	}
	return probes.Some(min(m.Value/100, 1))
}

func (g *gpm) release(guard guard) {
	for _, sample := range []nvml.GpmSample{g.last, g.next} {
		if sample != nil {
			guard.call("nvmlGpmSampleFree", sample.Free)
		}
	}
	g.last, g.next = nil, nil
}
