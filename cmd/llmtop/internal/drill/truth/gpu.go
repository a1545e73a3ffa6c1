package truth

import (
	"slices"

	"llmtop/probes"
)

const (
	heatBits    = probes.ThrottleSWThermal | probes.ThrottleHWThermal
	idleKernels = 0.05 // time in which kernels run, below which a device lowers its link
)

// hardwareXids are the driver's errors that tell of hardware (NVIDIA's Xid catalogue).
var hardwareXids = []uint64{48, 62, 63, 64, 74, 79, 92, 94, 95, 119, 120, 140, 154}

// gpuRows are the numbers of devices: the worst one counts.
func gpuRows() []row {
	worst := func(worse func(a, b float64) float64, read of) func(view) (float64, bool) {
		return func(v view) (float64, bool) {
			return v.worst(worse, func(g *gpu) (float64, bool) { return read(g.GPUDevice).Get() })
		}
	}
	most := func(read of) func(view) (float64, bool) {
		return func(v view) (float64, bool) {
			return v.worst(larger, func(g *gpu) (float64, bool) {
				x, ok := read(g.GPUDevice).Get()
				return x, ok && !g.divided
			})
		}
	}
	held := func(mask uint64, seconds ...of) func(view) (float64, bool) {
		return func(v view) (float64, bool) {
			return v.worst(larger, func(g *gpu) (float64, bool) { return g.held(mask, seconds...) })
		}
	}
	bits := func(mask uint64) func(view) (float64, bool) {
		return func(v view) (float64, bool) {
			return v.worst(larger, func(g *gpu) (float64, bool) { return g.bits(mask) })
		}
	}
	asks := func(read of) func(view) (float64, bool) {
		return func(v view) (float64, bool) {
			return v.counted(mine, func(g *gpu) (float64, bool) {
				x, ok := read(g.GPUDevice).Get()
				return one(x != 0), ok && !g.silent
			})
		}
	}
	return []row{
		{"gpu.kernel_active", most(func(d *probes.GPUDevice) probes.Opt[float64] { return d.KernelActiveRatio })},
		{"gpu.sm_active", most(func(d *probes.GPUDevice) probes.Opt[float64] { return d.SMActiveRatio })},
		{"gpu.dram_active", most(func(d *probes.GPUDevice) probes.Opt[float64] { return d.DRAMActiveRatio })},
		{"gpu.temperature", worst(larger, func(d *probes.GPUDevice) probes.Opt[float64] { return d.TemperatureCelsius })},
		{"gpu.power_ratio", worst(larger, func(d *probes.GPUDevice) probes.Opt[float64] { return over(d.PowerWatts, d.PowerLimitWatts) })},
		{"gpu.limit_ratio", worst(smaller, func(d *probes.GPUDevice) probes.Opt[float64] { return over(d.PowerLimitWatts, d.PowerDefaultWatts) })},
		{"gpu.sm_clock_ratio", func(v view) (float64, bool) {
			return v.worst(smaller, func(g *gpu) (float64, bool) {
				x, ok := over(g.SMClockHertz, g.SMClockMaxHertz).Get()
				return x, ok && !g.idles()
			})
		}},
		{"gpu.throttle_power", bits(probes.ThrottlePowerCap)},
		{"gpu.throttle_thermal", bits(heatBits)},
		{"gpu.power_capped", held(probes.ThrottlePowerCap, func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottlePowerSecondsTotal })},
		{"gpu.heat_slowed", held(heatBits, func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleThermalSecondsTotal },
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleSWThermalSecondsTotal },
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleHWThermalSecondsTotal })},
		{"gpu.power_braked", held(probes.ThrottlePowerBrake, func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleBrakeSecondsTotal })},
		{"gpu.lost", func(v view) (float64, bool) {
			return v.counted(every, func(g *gpu) (float64, bool) { return one(g.lost()), true })
		}},
		{"gpu.stale", func(v view) (float64, bool) {
			return v.counted(every, func(g *gpu) (float64, bool) { return one(g.silent && !g.lost()), true })
		}},
		{"gpu.xid_hardware", xids},
		{"gpu.ecc_uncorrected", func(v view) (float64, bool) {
			return v.counted(mine, func(g *gpu) (float64, bool) {
				return g.gained(func(d *probes.GPUDevice) probes.Opt[float64] { return d.ECCUncorrectedTotal })
			})
		}},
		{"gpu.remap_pending", asks(func(d *probes.GPUDevice) probes.Opt[float64] { return d.RemapPending })},
		{"gpu.remap_failed", asks(func(d *probes.GPUDevice) probes.Opt[float64] { return d.RemapFailed })},
		{"gpu.recovery_wanted", asks(func(d *probes.GPUDevice) probes.Opt[float64] { return d.RecoveryAction })},
		{"gpu.pcie_link", func(v view) (float64, bool) { return v.worst(smaller, (*gpu).link) }},
		{"gpu.other_processes", func(v view) (float64, bool) {
			pids := map[int]bool{}
			for _, p := range v.look().others {
				pids[p.PID] = true
			}
			return float64(len(pids)), v.look().joined
		}},
		{"gpu.other_memory", ofOthers(func(p *probes.GPUProcess) probes.Opt[float64] { return p.MemoryBytes })},
		{"gpu.other_active", ofOthers(func(p *probes.GPUProcess) probes.Opt[float64] { return p.KernelActiveRatio })},
	}
}

func ofOthers(read func(*probes.GPUProcess) probes.Opt[float64]) func(view) (float64, bool) {
	return func(v view) (total float64, ok bool) {
		d := v.look()
		ok = d.joined && len(d.others) == 0
		for _, p := range d.others {
			if x, told := read(p).Get(); told {
				total, ok = total+x, true
			}
		}
		return total, ok
	}
}

// xids are errors of the hardware in the wide span; of several between two readings the last
// one's number stands for all.
func xids(v view) (float64, bool) {
	return v.counted(func(g *gpu) bool { return g.mine || g.silent }, func(g *gpu) (came float64, ok bool) {
		if _, ok = g.XidTotal.Get(); !ok {
			return 0, false
		}
		var before *probes.GPUDevice
		for _, m := range v.last(wideSpan) {
			if m.GPU == nil {
				continue
			}
			i := slices.IndexFunc(m.GPU.Devices, func(d probes.GPUDevice) bool { return d.UUID == g.UUID })
			if i < 0 || !m.GPU.Devices[i].XidTotal.Seen() {
				continue
			}
			d := &m.GPU.Devices[i]
			if before != nil && d.XidTotal.Or(0) > before.XidTotal.Or(0) && slices.Contains(hardwareXids, d.LastXid.Or(0)) {
				came += float64(d.XidTotal.Or(0) - before.XidTotal.Or(0))
			}
			before = d
		}
		return came, true
	})
}

// link is the bandwidth of the PCIe link over the most it could have: lanes, and a speed that
// doubles with each generation. An idle device lowers it.
func (g *gpu) link() (float64, bool) {
	if g.idles() || g.KernelActiveRatio.Or(1) < idleKernels || !g.ThrottleBits.Seen() && !g.KernelActiveRatio.Seen() {
		return 0, false
	}
	now, ok := g.PCIeGeneration.Get()
	most, ok2 := g.PCIeGenerationMax.Get()
	lanes, ok3 := over(g.PCIeWidth, g.PCIeWidthMax).Get()
	if !ok || !ok2 || !ok3 || now < 1 || most < 1 || now > 15 || most > 15 {
		return 0, false
	}
	speed := 1.0
	for g := now; g < most; g++ {
		speed /= 2
	}
	for g := most; g < now; g++ {
		speed *= 2
	}
	return speed * lanes, true
}

// over is a part of a whole that is more than 0.
func over(part, whole probes.Opt[float64]) probes.Opt[float64] {
	a, ok := part.Get()
	b, ok2 := whole.Get()
	if !ok || !ok2 || b <= 0 {
		return probes.Opt[float64]{}
	}
	return probes.Some(a / b)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
