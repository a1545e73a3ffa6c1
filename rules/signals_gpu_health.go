package rules

import (
	"slices"

	"llmtop/probes"
)

// gpuHealthRows tell of devices that break or are not connected as they should be. What
// happens once and matters for long is counted over the wide span. A lost device lists no
// processes any more: those that do not answer count whosever they were.
func gpuHealthRows() []Signal {
	counted := func(name, title, formula string, of gpuReading) Signal {
		return gpuRow(name, title, "count", 1, formula, func(n *now) probes.Opt[float64] {
			return n.sum(ofEngine, func(d *device) probes.Opt[float64] { return d.gain(of) })
		})
	}
	state := func(name, title, formula string, of gpuReading) Signal {
		return gpuRow(name, title, "count", 1, formula, func(n *now) probes.Opt[float64] {
			return n.sum(ofEngine, func(d *device) probes.Opt[float64] { return flagged(d.gauge(of)) })
		})
	}
	return []Signal{
		gpuRow("gpu.lost", "GPUs lost", "count", 1, "devices that fell off the bus, of the whole host", func(n *now) probes.Opt[float64] {
			return n.sum(anyDevice, func(d *device) probes.Opt[float64] { return one(isLost(d.GPUDevice)) })
		}),
		gpuRow("gpu.stale", "GPUs that do not answer", "count", 1, "devices that are there and have not been read lately: the driver hangs or refuses, of the whole host", func(n *now) probes.Opt[float64] {
			return n.sum(anyDevice, func(d *device) probes.Opt[float64] { return one(d.bad && !isLost(d.GPUDevice)) })
		}),
		gpuRow("gpu.xid", "critical GPU errors", "count", 1, "errors that driver or kernel reported in the wide span (Xid), those of applications included, and of devices that do not answer",
			func(n *now) probes.Opt[float64] { return n.xids(func(uint64) bool { return true }) }),
		gpuRow("gpu.xid_hardware", "GPU hardware errors", "count", 1, "Xids of the wide span that tell of the hardware and not of an application, by their number (48, 62–64, 74, 79, 92, 94, 95, 119, 120, 140, 154)",
			func(n *now) probes.Opt[float64] { return n.xids(hardwareXid) }),
		counted("gpu.ecc_uncorrected", "uncorrectable memory errors", "memory errors of the wide span that could not be set right",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.ECCUncorrectedTotal }),
		gpuRow("gpu.ecc_corrected", "corrected memory errors", "1/s", 1, "memory errors set right per second of the now span, the worst device", func(n *now) probes.Opt[float64] {
			return n.highest(func(d *device) probes.Opt[float64] {
				return d.rate(func(d *probes.GPUDevice) probes.Opt[float64] { return d.ECCCorrectedTotal })
			})
		}),
		state("gpu.remap_pending", "GPUs with memory rows to be replaced", "devices that wait for a reset to have a memory row replaced or a page retired",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.RemapPending }),
		state("gpu.remap_failed", "GPUs with memory past repair", "devices of which a memory row could not be replaced: the board is to be exchanged",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.RemapFailed }),
		state("gpu.recovery_wanted", "GPUs to be reset", "devices for which the driver asks for a reset, a reboot or a drain",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.RecoveryAction }),
		gpuRow("gpu.pcie_link", "PCIe link of maximum", "ratio", 0.1, "bandwidth of the PCIe link as trained now (lanes times the speed of its generation) over the most that device and slot can, the worst device that is not idle: idle ones lower it",
			func(n *now) probes.Opt[float64] { return n.lowest((*device).pcieLink) }),
		gpuRow("gpu.nvlinks_down", "NVLinks down", "count", 1, "active NVLinks that devices have less than the one of their model with most, or than they had at the beginning of the wide span; those without any are left out",
			func(n *now) probes.Opt[float64] {
				return n.sum(ofEngine, func(d *device) probes.Opt[float64] { return n.nvlinksDown(d) })
			}),
	}
}

func ofEngine(d *device) bool { return d.mine }
func anyDevice(*device) bool  { return true }

func one(is bool) probes.Opt[float64] {
	if is {
		return probes.Some(1.0)
	}
	return probes.Some(0.0)
}

// flagged is 1 for whatever is not 0.
func flagged(v probes.Opt[float64]) probes.Opt[float64] {
	if x, ok := v.Get(); ok {
		return one(x != 0)
	}
	return v
}

// hardwareXids are errors of the device, its memory, its links or its firmware (rules
// reference R52, NVIDIA's Xid catalogue); others are an application's as often as not.
var hardwareXids = []uint64{48, 62, 63, 64, 74, 79, 92, 94, 95, 119, 120, 140, 154}

func hardwareXid(code uint64) bool { return slices.Contains(hardwareXids, code) }

// xids counts the errors of the wide span whose number is wanted, of the engine's devices and
// of those that do not answer: their errors are still counted. Of several that came between
// two readings the last one's number stands for all.
func (n *now) xids(wanted func(uint64) bool) probes.Opt[float64] {
	return n.sum(func(d *device) bool { return d.mine || d.bad }, func(d *device) probes.Opt[float64] {
		total, ok := d.XidTotal.Get()
		switch {
		case !ok:
			return probes.None[float64](d.XidTotal.Why())
		case total == 0 || d.oldest != nil && d.oldest.XidTotal.Or(0) == total:
			return probes.Some(0.0) // as nearly always
		}
		return probes.Some(n.xidsOf(d.UUID, wanted))
	})
}

func (n *now) xidsOf(uuid string, wanted func(uint64) bool) (came float64) {
	before, seen := uint64(0), false
	for _, p := range n.wide.Points() {
		if p.GPU == nil {
			continue
		}
		d := deviceIn(p.GPU, 0, uuid)
		if d == nil {
			continue
		}
		total, ok := d.XidTotal.Get()
		if ok && seen && total > before && wanted(d.LastXid.Or(0)) {
			came += float64(total - before)
		}
		if ok {
			before, seen = total, true
		}
	}
	return came
}

// idleKernels is the time in which kernels ran below which a device is idle for its link
// [proposal].
const idleKernels = 0.05

// pcieLink is the bandwidth of the link over the most it could have: it doubles with each
// generation.
func (d *device) pcieLink() probes.Opt[float64] {
	if d.bad {
		return probes.None[float64](d.why)
	}
	idle := d.idles() || d.KernelActiveRatio.Or(1) < idleKernels
	if known := d.ThrottleBits.Seen() || d.KernelActiveRatio.Seen(); idle || !known {
		return missing()
	}
	speed := ratio(doublings(d.PCIeGeneration), doublings(d.PCIeGenerationMax))
	lanes := ratio(d.PCIeWidth, d.PCIeWidthMax)
	a, ok := speed.Get()
	b, ok2 := lanes.Get()
	switch {
	case !ok:
		return speed
	case !ok2:
		return lanes
	}
	return probes.Some(a * b)
}

// doublings is 2 to the power of a PCIe generation.
func doublings(generation probes.Opt[float64]) probes.Opt[float64] {
	g, ok := generation.Get()
	if !ok || g < 1 || g > 15 {
		if ok {
			return missing()
		}
		return generation
	}
	return probes.Some(float64(uint(1) << uint(g)))
}

func activeLinks(d *probes.GPUDevice) probes.Opt[float64] { return d.NVLinksActive }

// nvlinksDown goes by what is usual here: on boards with bridges not every link need be wired.
func (n *now) nvlinksDown(d *device) probes.Opt[float64] {
	active, ok := d.gauge(activeLinks).Get()
	if !ok {
		return d.gauge(activeLinks)
	}
	most, had := active, active
	if d.oldest != nil {
		had = max(had, d.oldest.NVLinksActive.Or(0))
	}
	if had == 0 {
		return probes.Some(0.0)
	}
	for i := range n.gpus.list {
		if other := &n.gpus.list[i]; other.Name == d.Name {
			most = max(most, other.gauge(activeLinks).Or(0))
		}
	}
	return probes.Some(max(most, had) - active)
}
