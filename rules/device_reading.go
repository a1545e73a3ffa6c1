package rules

import "llmtop/probes"

// gpuReading is a number of a device.
type gpuReading func(*probes.GPUDevice) probes.Opt[float64]

// gauge is a reading as it stands now.
func (d *device) gauge(of gpuReading) probes.Opt[float64] {
	if d.bad {
		return probes.None[float64](d.why)
	}
	return of(d.GPUDevice)
}

// rate is a counter's growth per second over the now span. One that is lower at the end than
// at the beginning was reset to 0 on the way.
func (d *device) rate(of gpuReading) probes.Opt[float64] {
	if v := d.gauge(of); !v.Seen() {
		return v
	}
	past := d.past
	for len(past) > 0 && !of(past[0]).Seen() {
		past = past[1:]
	}
	for len(past) > 0 && !of(past[len(past)-1]).Seen() {
		past = past[:len(past)-1]
	}
	if len(past) < 2 {
		return missing()
	}
	first, last := past[0], past[len(past)-1]
	total := of(last).Or(0) - of(first).Or(0)
	if total < 0 {
		total = grownAnew(past, of)
	}
	return probes.Some(total / last.At.Sub(first.At).Seconds())
}

// gain is how much a counter of what is rare and matters for long grew over the wide span.
// One that is lower now than then was reset to 0.
func (d *device) gain(of gpuReading) probes.Opt[float64] {
	v := d.gauge(of)
	x, ok := v.Get()
	if !ok {
		return v
	}
	if d.oldest == nil || !of(d.oldest).Seen() {
		return missing()
	}
	if before := of(d.oldest).Or(0); before <= x {
		x -= before
	}
	return probes.Some(x)
}

// grownAnew is the growth of a counter that began anew.
func grownAnew(past []*probes.GPUDevice, of gpuReading) (total float64) {
	before := of(past[0]).Or(0)
	for _, then := range past[1:] {
		v, ok := of(then).Get()
		switch {
		case !ok:
			continue
		case v < before:
			total += v
		default:
			total += v - before
		}
		before = v
	}
	return total
}

// share is how much of the now span had a throttle bit, by samples.
func (d *device) share(of func(*heldSamples) float64) probes.Opt[float64] {
	switch {
	case d.bad:
		return probes.None[float64](d.why)
	case d.held.all > 0:
		return probes.Some(of(&d.held) / d.held.all)
	case d.ThrottleBits.Seen():
		return missing()
	}
	return probes.None[float64](d.ThrottleBits.Why())
}

// idles reports a device that has lowered its clocks for want of work.
func (d *device) idles() bool { return d.ThrottleBits.Or(0)&probes.ThrottleIdle != 0 }

// highest and lowest are the reading of the engine's device that has most or least of it. A
// missing one keeps its reason.
func (n *now) highest(of func(*device) probes.Opt[float64]) probes.Opt[float64] {
	return n.worst(of, func(a, b float64) bool { return a > b })
}

func (n *now) lowest(of func(*device) probes.Opt[float64]) probes.Opt[float64] {
	return n.worst(of, func(a, b float64) bool { return a < b })
}

func (n *now) worst(of func(*device) probes.Opt[float64], worse func(a, b float64) bool) probes.Opt[float64] {
	out := missing()
	for i := range n.gpus.list {
		d := &n.gpus.list[i]
		if !d.mine {
			continue
		}
		v := of(d)
		x, ok := v.Get()
		y, have := out.Get()
		if (ok && (!have || worse(x, y))) || (!ok && !have && out.Why() == probes.NotSeen) {
			out = v
		}
	}
	return out
}

// sum adds a reading up over devices; those that do not tell it add nothing, and give the
// reason when none does.
func (n *now) sum(which func(*device) bool, of func(*device) probes.Opt[float64]) probes.Opt[float64] {
	out := missing()
	for i := range n.gpus.list {
		d := &n.gpus.list[i]
		if !which(d) {
			continue
		}
		v := of(d)
		if x, ok := v.Get(); ok {
			out = probes.Some(out.Or(0) + x)
		} else if !out.Seen() && out.Why() == probes.NotSeen {
			out = v
		}
	}
	return out
}
