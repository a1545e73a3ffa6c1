//go:build linux && cgo

package nvml

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// board is what is known of a device beyond what a sample tells.
type board struct {
	architecture nvml.DeviceArchitecture // 0: not known
	pciDevice    uint16                  // number of the chip in the PCI sense; 0: not known
}

// averagesPower says that nvmlDeviceGetPowerUsage gives the average of a second.
func (b board) averagesPower() bool {
	const ga100 = 0x20 // all of that chip have PCI numbers 0x20xx
	return b.architecture >= nvml.DEVICE_ARCH_AMPERE && b.architecture != nvml.DEVICE_ARCH_UNKNOWN && b.pciDevice>>8 != ga100
}

var architectures = map[nvml.DeviceArchitecture]string{
	nvml.DEVICE_ARCH_KEPLER: "kepler", nvml.DEVICE_ARCH_MAXWELL: "maxwell", nvml.DEVICE_ARCH_PASCAL: "pascal",
	nvml.DEVICE_ARCH_VOLTA: "volta", nvml.DEVICE_ARCH_TURING: "turing", nvml.DEVICE_ARCH_AMPERE: "ampere",
	nvml.DEVICE_ARCH_ADA: "ada", nvml.DEVICE_ARCH_HOPPER: "hopper", nvml.DEVICE_ARCH_BLACKWELL: "blackwell",
	nvml.DEVICE_ARCH_RUBIN: "rubin",
}

var virtualModes = map[nvml.GpuVirtualizationMode]string{
	nvml.GPU_VIRTUALIZATION_MODE_PASSTHROUGH: "passthrough", nvml.GPU_VIRTUALIZATION_MODE_VGPU: "vgpu",
	nvml.GPU_VIRTUALIZATION_MODE_HOST_VGPU: "host-vgpu", nvml.GPU_VIRTUALIZATION_MODE_HOST_VSGA: "host-vsga",
}

// readIdentity asks for what never changes, as far as it is not known yet.
func (d *nvmlDevice) readIdentity(r *reader) {
	h, k := d.handle, &d.kept
	k.Source = "nvml"
	if k.UUID == "" {
		k.UUID = r.text("nvmlDeviceGetUUID", h.GetUUID)
	}
	if k.Name == "" {
		k.Name = r.text("nvmlDeviceGetName", h.GetName)
	}
	if k.PCIAddress == "" {
		d.readAddress(r)
	}
	if k.Architecture == "" {
		r.call("nvmlDeviceGetArchitecture", func() (ret nvml.Return) { d.board.architecture, ret = h.GetArchitecture(); return })
		k.Architecture = architectures[d.board.architecture]
	}
	var mode nvml.GpuVirtualizationMode
	if r.call("nvmlDeviceGetVirtualizationMode", func() (ret nvml.Return) { mode, ret = h.GetVirtualizationMode(); return }) == nvml.SUCCESS {
		k.Virtual = virtualModes[mode]
	}
	d.readNeighbourhood(r)
	once(&k.PowerDefaultWatts, func() probes.Opt[float64] {
		return positive(r.number("nvmlDeviceGetPowerManagementDefaultLimit", h.GetPowerManagementDefaultLimit, 1e-3))
	})
	once(&k.SMClockMaxHertz, func() probes.Opt[float64] {
		return positive(r.numberOf("nvmlDeviceGetMaxClockInfo", uint32(nvml.CLOCK_SM), clock(h.GetMaxClockInfo, nvml.CLOCK_SM), 1e6))
	})
	once(&k.MemoryClockMaxHz, func() probes.Opt[float64] {
		return positive(r.numberOf("nvmlDeviceGetMaxClockInfo", uint32(nvml.CLOCK_MEM), clock(h.GetMaxClockInfo, nvml.CLOCK_MEM), 1e6))
	})
	once(&k.TemperatureSlowdownCelsius, func() probes.Opt[float64] { return d.slowdownThreshold(r) })
	once(&k.PCIeGenerationMax, func() probes.Opt[float64] {
		return positive(r.number("nvmlDeviceGetMaxPcieLinkGeneration", ints(h.GetMaxPcieLinkGeneration), 1))
	})
	once(&k.PCIeWidthMax, func() probes.Opt[float64] {
		return positive(r.number("nvmlDeviceGetMaxPcieLinkWidth", ints(h.GetMaxPcieLinkWidth), 1))
	})
}

func (d *nvmlDevice) readAddress(r *reader) {
	var p nvml.PciInfo
	if r.call("nvmlDeviceGetPciInfo", func() (ret nvml.Return) { p, ret = d.handle.GetPciInfo(); return }) == nvml.SUCCESS {
		d.kept.PCIAddress = pciAddress(&p)
		d.board.pciDevice = uint16(p.PciDeviceId >> 16)
	}
}

// pciAddress is the address as Linux writes it. NVML's own text has more digits for the
// domain, and older drivers leave it out.
func pciAddress(p *nvml.PciInfo) string {
	function := "0"
	text := cText(p.BusId[:])
	if text == "" {
		text = cText(p.BusIdLegacy[:])
	}
	if _, after, ok := strings.Cut(text, "."); ok && len(after) == 1 && after[0] >= '0' && after[0] <= '7' {
		function = after
	}
	return fmt.Sprintf("%04x:%02x:%02x.%s", p.Domain, p.Bus&0xff, p.Device&0xff, function)
}

func cText(chars []int8) string {
	var b strings.Builder
	for _, c := range chars {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}
