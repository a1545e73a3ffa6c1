//go:build linux && cgo

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// flows are the rates over NVLink and PCIe of devices whose GPM does not tell them, from
// counters of what went over since the driver was loaded. nvmlDeviceGetPcieThroughput is
// never used: it waits for 20 ms at each call.
type flows struct {
	counters [4]counter
}

type counter struct {
	bytes float64
	at    time.Time // zero: nothing read yet
	rate  probes.Opt[float64]
}

// believed is how far a counter must have come for its growth to be taken for a rate. That
// of NVLink stays 0 on some devices whose links are busy. That of PCIe wraps on some devices,
// at 4 GiB, which is less than a second's traffic.
var flowFields = [4]struct {
	id, scope       uint32
	scale, believed float64
	of              func(*probes.GPUDevice) *probes.Opt[float64]
}{
	{nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, allLinks, 1024, 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.NVLinkTxBytesPerS }},
	{nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_RX, allLinks, 1024, 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.NVLinkRxBytesPerS }},
	{nvml.FI_DEV_PCIE_COUNT_TX_BYTES, 0, 1, 1 << 32, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeTxBytesPerS }},
	{nvml.FI_DEV_PCIE_COUNT_RX_BYTES, 0, 1, 1 << 32, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeRxBytesPerS }},
}

// lacking says that GPM has been asked and cannot tell.
func lacking(o *probes.Opt[float64]) bool { return !o.Seen() && o.Why() == probes.Unsupported }

// want asks for the counters behind the rates that out lacks.
func (w *flows) want(f *fields, out *probes.GPUDevice) {
	for _, c := range flowFields {
		overNVLink := c.scope == allLinks
		if lacking(c.of(out)) && (!overNVLink || out.NVLinksActive.Or(0) > 0) {
			f.want(c.scope, c.id)
		}
	}
}

func (w *flows) take(f *fields, now time.Time, out *probes.GPUDevice) {
	for i, c := range flowFields {
		if a := f.ofScope(c.id, c.scope); a.ret == nvml.SUCCESS && a.wide() && lacking(c.of(out)) {
			*c.of(out) = w.counters[i].next(a.value*c.scale, c.believed, now)
		}
	}
}

// next is the rate since the last count, unless that is too near: then it is the last rate.
func (c *counter) next(bytes, believed float64, now time.Time) probes.Opt[float64] {
	before := *c
	elapsed := now.Sub(before.at)
	if !before.at.IsZero() && elapsed <= gpmApart {
		return c.rate
	}
	*c = counter{bytes: bytes, at: now}
	if !before.at.IsZero() && before.bytes >= believed && bytes >= before.bytes {
		c.rate = probes.Some((bytes - before.bytes) / elapsed.Seconds())
	}
	return c.rate
}
