package rules

import (
	"time"

	"llmtop/probes"
)

// gpuRows read the worst device: the hottest, the fullest, the slowest clock.
func gpuRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "gpu", Step: step, Formula: formula,
			Source: "NVML", Needs: "gpu", Export: exportName(name, unit, ""), at: at}
	}
	highest := func(of func(*probes.GPUDevice) probes.Opt[float64]) func(*now) probes.Opt[float64] {
		return func(n *now) probes.Opt[float64] {
			return worst(n, of, func(a, b float64) bool { return a > b })
		}
	}
	return []Signal{
		row("gpu.kernel_active", "GPU kernel time", "ratio", 0.1, "time in which any kernel ran, the busiest device; not how much of the GPU it used",
			highest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.KernelActiveRatio })),
		row("gpu.power_ratio", "GPU power of limit", "ratio", 0.05, "power over the enforced limit, the highest",
			highest(func(d *probes.GPUDevice) probes.Opt[float64] { return ratio(d.PowerWatts, d.PowerLimitWatts) })),
		row("gpu.power", "GPU power", "W", 20, "power of the hungriest device", highest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.PowerWatts })),
		row("gpu.limit_ratio", "GPU power limit", "ratio", 0.05, "enforced power limit over the default, the lowest",
			func(n *now) probes.Opt[float64] {
				return worst(n, func(d *probes.GPUDevice) probes.Opt[float64] { return ratio(d.PowerLimitWatts, d.PowerDefaultWatts) },
					func(a, b float64) bool { return a < b })
			}),
		row("gpu.sm_clock_ratio", "SM clock of maximum", "ratio", 0.05, "SM clock over its maximum, the slowest device that is not idle", func(n *now) probes.Opt[float64] {
			return worst(n, func(d *probes.GPUDevice) probes.Opt[float64] {
				if d.ThrottleBits.Or(0)&probes.ThrottleIdle != 0 {
					return missing()
				}
				return ratio(d.SMClockHertz, d.SMClockMaxHertz)
			}, func(a, b float64) bool { return a < b })
		}),
		row("gpu.temperature", "GPU temperature", "°C", 3, "the hottest device", highest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.TemperatureCelsius })),
		row("gpu.throttle_power", "power-cap bit", "ratio", 0.2, "share of samples of the now span with the power-cap bit (0x4), the worst device",
			func(n *now) probes.Opt[float64] { return n.gpuShare.power }),
		row("gpu.throttle_thermal", "thermal bits", "ratio", 0.1, "share of samples of the now span with a thermal bit (0x20, 0x40), the worst device",
			func(n *now) probes.Opt[float64] { return n.gpuShare.thermal }),
		row("gpu.dram_active", "DRAM active", "ratio", 0.1, "share of peak memory bandwidth in use, the highest (needs profiling counters)",
			highest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.DRAMActiveRatio })),
		row("gpu.memory_used_ratio", "GPU memory", "ratio", 0.05, "device memory in use over all, the fullest",
			highest(func(d *probes.GPUDevice) probes.Opt[float64] { return ratio(d.MemoryUsedBytes, d.MemoryTotalBytes) })),
	}
}

func ratio(part, whole probes.Opt[float64]) probes.Opt[float64] {
	a, ok := part.Get()
	if !ok {
		return part
	}
	b, ok := whole.Get()
	if !ok || b <= 0 {
		return whole
	}
	return probes.Some(a / b)
}

// worst is the reading of the device that is worse than the others. A missing
// reading keeps its reason; devices that no longer answer are lost.
func worst(n *now, of func(*probes.GPUDevice) probes.Opt[float64], worse func(a, b float64) bool) probes.Opt[float64] {
	g := n.point.GPU
	if g == nil || len(g.Devices) == 0 {
		return missing()
	}
	out := missing()
	for i := range g.Devices {
		d := &g.Devices[i]
		v := of(d)
		switch {
		case d.Err != "":
			v = probes.None[float64](probes.Lost)
		case !n.fresh(d.At):
			v = probes.None[float64](probes.Stale)
		}
		x, ok := v.Get()
		y, have := out.Get()
		if (ok && (!have || worse(x, y))) || (!ok && !have) {
			out = v
		}
	}
	return out
}

// gpuShares are the shares of samples with a throttle bit, of the worst device.
type gpuShares struct{ power, thermal probes.Opt[float64] }

func gpuSharesOf(v probes.View) gpuShares {
	type tally struct{ n, power, thermal float64 }
	tallies := map[string]*tally{}
	var last time.Time
	for _, p := range v.Points() {
		if p.GPU == nil || !p.GPU.At.After(last) {
			continue
		}
		last = p.GPU.At
		for i := range p.GPU.Devices {
			d := &p.GPU.Devices[i]
			bits, ok := d.ThrottleBits.Get()
			if !ok || d.Err != "" {
				continue
			}
			t := tallies[d.UUID]
			if t == nil {
				t = &tally{}
				tallies[d.UUID] = t
			}
			t.n++
			if bits&probes.ThrottlePowerCap != 0 {
				t.power++
			}
			if bits&(probes.ThrottleSWThermal|probes.ThrottleHWThermal) != 0 {
				t.thermal++
			}
		}
	}
	var out gpuShares
	for _, t := range tallies { // order does not matter: a maximum
		out.power = probes.Some(max(out.power.Or(0), t.power/t.n))
		out.thermal = probes.Some(max(out.thermal.Or(0), t.thermal/t.n))
	}
	return out
}
