package twin

import (
	"fmt"

	"llmtop/engine/twin/workload"
)

// router picks the replica of each request.
type router struct {
	pick func(from []*replica, prefix []workload.Segment) *replica
}

// The routers.
const (
	roundRobin  = "round-robin"
	leastLoaded = "least-loaded"
	byPrefix    = "prefix" // where its beginning has been before, unless much is to do there
)

func newRouter(name string) (router, error) {
	switch name {
	case "", roundRobin:
		return router{pick: inTurn}, nil
	case leastLoaded:
		return router{pick: func(from []*replica, _ []workload.Segment) *replica { return leastOf(from) }}, nil
	case byPrefix:
		h := newHomes()
		return router{pick: h.pick}, nil
	}
	return router{}, fmt.Errorf("there is no router %q; there are %s, %s and %s", name, roundRobin, leastLoaded, byPrefix)
}

// inTurn gives each its share and spreads what each gets as evenly as can be (smooth
// weighted round-robin).
func inTurn(from []*replica, _ []workload.Segment) (best *replica) {
	total := 0.0
	for _, r := range from {
		r.credit += r.weight
		total += r.weight
		if best == nil || r.credit > best.credit {
			best = r
		}
	}
	if best != nil {
		best.credit -= total
	}
	return best
}

// leastOf is the one with the fewest requests in flight for its weight.
func leastOf(from []*replica) (best *replica) {
	for _, r := range from {
		if best == nil || r.share() < best.share() {
			best = r
		}
	}
	return best
}

// share is what the router compares.
func (r *replica) share() float64 { return float64(r.jobs.count+1) / r.weight }

// homes remembers where beginnings of prompts were sent last: the newest maxHomes.
type homes struct {
	of   map[uint64]*replica
	ring []uint64
	next int
}

const maxHomes = 1 << 15

// slack is how much more than the least loaded a replica may have to do and still be
// chosen for what its cache holds.
const (
	slackFactor = 1.5
	slackOver   = 8
)

func newHomes() *homes { return &homes{of: make(map[uint64]*replica)} }

func (h *homes) pick(from []*replica, prefix []workload.Segment) *replica {
	least := leastOf(from)
	if least == nil {
		return nil
	}
	best := least
	for i := len(prefix) - 1; i >= 0; i-- {
		if r := h.of[prefix[i].ID]; r != nil && r.up && r.weight > 0 {
			if r.share() <= slackFactor*least.share()+slackOver {
				best = r
			}
			break
		}
	}
	for _, p := range prefix {
		h.note(p.ID, best)
	}
	return best
}

func (h *homes) note(id uint64, r *replica) {
	if _, known := h.of[id]; !known {
		if len(h.ring) < maxHomes {
			h.ring = append(h.ring, id)
		} else {
			delete(h.of, h.ring[h.next])
			h.ring[h.next] = id
			h.next = (h.next + 1) % maxHomes
		}
	}
	h.of[id] = r
}

// choose is the replica for a request, of those that compute prompts or of those that
// decode; nil: none is there.
func (s *Simulation) choose(from []*replica, prefix []workload.Segment) *replica {
	s.up = s.up[:0]
	for _, r := range from {
		if r.up && r.weight > 0 {
			s.up = append(s.up, r)
		}
	}
	return s.router.pick(s.up, prefix)
}
