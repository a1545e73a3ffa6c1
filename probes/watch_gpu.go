package probes

import (
	"fmt"
	"slices"
	"time"
)

// Event kinds about GPUs.
const (
	EventGPULost     = "gpu-lost"         // a device is gone, or back
	EventGPUError    = "gpu-error"        // a device is there and cannot be read, or reads again
	EventGPUThrottle = "gpu-throttle"     // a reason for which a device's clocks are held down began, or ended
	EventGPUXid      = "gpu-xid"          // the driver reported a critical error of a device
	EventGPUMemory   = "gpu-memory-error" // memory of a device erred and could not be set right, or is to be replaced
	EventGPURecovery = "gpu-recovery"     // the driver asks for a reset, a reboot or a drain
	EventGPUPCIe     = "gpu-pcie-link"    // a PCIe link is slower under load than it could be, or is no more
	EventGPUNVLink   = "gpu-nvlink"       // NVLinks that were active are down, or back
)

func (n *notes) gpus(g *GPU) {
	for i := range g.Devices {
		d := &g.Devices[i]
		if d.Parent != "" && slices.ContainsFunc(g.Devices, func(o GPUDevice) bool { return o.UUID == d.Parent }) {
			continue // what befalls a MIG instance befalls the device that it is of
		}
		subject, key := fmt.Sprintf("GPU %d", d.Index), fmt.Sprint(d.Index)
		lost := d.Err != "" && d.KernelActiveRatio.Why() == Lost
		n.is(EventGPULost, key, subject, d.Err, lost)
		n.is(EventGPUError, key, subject, d.Err, d.Err != "" && !lost)
		n.throttled(d, key, subject)
		if text := n.xid(d); text != "" {
			n.add(EventGPUXid, subject+": "+text)
		}
		n.memory(d, key, subject)
		n.recovery(d, key, subject)
		n.links(d, key, subject)
	}
}

// throttleReasons are those that are no choice of an operator and no idleness.
var throttleReasons = [...]struct {
	bit   uint64
	name  string
	lasts time.Duration // before it is news: a loaded device touches its power limit now and then
}{
	{ThrottlePowerCap, "power cap", 3 * time.Second}, {ThrottleSWThermal, "software thermal slowdown", 0},
	{ThrottleHWThermal, "hardware thermal slowdown", 0}, {ThrottlePowerBrake, "power brake", 0}, {ThrottleHWSlowdown, "hardware slowdown", 0},
}

func (n *notes) throttled(d *GPUDevice, key, subject string) {
	bits, known := d.ThrottleBits.Get()
	for _, r := range throttleReasons {
		if known {
			n.lasts(EventGPUThrottle, key+r.name, subject, r.name, bits&r.bit != 0, r.lasts)
		}
	}
}

// xid says which critical errors the driver reported since the last sample.
func (c *conditions) xid(d *GPUDevice) string {
	total, ok := d.XidTotal.Get()
	if !ok {
		return ""
	}
	key := d.UUID + fmt.Sprint(d.Index)
	before := c.xids[key]
	if c.xids[key] = total; total <= before {
		return ""
	}
	code := "of an unknown kind"
	if x, ok := d.LastXid.Get(); ok {
		code = fmt.Sprint(x)
	}
	if more := total - before - 1; more > 0 {
		code += fmt.Sprintf(" and %d before it", more)
	}
	return "Xid " + code
}

// memory tells of errors that could not be set right and of rows that are to be replaced.
func (n *notes) memory(d *GPUDevice, key, subject string) {
	if by, news := n.grew(EventGPUMemory+key, d.ECCUncorrectedTotal); news {
		n.add(EventGPUMemory, fmt.Sprintf("%s: %.0f new memory errors that could not be set right", subject, by))
	}
	if pending, known := d.RemapPending.Get(); known {
		n.is(EventGPUMemory, key+"pending", subject, "memory row that waits for a reset to be replaced", pending > 0)
	}
	if failed, known := d.RemapFailed.Get(); known {
		n.is(EventGPUMemory, key+"failed", subject, "memory row that could not be replaced", failed > 0)
	}
}

// recovery tells what the driver asks for; each action begins and ends by itself.
func (n *notes) recovery(d *GPUDevice, key, subject string) {
	wanted, known := d.RecoveryAction.Get()
	if !known {
		return
	}
	for i, name := range RecoveryActions[1:] {
		n.is(EventGPURecovery, key+name, subject, "recovery wanted by the driver: "+name, wanted == float64(i+1))
	}
}

// links tells of links that are slower or fewer than they could be. An idle device lowers its
// PCIe link, and what was lowered takes a moment to come up. On boards with bridges not every
// NVLink need be wired: what was active once is held against what is active now.
func (n *notes) links(d *GPUDevice, key, subject string) {
	if generation, width, slower, known := trainedDown(d); known {
		what := "PCIe link trained down"
		if slower {
			what = fmt.Sprintf("PCIe link trained down to generation %.0f with %.0f lanes, of %.0f with %.0f", generation, width, d.PCIeGenerationMax.Or(0), d.PCIeWidthMax.Or(0))
		}
		n.lasts(EventGPUPCIe, key, subject, what, slower, lastsAfter)
	} else {
		n.unseen(EventGPUPCIe, key)
	}
	active, known := d.NVLinksActive.Get()
	if !known {
		return
	}
	id := d.UUID + key
	most := max(active, n.linked[id])
	if _, watched := n.linked[id]; watched || len(n.linked) < maxConditions {
		n.linked[id] = most
	}
	what := "NVLinks down"
	if active < most {
		what = fmt.Sprintf("%.0f of %.0f NVLinks down", most-active, most)
	}
	n.is(EventGPUNVLink, key, subject, what, active < most)
}

// trainedDown reports a PCIe link below what device and slot can, of a device at work.
func trainedDown(d *GPUDevice) (generation, width float64, slower, known bool) {
	bits, hasBits := d.ThrottleBits.Get()
	kernels, hasKernels := d.KernelActiveRatio.Get()
	if !hasBits && !hasKernels || bits&ThrottleIdle != 0 || hasKernels && kernels < 0.05 {
		return 0, 0, false, false
	}
	generation, ok := d.PCIeGeneration.Get()
	best, ok2 := d.PCIeGenerationMax.Get()
	width, ok3 := d.PCIeWidth.Get()
	widest, ok4 := d.PCIeWidthMax.Get()
	return generation, width, generation < best || width < widest, ok && ok2 && ok3 && ok4
}
