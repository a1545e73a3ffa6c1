package rules

import "llmtop/probes"

// cgroupRows are the limits set for the engine's processes and how near they are to them.
func cgroupRows() []Signal {
	row := processRow
	gauge := func(name, title, unit string, step float64, formula string, of func(*probes.Process) probes.Opt[float64]) Signal {
		return row(name, title, unit, step, formula, func(n *now) probes.Opt[float64] { return processGauge(n, of) })
	}
	return []Signal{
		row("process.throttled", "CPU quota throttling", "ratio", 0.1, "scheduling periods in which the quota of its cgroup stopped it", func(n *now) probes.Opt[float64] {
			return processRatio(n, func(p *probes.Process) probes.Opt[float64] { return p.CgroupThrottledTotal },
				func(p *probes.Process) probes.Opt[float64] { return p.CgroupPeriodsTotal })
		}),
		row("process.throttled_time", "time stopped by its CPU quota", "ratio", 0.1, "seconds a second for which the quota of its cgroup stopped it, all cores added up: it may exceed 1", func(n *now) probes.Opt[float64] {
			return processRate(n, func(p *probes.Process) probes.Opt[float64] { return p.CgroupThrottledSecTotal })
		}),
		gauge("process.cpu_limit", "CPU quota", "cores", 0.5, "cores that the tightest quota of its cgroups allows; missing without one", func(p *probes.Process) probes.Opt[float64] { return p.CPULimitCores }),
		gauge("process.memory_of_limit", "memory of its limit", "ratio", 0.05, "memory of its cgroup over the tightest limit, page cache that can be given back left out; missing without one",
			func(p *probes.Process) probes.Opt[float64] { return ratio(p.MemoryLimitUsedBytes, p.MemoryLimitBytes) }),
		row("process.oom_kills", "processes of its cgroup killed for memory", "count", 1, "processes of the engine's cgroups that the kernel killed for want of memory in the wide span", func(n *now) probes.Opt[float64] {
			p := n.point.Process
			if p == nil {
				return missing()
			}
			of := func(p *probes.Process) probes.Opt[float64] { return p.CgroupOOMKillsTotal }
			if !of(p).Seen() {
				return of(p)
			}
			grown, _ := n.wide.Increase(n.processReading(of))
			return n.aged(grown, p.At)
		}),
		gauge("process.cpus_allowed", "cores allowed", "cores", 1, "cores that the engine may run on, the member with the fewest", func(p *probes.Process) probes.Opt[float64] { return p.AllowedCPUs }),
		row("process.allowed_busy", "cores allowed, busy", "ratio", 0.1, "how busy the cores are that the engine may run on, by anybody", func(n *now) probes.Opt[float64] {
			busy := processRate(n, func(p *probes.Process) probes.Opt[float64] { return p.AllowedBusySecondsTotal })
			if n.point.Process == nil {
				return busy
			}
			return atMostOne(ratio(busy, n.point.Process.AllowedCPUs)) // others may have been allowed a moment ago
		}),
		row("process.allowed_taken", "share of its cores that others take", "ratio", 0.15, "cores busy with anything but the engine's processes over all, of those cores that the engine may run on; host.other_share where they are not known", (*now).allowedTaken),
		row("process.numa_remote", "cores far from the GPU", "ratio", 0.2, "cores that a process of the engine may run on and that are not near to the GPU it uses, over all it may run on, the worst process; missing where cores, GPU or nearness are not known", (*now).numaRemote),
	}
}

// allowedTaken is what others take of the engine's own cores: on a large machine that is
// little of all there are. All the engine's CPU is taken to be on the cores of the member
// with the fewest, so that it is never told too high.
func (n *now) allowedTaken() probes.Opt[float64] {
	busy, ok := processRate(n, func(p *probes.Process) probes.Opt[float64] { return p.AllowedBusySecondsTotal }).Get()
	engine, ok2 := processRate(n, cpuSeconds).Get()
	if !ok || !ok2 || !n.point.Process.AllowedCPUs.Seen() {
		return otherShare(n)
	}
	return atMostOne(ratio(probes.Some(max(0, busy-engine)), n.point.Process.AllowedCPUs))
}
