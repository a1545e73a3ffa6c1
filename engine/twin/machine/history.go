package machine

import "time"

// What a profile tells beside the parts.
const (
	locking  = NumParts + iota // spinning before a thread sleeps for a lock
	spinning                   // a core that is busy waiting
	numShown
)

// work is CPU seconds by part.
type work [numShown]float64

// history remembers what a replica did in the last minute.
type history struct {
	parts work // since the start of the run
	ring  [64]struct {
		at    time.Duration
		parts work
	}
	newest, n int
}

// remembered is how far apart the memories are.
const remembered = time.Second

// keep is called after each span.
func (p *history) keep(at time.Duration) {
	if p.n > 0 && at-p.ring[p.newest].at < remembered {
		return
	}
	p.newest = (p.newest + 1) % len(p.ring)
	p.ring[p.newest].at, p.ring[p.newest].parts = at, p.parts
	p.n = min(p.n+1, len(p.ring))
}

// since is what was done from a time on, as far back as is remembered.
func (p *history) since(from time.Duration) work {
	done := p.parts
	var before work
	for i := range p.n {
		m := &p.ring[(p.newest-i+len(p.ring))%len(p.ring)]
		if before = m.parts; m.at <= from {
			break
		}
	}
	if p.n < len(p.ring) && (p.n == 0 || p.ring[(p.newest-p.n+1+len(p.ring))%len(p.ring)].at > from) {
		before = work{} // from the start of the run
	}
	for i := range done {
		done[i] -= before[i]
	}
	return done
}
