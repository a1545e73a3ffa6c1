//go:build linux && cgo

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// gpm reads the GPU performance monitor of Hopper and newer, of a device or a MIG instance:
// how busy its parts were, in cycles, and what went over its links. A reading spans two
// samples; the older one is kept from the last round.
type gpm struct {
	now        func() time.Time
	ready      bool // there are two samples to fill
	last, next nvml.GpmSample
	taken      time.Time // when last was; zero: not yet
	query      nvml.GpmMetricsGetType
	results    [len(gpmMetrics)]probes.Opt[float64] // of the newest pair
}

// gpmApart is how far two samples must be apart (nvml.h, nvmlGpmMetricsGet).
const gpmApart = 100 * time.Millisecond

// gpmMetrics are asked for in one call. Those without a scale are percentages, the others
// are in MiB/s.
var gpmMetrics = [9]struct {
	id    nvml.GpmMetricId
	scale float64
	of    func(*probes.GPUDevice) *probes.Opt[float64]
}{
	{nvml.GPM_METRIC_GRAPHICS_UTIL, 0, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.GraphicsActiveRatio }},
	{nvml.GPM_METRIC_SM_UTIL, 0, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.SMActiveRatio }},
	{nvml.GPM_METRIC_SM_OCCUPANCY, 0, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.SMOccupancyRatio }},
	{nvml.GPM_METRIC_ANY_TENSOR_UTIL, 0, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.TensorActiveRatio }},
	{nvml.GPM_METRIC_DRAM_BW_UTIL, 0, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.DRAMActiveRatio }},
	{nvml.GPM_METRIC_PCIE_TX_PER_SEC, 1 << 20, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeTxBytesPerS }},
	{nvml.GPM_METRIC_PCIE_RX_PER_SEC, 1 << 20, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeRxBytesPerS }},
	{nvml.GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, 1 << 20, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.NVLinkTxBytesPerS }},
	{nvml.GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC, 1 << 20, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.NVLinkRxBytesPerS }},
}

// gpmSource is what samples are taken of.
type gpmSource struct {
	api    nvml.Interface
	device nvml.Device // the whole, also for an instance of it
	sample func(*reader, nvml.GpmSample) nvml.Return
}

func (d *nvmlDevice) gpmSource() gpmSource {
	return gpmSource{d.api, d.handle, func(r *reader, s nvml.GpmSample) nvml.Return {
		return r.call("nvmlGpmSampleGet", func() nvml.Return { return d.handle.GpmSampleGet(s) })
	}}
}

// read fills what the monitor measures of out.
func (g *gpm) read(src gpmSource, r *reader, out *probes.GPUDevice) {
	if ret := g.step(src, r); ret != nvml.SUCCESS {
		g.all(probes.None[float64](absence(ret)))
	}
	for i, m := range gpmMetrics {
		*m.of(out) = g.results[i]
	}
	if out.SMActiveRatio.Seen() || out.TensorActiveRatio.Seen() || out.DRAMActiveRatio.Seen() {
		out.ActivityFrom = "gpm"
	}
}

func (g *gpm) all(o probes.Opt[float64]) {
	for i := range g.results {
		g.results[i] = o
	}
}

// step takes a sample and works out what happened since the last; with an error there are
// no results.
func (g *gpm) step(src gpmSource, r *reader) nvml.Return {
	if ret := g.start(src, r); ret != nvml.SUCCESS {
		return ret
	}
	now := g.now()
	if !g.taken.IsZero() && now.Sub(g.taken) <= gpmApart {
		return nvml.SUCCESS
	}
	if ret := src.sample(r, g.next); ret != nvml.SUCCESS {
		g.taken = time.Time{}
		return ret
	}
	g.all(probes.Opt[float64]{})
	ret := nvml.SUCCESS
	if !g.taken.IsZero() {
		ret = g.between(src.api, r)
	}
	g.last, g.next, g.taken = g.next, g.last, now
	return ret
}

// start finds out whether the device can, and gets the two samples.
func (g *gpm) start(src gpmSource, r *reader) nvml.Return {
	if g.ready {
		return nvml.SUCCESS
	}
	ret := r.call("nvmlGpmQueryDeviceSupport", func() nvml.Return {
		s, ret := src.device.GpmQueryDeviceSupport()
		if ret == nvml.SUCCESS && s.IsSupportedDevice == 0 {
			return nvml.ERROR_NOT_SUPPORTED
		}
		return ret
	})
	for _, sample := range []*nvml.GpmSample{&g.last, &g.next} {
		if ret == nvml.SUCCESS && *sample == nil {
			ret = r.call("nvmlGpmSampleAlloc", func() nvml.Return {
				s, ret := src.api.GpmSampleAlloc()
				if ret == nvml.SUCCESS {
					*sample = s
				}
				return ret
			})
		}
	}
	g.ready = ret == nvml.SUCCESS
	return ret
}

// between asks what happened from the last sample to the next.
func (g *gpm) between(api nvml.Interface, r *reader) nvml.Return {
	q := &g.query
	q.NumMetrics, q.Sample1, q.Sample2 = uint32(len(gpmMetrics)), g.last, g.next
	for i, m := range gpmMetrics {
		q.Metrics[i] = nvml.GpmMetric{MetricId: uint32(m.id)}
	}
	ret := r.call("nvmlGpmMetricsGet", func() nvml.Return { return api.GpmMetricsGet(q) })
	for i, m := range gpmMetrics {
		g.results[i] = gpmResult(q.Metrics[i], m.scale)
	}
	return ret
}

// gpmResult has a status of its own for each metric. The value is NaN when nothing could be
// measured. A percentage is a little above 100 at times, which is 100; far above, as MIG
// instances have been seen to give, it is no measurement.
func gpmResult(m nvml.GpmMetric, scale float64) probes.Opt[float64] {
	if ret := nvml.Return(m.NvmlReturn); ret != nvml.SUCCESS {
		return probes.None[float64](fieldAbsence(ret))
	}
	switch {
	case !(m.Value >= 0):
		return probes.Opt[float64]{}
	case scale != 0:
		return probes.Some(m.Value * scale)
	case m.Value > 110:
		return probes.Opt[float64]{}
	}
	return probes.Some(min(m.Value/100, 1))
}

func (g *gpm) release(guard guard) {
	for _, sample := range []nvml.GpmSample{g.last, g.next} {
		if sample != nil {
			guard.call("nvmlGpmSampleFree", sample.Free)
		}
	}
	g.last, g.next, g.ready = nil, nil, false
}
