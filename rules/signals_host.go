package rules

import (
	"time"

	"llmtop/probes"
)

// hostRows are the machine.
func hostRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "host", Step: step, Formula: formula,
			Source: "/proc of the engine's host", Needs: "host", Export: exportName(name, unit, ""), at: at}
	}
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
		row("host.other_share", "share of the cores that others take", "ratio", 0.15, "host.other_cpu over the host's cores", func(n *now) probes.Opt[float64] {
			other, ok := otherCPU(n).Get()
			if !ok || n.point.Host.CPUs == 0 {
				return missing()
			}
			return probes.Some(other / float64(n.point.Host.CPUs))
		}),
		row("host.memory_available", "memory available", "bytes", 256<<20, "memory that can be had without swapping", func(n *now) probes.Opt[float64] {
			if h := n.point.Host; h != nil && n.fresh(h.At) {
				return h.MemoryAvailableBytes
			}
			return missing()
		}),
		row("host.memory_pressure", "memory pressure", "ratio", 0.05, "share of time in which some task waited for memory",
			func(n *now) probes.Opt[float64] {
				return hostRate(n, func(h *probes.Host) probes.Opt[float64] { return h.MemoryPressure.SomeSecondsTotal })
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
	return n.span.Rate(func(p *probes.Point) (float64, time.Time, bool) {
		if p.Host == nil {
			return 0, time.Time{}, false
		}
		x, ok := of(p.Host).Get()
		return x, p.Host.At, ok
	})
}

func busySeconds(h *probes.Host) probes.Opt[float64]  { return h.CPUBusySecondsTotal }
func stealSeconds(h *probes.Host) probes.Opt[float64] { return h.CPUStealSecondsTotal }

func cpuBusy(n *now) probes.Opt[float64] {
	busy, ok := hostRate(n, busySeconds).Get()
	if !ok || n.point.Host.CPUs == 0 {
		return missing()
	}
	return probes.Some(busy / float64(n.point.Host.CPUs))
}

func otherCPU(n *now) probes.Opt[float64] {
	busy, ok := hostRate(n, busySeconds).Get()
	engine, ok2 := processRate(n, cpuSeconds).Get()
	if !ok || !ok2 {
		return missing()
	}
	return probes.Some(max(0, busy-engine) + hostRate(n, stealSeconds).Or(0))
}
