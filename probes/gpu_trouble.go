package probes

import (
	"fmt"
	"strings"
)

// Troubles are what is wrong with a device that answers, in a few words each, the worst
// first: critical errors, errors of its memory, what holds its clocks down, links that are
// narrower than they could be.
func (d *GPUDevice) Troubles() []string {
	out := d.Damage()
	if held := HeldDownBy(d.ThrottleBits.Or(0)); held != "" {
		out = append(out, held)
	}
	if narrow, ok := d.narrowed(); ok {
		out = append(out, narrow)
	}
	if up, ok := d.NVLinksActive.Get(); ok && d.NVLinksTotal.Seen() && up < d.NVLinksTotal.Or(0) && up > 0 {
		out = append(out, fmt.Sprintf("%.0f NVLinks down", d.NVLinksTotal.Or(0)-up))
	}
	if d.RemapPending.Or(0) > 0 {
		out = append(out, "row to remap")
	}
	return out
}

// Damage is what of its troubles does not go away by itself.
func (d *GPUDevice) Damage() (out []string) {
	if n := d.XidTotal.Or(0); n > 0 {
		xid := "Xid"
		if number, ok := d.LastXid.Get(); ok {
			xid = fmt.Sprintf("Xid %d", number)
		}
		out = append(out, xid)
	}
	if d.RemapFailed.Or(0) > 0 || d.ECCUncorrectedTotal.Or(0) > 0 {
		out = append(out, "memory errors")
	}
	return out
}

// narrowed says that the PCIe link has fewer lanes than device and slot can have, or that
// it is of a lower generation though the device is at work: idle ones lower it.
func (d *GPUDevice) narrowed() (string, bool) {
	width, widest := d.PCIeWidth.Or(0), d.PCIeWidthMax.Or(0)
	gen, highest := d.PCIeGeneration.Or(0), d.PCIeGenerationMax.Or(0)
	slow := gen > 0 && gen < highest && d.KernelActiveRatio.Or(0) >= 0.2
	switch {
	case width > 0 && width < widest && slow:
		return fmt.Sprintf("PCIe gen %.0f ×%.0f of gen %.0f ×%.0f", gen, width, highest, widest), true
	case width > 0 && width < widest:
		return fmt.Sprintf("PCIe ×%.0f of ×%.0f", width, widest), true
	case slow:
		return fmt.Sprintf("PCIe gen %.0f of %.0f", gen, highest), true
	}
	return "", false
}

// HeldDownBy names what holds the clocks down, by the bits of NVML. Idle and application
// clocks are settings, not troubles. A hardware slowdown is told by its cause where that has
// a bit of its own.
func HeldDownBy(bits uint64) string {
	var names []string
	for _, b := range [...]struct {
		bit  uint64
		name string
	}{
		{ThrottlePowerBrake, "power brake"},
		{ThrottleSWThermal | ThrottleHWThermal, "heat"},
		{ThrottlePowerCap, "power cap"},
	} {
		if bits&b.bit != 0 {
			names = append(names, b.name)
		}
	}
	if bits&ThrottleHWSlowdown != 0 && bits&(ThrottleHWThermal|ThrottlePowerBrake) == 0 {
		names = append(names, "slowdown")
	}
	return strings.Join(names, ", ")
}
