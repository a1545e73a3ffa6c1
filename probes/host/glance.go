package host

import (
	"cmp"
	"slices"

	"llmtop/probes"
)

const (
	maxBusy    = 8  // threads told
	maxGlances = 32 // states read in a pass, and as many switches, beside those of new threads
)

// glimpse is a thread that ran since something of it was read.
type glimpse struct {
	m *member
	t *thread
}

// glance reads the states and switches of the threads that ran, tells the busiest of the
// last interval, and counts those that are blocked. What is dear is read of a few in each
// pass, the longest unread first.
func (p *Process) glance(s *probes.Process) {
	var busy, states, switches []glimpse
	for _, m := range p.members {
		for _, t := range m.threads.list {
			g := glimpse{m, t}
			if t.ran > 0 && p.counts(m) {
				busy = append(busy, g)
			}
			if !t.looked() {
				states = append(states, g)
			}
			if t.switchedAt == 0 || t.switched != t.slices {
				switches = append(switches, g)
			}
		}
	}
	slices.SortStableFunc(busy, func(a, b glimpse) int { return cmp.Compare(b.t.ran, a.t.ran) })
	if len(busy) > 0 {
		p.busiest += busy[0].t.ran
	}
	p.states(states, busy[:min(len(busy), maxBusy)])
	p.switches(switches)
	for _, g := range busy[:min(len(busy), maxBusy)] {
		if p.number > 1 {
			s.BusyThreads = append(s.BusyThreads, g.t.section(g.m.pid))
		}
	}
	p.blockedThreads()
}

// states reads those of the busiest threads, and of others that ran.
func (p *Process) states(list, busy []glimpse) {
	for _, g := range busy {
		g.t.look(&p.pass, g.m.threads.dir)
	}
	slices.SortStableFunc(list, func(a, b glimpse) int { return cmp.Compare(a.t.statedAt, b.t.statedAt) })
	read := 0
	for _, g := range list {
		if g.t.statedAt == p.number { // it is one of the busiest
			continue
		}
		if g.t.statedAt > 0 {
			if read++; read > maxGlances {
				break
			}
		}
		g.t.look(&p.pass, g.m.threads.dir)
	}
}

// switches adds up context switches.
func (p *Process) switches(list []glimpse) {
	slices.SortStableFunc(list, func(a, b glimpse) int { return cmp.Compare(a.t.switchedAt, b.t.switchedAt) })
	read := 0
	for _, g := range list {
		if g.t.switchedAt > 0 {
			if read++; read > maxGlances {
				break
			}
		}
		voluntary, preempted := g.t.switches(&p.pass, g.m.threads.dir)
		gained := counters{voluntary: voluntary, preempted: preempted}
		g.m.total.add(gained)
		if p.counts(g.m) {
			p.sum.add(gained)
		}
	}
}

// blockedThreads counts the threads in uninterruptible sleep, and the interval for each
// that was so at both its ends.
func (p *Process) blockedThreads() {
	for _, m := range p.members {
		m.blocked = 0
		for _, t := range m.threads.list {
			now := t.looked() && t.state == "D"
			if now {
				m.blocked++
				if t.blocked {
					p.blocked += p.seconds
				}
			}
			t.blocked = now
		}
	}
}
