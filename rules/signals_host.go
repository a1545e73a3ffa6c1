package rules

import (
	"time"

	"llmtop/probes"
)

// hostRow is a row of the table that /proc of the host tells.
func hostRow(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
	return Signal{Name: name, Title: title, Unit: unit, Kind: "host", Step: step, Formula: formula,
		Source: "/proc of the engine's host", Needs: "host", Export: exportName(name, unit, ""), at: at}
}

// hostRows are the machine's cores.
func hostRows() []Signal {
	row := hostRow
	return []Signal{
		row("host.cpu_busy", "host CPU busy", "ratio", 0.1, "busy CPU seconds of all cores over wall time and cores, 0–1", cpuBusy),
		row("host.cpus", "cores", "count", 1, "cores of the host", func(n *now) probes.Opt[float64] {
			if h := n.point.Host; h != nil && h.CPUs > 0 {
				return probes.Some(float64(h.CPUs))
			}
			return missing()
		}),
		row("host.cpu_pressure", "CPU pressure", "ratio", 0.1, "share of time in which some task waited for a core",
			func(n *now) probes.Opt[float64] {
				return hostRate(n, func(h *probes.Host) probes.Opt[float64] { return h.CPUPressure.SomeSecondsTotal })
			}),
		row("host.other_cpu", "CPU of others", "cores", 0.3, "cores busy with anything but the engine's process, steal included", otherCPU),
		row("host.other_share", "share of the cores that others take", "ratio", 0.15, "host.other_cpu over the host's cores", otherShare),
		row("host.cpu_full_cores", "full cores", "cores", 1, "cores at least 95 % busy in the last interval: one is enough to hold up an engine", func(n *now) probes.Opt[float64] {
			return hostGauge(n, func(h *probes.Host) probes.Opt[float64] { return h.FullCores })
		}),
		row("host.busiest_core", "busiest core", "ratio", 0.1, "time in which the busiest core of each interval was busy", func(n *now) probes.Opt[float64] {
			return hostRate(n, func(h *probes.Host) probes.Opt[float64] { return h.BusiestCoreSecs })
		}),
		row("host.steal", "cores stolen by the hypervisor", "ratio", 0.02, "core seconds that the hypervisor gave to other machines over wall time and cores",
			func(n *now) probes.Opt[float64] { return ofCores(n, stealSeconds) }),
		row("host.iowait", "cores waiting for disks", "ratio", 0.05, "core seconds without work while a disk was waited for, over wall time and cores", func(n *now) probes.Opt[float64] {
			return ofCores(n, func(h *probes.Host) probes.Opt[float64] { return h.CPUWaitSecondsTotal })
		}),
		row("host.runnable", "runnable tasks", "count", 2, "tasks that run or are ready to, now", func(n *now) probes.Opt[float64] {
			return hostGauge(n, func(h *probes.Host) probes.Opt[float64] { return h.Runnable })
		}),
		row("host.blocked", "blocked tasks", "count", 1, "tasks in uninterruptible sleep, now: they wait for a disk or a driver", func(n *now) probes.Opt[float64] {
			return hostGauge(n, func(h *probes.Host) probes.Opt[float64] { return h.Blocked })
		}),
	}
}

// hostRate is a host counter's growth per second.
func hostRate(n *now, of func(*probes.Host) probes.Opt[float64]) probes.Opt[float64] {
	if n.point.Host == nil {
		return missing()
	}
	if !of(n.point.Host).Seen() {
		return of(n.point.Host)
	}
	return n.aged(n.span.Rate(hostReading(of)), n.point.Host.At)
}

func hostReading(of func(*probes.Host) probes.Opt[float64]) probes.Reading {
	return func(p *probes.Point) (float64, time.Time, bool) {
		if p.Host == nil {
			return 0, time.Time{}, false
		}
		x, ok := of(p.Host).Get()
		return x, p.Host.At, ok
	}
}

// aged is a number over the section of a moment; where there is none and the section is old,
// that is why.
func (n *now) aged(v probes.Opt[float64], at time.Time) probes.Opt[float64] {
	if !v.Seen() && !n.fresh(at) {
		return probes.None[float64](probes.Stale)
	}
	return v
}

// hostGauge is a reading of the host as it stands now.
func hostGauge(n *now, of func(*probes.Host) probes.Opt[float64]) probes.Opt[float64] {
	switch h := n.point.Host; {
	case h == nil:
		return missing()
	case !n.fresh(h.At):
		return probes.None[float64](probes.Stale)
	default:
		return of(h)
	}
}

// hostCount is how much a counter of what is rare and matters for long grew in the wide span.
func hostCount(n *now, of func(*probes.Host) probes.Opt[float64]) probes.Opt[float64] {
	h := n.point.Host
	if h == nil {
		return missing()
	}
	if !of(h).Seen() {
		return of(h)
	}
	grown, _ := n.wide.Increase(hostReading(of))
	return n.aged(grown, h.At)
}

// ofCores is a counter of core seconds as a share of all cores.
func ofCores(n *now, seconds func(*probes.Host) probes.Opt[float64]) probes.Opt[float64] {
	v := hostRate(n, seconds)
	x, ok := v.Get()
	switch {
	case !ok:
		return v
	case n.point.Host.CPUs == 0:
		return missing()
	}
	return probes.Some(x / float64(n.point.Host.CPUs))
}

func busySeconds(h *probes.Host) probes.Opt[float64]  { return h.CPUBusySecondsTotal }
func stealSeconds(h *probes.Host) probes.Opt[float64] { return h.CPUStealSecondsTotal }

func cpuBusy(n *now) probes.Opt[float64] { return ofCores(n, busySeconds) }

func otherCPU(n *now) probes.Opt[float64] {
	busy, ok := hostRate(n, busySeconds).Get()
	engine, ok2 := processRate(n, cpuSeconds).Get()
	if !ok || !ok2 {
		return missing()
	}
	return probes.Some(max(0, busy-engine)) // what is stolen counts as busy
}

func otherShare(n *now) probes.Opt[float64] {
	other, ok := otherCPU(n).Get()
	if !ok || n.point.Host.CPUs == 0 {
		return missing()
	}
	return probes.Some(other / float64(n.point.Host.CPUs))
}
