package engine

import "math"

// maxMinShare is the largest share that each of the less urgent classes can be
// guaranteed: a third, so that the most urgent one keeps as much.
const maxMinShare = 1.0 / 3

// guaranteed is the number of places that a class keeps however many more urgent
// sequences come. The most urgent class needs no guarantee; with one or two places
// there is none to give.
func (s *Scheduler) guaranteed(c Class) int {
	if c == Realtime {
		return 0
	}
	return min(s.share(s.limits.MaxNumSeqs), (s.limits.MaxNumSeqs-1)/2)
}

func (s *Scheduler) share(of int) int { return int(math.Ceil(s.limits.MinShare * float64(of))) }

// entitled reports whether a class waits and has less than its share.
func (s *Scheduler) entitled(c Class) bool {
	return s.waiting[c.index()].count > 0 && s.count[c.index()] < s.guaranteed(c)
}

// reserve sums up what is set apart for the classes below c.
func (s *Scheduler) reserve(c Class, of func(Class) int) (n int) {
	for d := c + 1; d <= Background; d++ {
		if s.waiting[d.index()].count+s.count[d.index()] > 0 {
			n += of(d)
		}
	}
	return n
}

// placeReserve is the places that c leaves to the classes below it.
func (p *plan) placeReserve(c Class) int {
	return p.reserve(c, func(d Class) int {
		return max(0, min(p.waiting[d.index()].count, p.guaranteed(d)-p.count[d.index()]))
	})
}

// blockReserve is the blocks that c leaves to the classes below it: to the first
// sequence of one that runs none all that it needs, else its share at most.
func (p *plan) blockReserve(c Class) int {
	return p.reserve(c, func(d Class) int {
		if !p.entitled(d) {
			return 0
		}
		need := p.blocks.BlocksFor(p.waiting[d.index()].first.Len())
		if p.count[d.index()] == 0 {
			return need
		}
		return min(need, p.share(p.blocks.Total()))
	})
}

// tokenReserve is the tokens of the step that prompts of c leave to those of the
// classes below it, at most half of what is left of the step.
func (p *plan) tokenReserve(c Class) int {
	return min(p.budget/2, p.reserve(c, func(d Class) (pending int) {
		for _, q := range p.prefills[d.index()] {
			if q.status == statusRunning && !q.inStep {
				pending += q.pending()
			}
		}
		if p.entitled(d) {
			pending += p.waiting[d.index()].first.Len()
		}
		return min(pending, p.share(p.limits.MaxBatchedTokens))
	}))
}
