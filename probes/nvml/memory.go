//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// memory prefers the second version, which does not count what the driver keeps
// for itself as used. Boards that share the host's memory have none of their own: some say
// so, some give zeros. The host's is never taken for it.
func (r *reader) memory(h nvml.Device, out *probes.GPUDevice) {
	var m nvml.Memory_v2
	reserved := probes.None[float64](probes.Unsupported)
	ret := r.call("nvmlDeviceGetMemoryInfo_v2", func() (ret nvml.Return) { m, ret = h.GetMemoryInfo_v2(); return })
	if ret == nvml.SUCCESS {
		reserved = probes.Some(float64(m.Reserved))
	}
	if absence(ret) == probes.Unsupported {
		ret = r.call("nvmlDeviceGetMemoryInfo", func() nvml.Return {
			old, ret := h.GetMemoryInfo()
			m.Total, m.Used = old.Total, old.Used
			return ret
		})
	}
	total, used := probes.Some(float64(m.Total)), probes.Some(float64(m.Used))
	if why := memoryAbsence(&m, ret); why != nil {
		total, used, reserved = probes.None[float64](*why), probes.None[float64](*why), probes.None[float64](*why)
	}
	out.MemoryTotalBytes, out.MemoryUsedBytes, out.MemoryReservedBytes = total, used, reserved
}

// memoryAbsence is why an answer about memory is none; nil: it is one.
func memoryAbsence(m *nvml.Memory_v2, ret nvml.Return) *probes.Absence {
	why := probes.Unsupported
	switch {
	case ret != nvml.SUCCESS:
		why = absence(ret)
	case m.Total != 0 && m.Used <= m.Total && m.Reserved <= m.Total:
		return nil
	}
	return &why
}
