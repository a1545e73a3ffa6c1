package rules

import "llmtop/probes"

// throttle is one reason for which a device's clocks are held down, as drivers tell it: by
// the bits at each sample, and by counters of the time it lasted, which catch what lies
// between two samples. Old drivers and other devices have no such counters.
type throttle struct {
	bits     func(*heldSamples) float64 // samples in which it held; nil where time alone is asked for
	counters []gpuReading               // each a part of it; they may overlap, so the largest counts
}

var (
	byPower = throttle{func(h *heldSamples) float64 { return h.power }, []gpuReading{func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottlePowerSecondsTotal }}}
	byHeat  = throttle{func(h *heldSamples) float64 { return h.heat }, []gpuReading{
		func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleThermalSecondsTotal },
		func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleSWThermalSecondsTotal },
		func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleHWThermalSecondsTotal },
	}}
	byBrake = throttle{func(h *heldSamples) float64 { return h.brake }, []gpuReading{func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleBrakeSecondsTotal }}}
	bySync  = throttle{nil, []gpuReading{func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleSyncSecondsTotal }}}
)

// throttleRows are the shares of the now span in which clocks were held down, each of the
// worst device.
func throttleRows() []Signal {
	row := func(name, title, formula string, step float64, of func(*device) probes.Opt[float64]) Signal {
		return gpuRow(name, title, "ratio", step, formula, func(n *now) probes.Opt[float64] { return n.highest(of) })
	}
	return []Signal{
		row("gpu.throttle_power", "power-cap bit", "share of samples of the now span with the power-cap bit (0x4), the worst device", 0.2, byPower.samples),
		row("gpu.throttle_thermal", "thermal bits", "share of samples of the now span with a thermal bit (0x20, 0x40), the worst device", 0.1, byHeat.samples),
		row("gpu.throttle_power_time", "power-cap time", "share of the now span in which the power limit held the clocks down, by the driver's counter, the worst device", 0.2, byPower.time),
		row("gpu.throttle_thermal_time", "thermal slowdown time", "share of the now span in which heat held the clocks down, by the driver's counters (the largest of all, software's and hardware's), the worst device", 0.1, byHeat.time),
		row("gpu.throttle_brake_time", "power-brake time", "share of the now span in which the power brake held the clocks down, by the driver's counter, the worst device", 0.1, byBrake.time),
		row("gpu.throttle_sync_time", "sync-boost time", "share of the now span in which the clocks were held down to those of a sync-boost group, by the driver's counter, the worst device", 0.2, bySync.time),
		row("gpu.power_capped", "held down by the power limit", "gpu.throttle_power_time of a device whose driver counts it, else its share of samples with the bit, the worst device", 0.2, byPower.held),
		row("gpu.heat_slowed", "held down by heat", "gpu.throttle_thermal_time of a device whose driver counts it, else its share of samples with a thermal bit, the worst device", 0.1, byHeat.held),
		row("gpu.power_braked", "held down by the power brake", "gpu.throttle_brake_time of a device whose driver counts it, else its share of samples with the bit (0x80), the worst device", 0.1, byBrake.held),
	}
}

func (t *throttle) samples(d *device) probes.Opt[float64] { return d.share(t.bits) }

func (t *throttle) time(d *device) probes.Opt[float64] {
	out := missing()
	for i, c := range t.counters {
		v := d.rate(c)
		x, ok := v.Get()
		switch {
		case ok: // the counter and the clock of the reading do not move at the same moment
			out = probes.Some(max(out.Or(0), min(x, 1)))
		case !out.Seen() && (i == 0 || out.Why() == probes.NotSeen):
			out = v
		}
	}
	return out
}

// held is the time where it is counted. A counter that has stood at 0 since the driver was
// loaded may be one that the device does not keep: then the bits speak, too.
func (t *throttle) held(d *device) probes.Opt[float64] {
	time := t.time(d)
	if time.Seen() && t.counts(d) {
		return time
	}
	if bits := t.samples(d); bits.Seen() {
		return bits
	}
	return time
}

func (t *throttle) counts(d *device) bool {
	for _, c := range t.counters {
		if c(d.GPUDevice).Or(0) > 0 {
			return true
		}
	}
	return false
}
