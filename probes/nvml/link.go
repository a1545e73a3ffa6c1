//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// readPCIe asks for the link to the host. An idle device lowers its generation.
func (d *nvmlDevice) readPCIe(r *reader) {
	h, k := d.handle, &d.kept
	k.PCIeGeneration = positive(r.number("nvmlDeviceGetCurrPcieLinkGeneration", ints(h.GetCurrPcieLinkGeneration), 1))
	k.PCIeWidth = positive(r.number("nvmlDeviceGetCurrPcieLinkWidth", ints(h.GetCurrPcieLinkWidth), 1))
	k.PCIeReplaysTotal = r.number("nvmlDeviceGetPcieReplayCounter", ints(h.GetPcieReplayCounter), 1)
}

const (
	fieldLinkCount = nvml.FI_DEV_NVLINK_LINK_COUNT
	mostLinks      = nvml.NVLINK_MAX_LINKS
)

// readNVLinks asks how many of the NVLinks are up, and for their errors. A device without
// any has nothing to tell.
func (d *nvmlDevice) readNVLinks(r *reader) {
	f, k := &d.fields, &d.kept
	f.want(0, fieldLinkCount)
	f.read(r, d.handle)
	k.NVLinksTotal = positive(f.of(fieldLinkCount).opt(1))
	k.NVLinksActive, k.NVLinkErrorsTotal = k.NVLinksTotal, k.NVLinksTotal
	if n, ok := k.NVLinksTotal.Get(); ok {
		links := min(int(n), mostLinks)
		k.NVLinksActive = d.activeLinks(r, links)
		k.NVLinkErrorsTotal = d.linkErrors(r, links)
	}
}

func (d *nvmlDevice) activeLinks(r *reader, links int) probes.Opt[float64] {
	active, answered, last := 0, false, nvml.SUCCESS
	for i := range links {
		on, ret := d.linkState(r, i)
		answered = answered || ret == nvml.SUCCESS
		if on {
			active++
		}
		if ret != nvml.SUCCESS {
			last = ret
		}
	}
	if !answered {
		return probes.None[float64](fieldAbsence(last))
	}
	return probes.Some(float64(active))
}

func (d *nvmlDevice) linkState(r *reader, link int) (on bool, ret nvml.Return) {
	var s nvml.EnableState
	ret = r.callOf("nvmlDeviceGetNvLinkState", uint32(link), func() (ret nvml.Return) { s, ret = d.handle.GetNvLinkState(link); return })
	return s == nvml.FEATURE_ENABLED && ret == nvml.SUCCESS, ret
}

// linkErrorFields are the counters of link errors by the generation of links that has them,
// oldest first: totals of the device (replays, recoveries, CRC errors of control and data),
// the same for each link, and NVLink 5's damaged packets and recoveries for each link.
var linkErrorFields = []struct {
	eachLink bool
	ids      []uint32
}{
	{false, []uint32{
		nvml.FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, nvml.FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
		nvml.FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, nvml.FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL}},
	{true, []uint32{nvml.FI_DEV_NVLINK_ERROR_DL_REPLAY, nvml.FI_DEV_NVLINK_ERROR_DL_RECOVERY, nvml.FI_DEV_NVLINK_ERROR_DL_CRC}},
	{true, []uint32{nvml.FI_DEV_NVLINK_COUNT_RCV_ERRORS, nvml.FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS}},
}

// linkErrors are those of the first set of counters that the device has.
func (d *nvmlDevice) linkErrors(r *reader, links int) probes.Opt[float64] {
	f := &d.fields
	for _, set := range linkErrorFields {
		f.want(0)
		if !set.eachLink {
			f.want(0, set.ids...)
		}
		for i := range links {
			if set.eachLink {
				f.want(uint32(i), set.ids...)
			}
		}
		f.read(r, d.handle)
		if sum := f.sum(); sum.Seen() || sum.Why() != probes.Unsupported {
			return sum
		}
	}
	return probes.None[float64](probes.Unsupported)
}

// sum adds up what the device has. When one that it has gave no answer there is no sum: a
// counter that falls and rises again would look like new errors.
func (f *fields) sum() probes.Opt[float64] {
	total, any := 0.0, false
	for _, a := range f.answers {
		switch o := a.opt(1); {
		case o.Seen():
			total, any = total+a.value, true
		case o.Why() != probes.Unsupported:
			return o
		}
	}
	if !any {
		return probes.None[float64](probes.Unsupported)
	}
	return probes.Some(total)
}
