package rules

import (
	"llmtop/probes"
)

// gpuRow is a row of the table that NVML, a DCGM exporter or sysfs tells. Its computation
// goes over the devices that the engine uses, where that is known, else over all.
func gpuRow(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
	return Signal{Name: name, Title: title, Unit: unit, Kind: "gpu", Step: step, Formula: formula,
		Source: "NVML, a DCGM exporter or sysfs, of the engine's devices where it is known which they are", Needs: "gpu", Export: exportName(name, unit, ""), at: at}
}

// gpuRows read the worst device: the hottest, the fullest, the slowest clock.
func gpuRows() []Signal {
	highest := func(of gpuReading) func(*now) probes.Opt[float64] {
		return func(n *now) probes.Opt[float64] {
			return n.highest(func(d *device) probes.Opt[float64] { return d.gauge(of) })
		}
	}
	lowest := func(of gpuReading) func(*now) probes.Opt[float64] {
		return func(n *now) probes.Opt[float64] {
			return n.lowest(func(d *device) probes.Opt[float64] { return d.gauge(of) })
		}
	}
	return []Signal{
		gpuRow("gpu.count", "GPUs", "count", 1, "devices that the engine uses, of all where that is not known; a divided one counts as its MIG instances", gpuCount),
		gpuRow("gpu.kernel_active", "GPU kernel time", "ratio", 0.1, "time in which any kernel ran, the busiest device; not how much of the GPU it used", func(n *now) probes.Opt[float64] {
			return n.highest(func(d *device) probes.Opt[float64] {
				return d.undivided(d.gauge(func(d *probes.GPUDevice) probes.Opt[float64] { return d.KernelActiveRatio }))
			})
		}),
		gpuRow("gpu.power_ratio", "GPU power of limit", "ratio", 0.05, "power over the enforced limit, the highest",
			highest(func(d *probes.GPUDevice) probes.Opt[float64] { return ratio(d.PowerWatts, d.PowerLimitWatts) })),
		gpuRow("gpu.power", "GPU power", "W", 20, "power of the hungriest device", highest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.PowerWatts })),
		gpuRow("gpu.energy_power", "GPU power by energy", "W", 20, "energy used over the now span, per second, of the hungriest device; steadier than readings of power", func(n *now) probes.Opt[float64] {
			return n.highest(func(d *device) probes.Opt[float64] {
				return d.rate(func(d *probes.GPUDevice) probes.Opt[float64] { return d.EnergyJoulesTotal })
			})
		}),
		gpuRow("gpu.limit_ratio", "GPU power limit", "ratio", 0.05, "enforced power limit over the default, the lowest",
			lowest(func(d *probes.GPUDevice) probes.Opt[float64] { return ratio(d.PowerLimitWatts, d.PowerDefaultWatts) })),
		gpuRow("gpu.sm_clock_ratio", "SM clock of maximum", "ratio", 0.05, "SM clock over its maximum, the slowest device that is not idle", func(n *now) probes.Opt[float64] {
			return n.lowest(func(d *device) probes.Opt[float64] {
				if !d.bad && d.idles() {
					return missing()
				}
				return d.gauge(func(d *probes.GPUDevice) probes.Opt[float64] { return ratio(d.SMClockHertz, d.SMClockMaxHertz) })
			})
		}),
		gpuRow("gpu.temperature", "GPU temperature", "°C", 3, "the hottest device", highest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.TemperatureCelsius })),
		gpuRow("gpu.memory_temperature", "GPU memory temperature", "°C", 3, "of the memory, the hottest device",
			highest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.MemoryTemperatureCelsius })),
		gpuRow("gpu.temperature_margin", "GPU thermal margin", "°C", 3, "how much hotter a device may get before it slows down, the nearest to it",
			lowest(func(d *probes.GPUDevice) probes.Opt[float64] { return d.TemperatureMarginCelsius })),
		gpuRow("gpu.memory_used_ratio", "GPU memory", "ratio", 0.05, "device memory in use over all, the fullest",
			highest(func(d *probes.GPUDevice) probes.Opt[float64] { return ratio(d.MemoryUsedBytes, d.MemoryTotalBytes) })),
	}
}

func gpuCount(n *now) probes.Opt[float64] {
	return n.sum(func(d *device) bool { return d.mine && !d.divided }, func(*device) probes.Opt[float64] { return probes.Some(1.0) })
}

// undivided leaves a reading of use to the instances of a divided device: its own says
// nothing of what an engine gets of it.
func (d *device) undivided(v probes.Opt[float64]) probes.Opt[float64] {
	if d.divided {
		return missing()
	}
	return v
}

func ratio(part, whole probes.Opt[float64]) probes.Opt[float64] {
	a, ok := part.Get()
	if !ok {
		return part
	}
	b, ok := whole.Get()
	switch {
	case !ok:
		return whole
	case b <= 0:
		return missing()
	}
	return probes.Some(a / b)
}
