package rules

import (
	"time"

	"llmtop/probes"
)

// processRow is a row of the table that /proc of the engines' processes tells.
func processRow(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
	return Signal{Name: name, Title: title, Unit: unit, Kind: "process", Step: step, Formula: formula,
		Source: "/proc/PID of the engine", Needs: "process", Export: exportName(name, unit, ""), at: at}
}

// processRows are the engine's process, profileRows what it does on its cores,
// selfRows llmtop's own cost.
func processRows() []Signal {
	row := processRow
	rate := func(name, title, unit string, step float64, formula string, of func(*probes.Process) probes.Opt[float64]) Signal {
		return row(name, title, unit, step, formula, func(n *now) probes.Opt[float64] { return processRate(n, of) })
	}
	return []Signal{
		rate("process.cpu_cores", "engine CPU", "cores", 0.3, "CPU seconds of the engine's process per second", cpuSeconds),
		row("process.run_wait", "engine's wait for a core", "ratio", 0.1, "seconds its threads waited for a core over waiting plus running", runWait),
		row("process.rss", "engine memory", "bytes", 64<<20, "resident memory", func(n *now) probes.Opt[float64] {
			return processGauge(n, func(p *probes.Process) probes.Opt[float64] { return p.RSSBytes })
		}),
		rate("process.switches", "voluntary switches", "1/s", 100, "times a second that a thread of the engine gave up its core to wait for something",
			func(p *probes.Process) probes.Opt[float64] { return p.VoluntarySwitchesTotal }),
		rate("process.blocked", "blocked threads", "count", 0.3, "threads of the engine in uninterruptible sleep through whole intervals, mean of the now span: they wait for a disk or a driver",
			func(p *probes.Process) probes.Opt[float64] { return p.BlockedSecondsTotal }),
		rate("process.major_faults", "major page faults", "1/s", 10, "pages a second that the engine had to wait for to be read from disk or swap",
			func(p *probes.Process) probes.Opt[float64] { return p.MajorFaultsTotal }),
		rate("process.disk_read", "engine reads from disks", "bytes/s", 10<<20, "bytes a second that the engine reads from disks",
			func(p *probes.Process) probes.Opt[float64] { return p.ReadBytesTotal }),
		row("process.descriptors", "open files of limit", "ratio", 0.1, "open descriptors over their limit, the member nearest to it", func(n *now) probes.Opt[float64] {
			return processGauge(n, func(p *probes.Process) probes.Opt[float64] { return ratio(p.Descriptors, p.DescriptorsLimit) })
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
	return n.aged(n.span.Rate(n.processReading(of)), n.point.Process.At)
}

func (n *now) processReading(of func(*probes.Process) probes.Opt[float64]) probes.Reading {
	return func(p *probes.Point) (float64, time.Time, bool) {
		if p.Process == nil || p.Process.PID != n.point.Process.PID {
			return 0, time.Time{}, false
		}
		x, ok := of(p.Process).Get()
		return x, p.Process.At, ok
	}
}

func processRatio(n *now, part, whole func(*probes.Process) probes.Opt[float64]) probes.Opt[float64] {
	return ratio(processRate(n, part), processRate(n, whole))
}

// processGauge is a reading of the engine's processes as it stands now.
func processGauge(n *now, of func(*probes.Process) probes.Opt[float64]) probes.Opt[float64] {
	switch p := n.point.Process; {
	case p == nil:
		return missing()
	case !n.fresh(p.At):
		return probes.None[float64](probes.Stale)
	default:
		return of(p)
	}
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
