package rules

import (
	"slices"

	"llmtop/probes"
)

// threadRows tell whether one thread, or threads that take turns, hold up the engine.
func threadRows() []Signal {
	return []Signal{
		processRow("process.busiest_thread", "busiest thread", "ratio", 0.1, "share of one core that the busiest thread of each interval took: at 100 % it cannot go faster", func(n *now) probes.Opt[float64] {
			return atMostOne(processRate(n, func(p *probes.Process) probes.Opt[float64] { return p.BusiestThreadSecs }))
		}),
		processRow("process.gil_suspects", "processes whose threads take turns on one core", "count", 1,
			"members that take 0.85 to 1.1 cores in all, none of their threads more than 0.9 and at least two of them 0.1 or more where threads are told, and switch 100 times a second or more of their own will: what an interpreter's lock looks like from outside, a hypothesis for a profile to prove",
			(*now).gilSuspects),
	}
}

// What threads that take turns on one lock look like (reference: four threads of one
// interpreter took 0.99 cores and switched 669 times a second) [proposal].
const (
	turnsLeast    = 0.85 // cores of the process
	turnsMost     = 1.1
	turnsAlone    = 0.9 // of a thread that needs no others
	turnsPart     = 0.1 // of one that takes part
	turnsSwitches = 100 // a second
)

// gilSuspects counts the members that look so. A member is held against what it was at the
// begin of the now span.
func (n *now) gilSuspects() probes.Opt[float64] {
	is := n.point.Process
	was, seconds := n.processBefore()
	if was == nil {
		if is == nil {
			return missing()
		}
		return n.aged(missing(), is.At)
	}
	out := missing()
	for i := range is.Members {
		m := &is.Members[i]
		then := memberIn(was, m.PID)
		if then == nil {
			continue
		}
		cores := perSecond(then.CPUSecondsTotal, m.CPUSecondsTotal, seconds)
		switches := perSecond(then.VoluntarySwitchesTotal, m.VoluntarySwitchesTotal, seconds)
		c, ok := cores.Get()
		s, ok2 := switches.Get()
		switch {
		case ok && ok2:
			like := c >= turnsLeast && c <= turnsMost && s >= turnsSwitches && m.Threads.Or(2) >= 2 && takeTurns(was, is, m.PID, seconds)
			out = probes.Some(out.Or(0) + one(like).Or(0))
		case !out.Seen() && out.Why() == probes.NotSeen && ok:
			out = switches
		case !out.Seen() && out.Why() == probes.NotSeen:
			out = cores
		}
	}
	return out
}

// processBefore is the engine's processes at the begin of the now span; nil when they were others.
func (n *now) processBefore() (*probes.Process, float64) {
	is := n.point.Process
	if is == nil {
		return nil, 0
	}
	for _, p := range n.span.Points() {
		if was := p.Process; was != nil && was.PID == is.PID && was.At.Before(is.At) && n.at.Sub(was.At) <= lookSpan {
			return was, is.At.Sub(was.At).Seconds()
		}
	}
	return nil, 0
}

func memberIn(p *probes.Process, pid int) *probes.Member {
	i, found := slices.BinarySearchFunc(p.Members, pid, func(m probes.Member, pid int) int { return m.PID - pid })
	if !found {
		return nil
	}
	return &p.Members[i]
}

// takeTurns reports that no thread of a member does it all and at least two take part, as
// far as the busiest threads are told.
func takeTurns(was, is *probes.Process, pid int, seconds float64) bool {
	told, part := 0, 0
	for i := range is.BusyThreads {
		t := &is.BusyThreads[i]
		if t.PID != pid {
			continue
		}
		j := slices.IndexFunc(was.BusyThreads, func(o probes.Thread) bool { return o.TID == t.TID })
		if j < 0 {
			continue
		}
		share, ok := perSecond(was.BusyThreads[j].CPUSecondsTotal, t.CPUSecondsTotal, seconds).Get()
		if !ok {
			continue
		}
		if told++; share > turnsAlone {
			return false
		}
		if share >= turnsPart {
			part++
		}
	}
	return told == 0 || part >= 2
}
