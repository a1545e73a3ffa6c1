package rules

import (
	"time"

	"llmtop/probes"
)

// busyNeighbour is the CPU from which a process beside the engine's counts, in cores [proposal].
const busyNeighbour = 0.1

// neighbourRows are the processes beside the engines'. They are looked at rarely.
func neighbourRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, of func(*probes.Neighbours) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "neighbour", Step: step, Formula: formula,
			Source: "/proc of the other processes", Needs: "neighbours", Export: exportName(name, unit, ""),
			at: func(n *now) probes.Opt[float64] {
				s := n.point.Neighbours
				if s == nil {
					return missing()
				}
				if n.at.Sub(s.At) > max(n.stale, time.Duration(3*min(s.SpanSeconds, 600)*float64(time.Second))) {
					return probes.None[float64](probes.Stale)
				}
				return of(s)
			}}
	}
	return []Signal{
		row("neighbour.cpu", "heaviest neighbour", "cores", 0.3, "cores that the heaviest process takes that may run on cores of the engine's", func(s *probes.Neighbours) probes.Opt[float64] {
			out := missing()
			for i := range s.List {
				out = larger(out, besideEngine(&s.List[i]))
			}
			return noneListed(out, s)
		}),
		row("neighbour.count", "busy neighbours", "count", 1, "processes that may run on cores of the engine's and take a tenth of a core or more, of the heaviest ones", func(s *probes.Neighbours) probes.Opt[float64] {
			out := missing()
			for i := range s.List {
				v := besideEngine(&s.List[i])
				if x, ok := v.Get(); ok {
					busy := 0.0
					if x >= busyNeighbour {
						busy = 1
					}
					out = probes.Some(out.Or(0) + busy)
				} else if !out.Seen() && out.Why() == probes.NotSeen {
					out = v
				}
			}
			return noneListed(out, s)
		}),
	}
}

// besideEngine is what a process takes of cores that the engine may run on; 0 when it shares none.
func besideEngine(p *probes.Neighbour) probes.Opt[float64] {
	shared, ok := p.SharedCPUs.Get()
	switch {
	case !ok:
		return probes.None[float64](p.SharedCPUs.Why())
	case shared <= 0:
		return probes.Some(0.0)
	}
	return p.CPUCores
}

// noneListed is 0 where it was looked and nobody takes anything.
func noneListed(v probes.Opt[float64], s *probes.Neighbours) probes.Opt[float64] {
	if len(s.List) == 0 && s.SpanSeconds > 0 {
		return probes.Some(0.0)
	}
	return v
}
