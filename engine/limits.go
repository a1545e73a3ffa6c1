package engine

// Limits are those in force.
func (s *Scheduler) Limits() Limits { return s.limits }

// Withhold keeps blocks from all sequences, as if the cache were so much smaller; 0 gives
// them back. It takes what is free: whoever wants fewer blocks calls it before every step,
// until sequences have lost enough. What is left always holds the longest sequence, and all
// that must not be preempted any more, so that everybody gets on.
func (s *Scheduler) Withhold(blocks int) {
	if blocks == 0 && len(s.withheld) == 0 {
		return
	}
	want := min(max(0, blocks), s.blocks.Total()-s.needed())
	if have := len(s.withheld); want < have {
		s.blocks.Release(s.withheld[want:])
		s.withheld = s.withheld[:want]
	} else {
		n := min(want, have+s.blocks.Free())
		s.withheld, _ = s.blocks.Grow(s.withheld, n*s.blocks.blockSize) // so many are free
	}
}

// needed is the number of blocks without which somebody could never get on.
func (s *Scheduler) needed() int {
	longest, kept := 1, 0
	next := func(q *Sequence) int { return s.blocks.BlocksFor(q.Len() + 1) }
	for _, q := range s.running {
		longest = max(longest, next(q))
		if q.aged() {
			kept += next(q)
		}
	}
	for i := range s.waiting {
		for q := s.waiting[i].first; q != nil; q = q.after {
			longest = max(longest, next(q))
		}
	}
	return min(max(longest, kept), s.blocks.Total())
}
