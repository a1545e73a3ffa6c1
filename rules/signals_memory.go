package rules

import "llmtop/probes"

// memoryRows are the host's memory, and what happens when there is too little of it.
func memoryRows() []Signal {
	row := hostRow
	pages := func(name, title, formula string, of func(*probes.Host) probes.Opt[float64]) Signal {
		return row(name, title, "1/s", 10, formula, func(n *now) probes.Opt[float64] { return hostRate(n, of) })
	}
	return []Signal{
		row("host.memory_available", "memory available", "bytes", 256<<20, "memory that can be had without swapping", func(n *now) probes.Opt[float64] {
			return hostGauge(n, func(h *probes.Host) probes.Opt[float64] { return h.MemoryAvailableBytes })
		}),
		row("host.memory_pressure", "memory pressure", "ratio", 0.05, "share of time in which some task waited for memory",
			func(n *now) probes.Opt[float64] {
				return hostRate(n, func(h *probes.Host) probes.Opt[float64] { return h.MemoryPressure.SomeSecondsTotal })
			}),
		pages("host.swap_in", "pages swapped in", "pages read back from swap a second: work waits for each",
			func(h *probes.Host) probes.Opt[float64] { return h.SwapInTotal }),
		pages("host.swap_out", "pages swapped out", "pages written to swap a second",
			func(h *probes.Host) probes.Opt[float64] { return h.SwapOutTotal }),
		row("host.oom_kills", "processes killed for memory", "count", 1, "processes that the kernel killed for want of memory in the wide span, of the whole host", func(n *now) probes.Opt[float64] {
			return hostCount(n, func(h *probes.Host) probes.Opt[float64] { return h.OOMKillsTotal })
		}),
	}
}
