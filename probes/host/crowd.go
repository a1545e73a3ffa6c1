package host

import (
	"cmp"
	"math"
	"slices"

	"llmtop/probes"
)

// What is worth telling of the neighbours.
const (
	mostByCPU   = 8
	mostByIO    = 3
	mostByRSS   = 3
	mostAsked   = 24 // of those that take most CPU, and of those that are blocked
	leastCores  = 0.01
	leastIO     = 1 << 20 // bytes a second
	leastMemory = 0.05    // of the machine's
)

// crowd finds the heaviest neighbours of one look. Only what stands out by its stat is
// asked for more.
type crowd struct {
	before *Neighbours // as it was at the look before
	proc   string
	span   float64 // seconds since that look, 0 for none
	all    map[int]seen
	engine cpuSet  // cores that the engines may run on, nil when not known
	large  float64 // bytes of memory that count as much
	users  users

	byCPU, byRSS, blocked []*neighbour
}

// neighbour is one with what it is sorted by.
type neighbour struct {
	probes.Neighbour
	load float64 // cores that it probably takes of those that the engines may run on
}

// cores are those that a neighbour kept busy since the look before: one that began after
// it, since its start.
func (c *crowd) cores(pid int, p seen) probes.Opt[float64] {
	was, there := c.before.last[pid]
	switch {
	case c.span <= 0:
	case there && was.start == p.start:
		return probes.Some(max(0, p.cpu-was.cpu) / c.span)
	case p.start > c.before.newest:
		return probes.Some(p.cpu / c.span)
	}
	return probes.Opt[float64]{}
}

// consider takes note of a process that may be told.
func (c *crowd) consider(pid int, p seen) {
	cores, blocked := c.cores(pid, p), p.state == 'D'
	busy, large := cores.Or(0) >= leastCores, p.rss >= c.large
	if !busy && !large && !blocked {
		return
	}
	n := &neighbour{Neighbour: probes.Neighbour{PID: pid, CPUCores: cores, RSSBytes: probes.Some(p.rss), Blocked: blocked}}
	if busy {
		c.byCPU = append(c.byCPU, n)
	}
	if large {
		c.byRSS = append(c.byRSS, n)
	}
	if blocked {
		c.blocked = append(c.blocked, n)
	}
}

// heaviest are those that take most: first of the CPU, what they take of the engines'
// cores counting most, then of the disks, then of the memory.
func (c *crowd) heaviest() []probes.Neighbour {
	c.byCPU = most(c.byCPU, mostAsked, func(n *neighbour) float64 { return n.CPUCores.Or(0) })
	c.blocked = most(c.blocked, mostAsked, func(n *neighbour) float64 { return n.CPUCores.Or(0) })
	c.byRSS = most(c.byRSS, mostByRSS, func(n *neighbour) float64 { return n.RSSBytes.Or(0) })
	asked := map[*neighbour]bool{}
	var byIO []*neighbour
	for _, list := range [][]*neighbour{c.byCPU, c.blocked, c.byRSS} {
		for _, n := range list {
			if asked[n] {
				continue
			}
			asked[n] = c.ask(n)
			if asked[n] && n.IOBytesPerS.Or(0) >= leastIO {
				byIO = append(byIO, n)
			}
		}
	}
	byIO = most(byIO, mostByIO, func(n *neighbour) float64 { return n.IOBytesPerS.Or(0) })
	byCPU := slices.DeleteFunc(c.byCPU, func(n *neighbour) bool { return !asked[n] })
	slices.SortStableFunc(byCPU, func(a, b *neighbour) int { return cmp.Compare(b.load, a.load) })
	byCPU = byCPU[:min(len(byCPU), mostByCPU)]

	var out []probes.Neighbour
	for _, list := range [][]*neighbour{byCPU, byIO, c.byRSS} {
		for _, n := range list {
			if asked[n] {
				asked[n] = false // told once
				out = append(out, n.Neighbour)
			}
		}
	}
	return out
}

// most are the so many of which by is largest, largest first.
func most(list []*neighbour, count int, by func(*neighbour) float64) []*neighbour {
	slices.SortFunc(list, func(a, b *neighbour) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(a.PID, b.PID))
	})
	return list[:min(len(list), count)]
}

// onEngines works out how many cores it shares with the engines, and its load there: it
// is taken to run on all its cores alike.
func (c *crowd) onEngines(n *neighbour, allowed cpuSet) {
	n.load = n.CPUCores.Or(0)
	if c.engine == nil || allowed == nil {
		return
	}
	shared := float64(allowed.shared(c.engine))
	n.SharedCPUs = probes.Some(shared)
	n.load *= shared / math.Max(1, float64(allowed.count()))
}
