package engine

// Stats are the scheduler's depths now and its counts since the start.
type Stats struct {
	Waiting, Running [NumClasses]int // sequences, by class
	Used             int             // blocks that tables hold,
	Cached           int             // free ones that keep a prefix,
	Free             int             // and free ones that are empty
	Withheld         int             // blocks that nobody gets, among none of these

	PrefixQueries, PrefixHits uint64 // tokens of sequences when they were first admitted, and those found in the cache
	PreemptedTokens           uint64 // computed tokens that preemption threw away
	RecomputedTokens          uint64 // tokens that were computed again
	ReceivedTokens            uint64 // tokens whose keys and values came from another instance
}

// running and waiting are the sequences of all classes.
func (s Stats) running() int { return sum(s.Running) }
func (s Stats) waiting() int { return sum(s.Waiting) }

func sum(byClass [NumClasses]int) (n int) {
	for _, c := range byClass {
		n += c
	}
	return n
}

// counts are those of Stats that only grow.
type counts struct {
	queries, hits, preempted, recomputed, received uint64
}

// Stats tells how things stand.
func (s *Scheduler) Stats() Stats {
	t := Stats{
		Running: s.count,
		Used:    s.blocks.Used() - len(s.withheld), Withheld: len(s.withheld), Cached: s.blocks.Cached(), Free: s.blocks.Free() - s.blocks.Cached(),
		PrefixQueries: s.counts.queries, PrefixHits: s.counts.hits,
		PreemptedTokens: s.counts.preempted, RecomputedTokens: s.counts.recomputed,
		ReceivedTokens: s.counts.received,
	}
	for i := range s.waiting {
		t.Waiting[i] = s.waiting[i].count
	}
	return t
}
