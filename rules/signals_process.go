package rules

import (
	"time"

	"llmtop/probes"
)

// processRows are the engine's process, profileRows what it does on its cores,
// selfRows llmtop's own cost.
func processRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "process", Step: step, Formula: formula,
			Source: "/proc/PID of the engine", Needs: "process", Export: exportName(name, unit, ""), at: at}
	}
	return []Signal{
		row("process.cpu_cores", "engine CPU", "cores", 0.3, "CPU seconds of the engine's process per second",
			func(n *now) probes.Opt[float64] { return processRate(n, cpuSeconds) }),
		row("process.run_wait", "engine's wait for a core", "ratio", 0.1, "seconds its threads waited for a core over waiting plus running", runWait),
		row("process.rss", "engine memory", "bytes", 64<<20, "resident memory", func(n *now) probes.Opt[float64] {
			if p := n.point.Process; p != nil && n.fresh(p.At) {
				return p.RSSBytes
			}
			return missing()
		}),
		row("process.throttled", "CPU quota throttling", "ratio", 0.1, "scheduling periods in which the quota of its cgroup stopped it", func(n *now) probes.Opt[float64] {
			return processRatio(n, func(p *probes.Process) probes.Opt[float64] { return p.CgroupThrottledTotal },
				func(p *probes.Process) probes.Opt[float64] { return p.CgroupPeriodsTotal })
		}),
	}
}

// processRate is of the process that there is now: another one's seconds are not its.
func processRate(n *now, of func(*probes.Process) probes.Opt[float64]) probes.Opt[float64] {
	if n.point.Process == nil {
		return missing()
	}
	if !of(n.point.Process).Seen() {
		return of(n.point.Process)
	}
	return n.span.Rate(func(p *probes.Point) (float64, time.Time, bool) {
		if p.Process == nil || p.Process.PID != n.point.Process.PID {
			return 0, time.Time{}, false
		}
		x, ok := of(p.Process).Get()
		return x, p.Process.At, ok
	})
}

func processRatio(n *now, part, whole func(*probes.Process) probes.Opt[float64]) probes.Opt[float64] {
	a, ok := processRate(n, part).Get()
	b, ok2 := processRate(n, whole).Get()
	if !ok || !ok2 || b <= 0 {
		return missing()
	}
	return probes.Some(a / b)
}

func cpuSeconds(p *probes.Process) probes.Opt[float64]     { return p.CPUSecondsTotal }
func runWaitSeconds(p *probes.Process) probes.Opt[float64] { return p.RunWaitSecondsTotal }

// idleCores is the running and waiting below which the ratio of the two says nothing.
const idleCores = 0.02

func runWait(n *now) probes.Opt[float64] {
	wait, ok := processRate(n, runWaitSeconds).Get()
	run, ok2 := processRate(n, cpuSeconds).Get()
	if !ok || !ok2 || wait+run < idleCores {
		return missing()
	}
	return probes.Some(wait / (wait + run))
}

func profileRows() []Signal {
	var rows []Signal
	for _, what := range []string{"tokenize", "detokenize", "model", "gc", "json", "lock", "send", "other"} {
		rows = append(rows, Signal{Name: "profile." + what + "_share", Title: what + " in CPU profile", Unit: "ratio", Kind: "profile", Step: 0.1,
			Formula: "share of the on-CPU samples of the newest profile, at most two minutes old", Source: "the engine's CPU profile", Needs: "profile",
			Export: exportName("profile.share", "ratio", `frames="`+what+`"`),
			at: func(n *now) probes.Opt[float64] {
				f := n.point.Facts
				switch {
				case f == nil:
					return missing()
				case n.at.Sub(f.At) > facts:
					return probes.None[float64](probes.Stale)
				}
				return probes.Some(f.Share[what])
			}})
	}
	return rows
}

func selfRows() []Signal {
	return []Signal{
		{Name: "self.cpu", Title: "llmtop CPU", Unit: "cores", Kind: "self", Step: 0.05, Formula: "CPU seconds of llmtop per second", Source: "/proc/self", Needs: "self",
			Export: exportName("self.cpu", "cores", ""), at: func(n *now) probes.Opt[float64] {
				return n.span.Rate(func(p *probes.Point) (float64, time.Time, bool) {
					if p.Self == nil {
						return 0, time.Time{}, false
					}
					x, ok := p.Self.CPUSecondsTotal.Get()
					return x, p.Self.At, ok
				})
			}},
		{Name: "self.rss", Title: "llmtop memory", Unit: "bytes", Kind: "self", Step: 16 << 20, Formula: "resident memory of llmtop", Source: "/proc/self", Needs: "self",
			Export: exportName("self.rss", "bytes", ""), at: func(n *now) probes.Opt[float64] {
				if s := n.point.Self; s != nil {
					return s.RSSBytes
				}
				return missing()
			}},
	}
}
