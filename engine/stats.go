package engine

// Stats are the scheduler's depths now and its counts since the start.
type Stats struct {
	Waiting, Running [NumClasses]int // sequences, by class

	Used, Cached, Free int // blocks: held by tables; free but keeping a prefix; free and empty

	PrefixQueries, PrefixHits         uint64 // tokens looked up and found when sequences were admitted
	PreemptedTokens, RecomputedTokens uint64 // computed tokens that preemption threw away; prompt and output tokens computed again
}

// Stats counts the sequences and blocks.
func (s *Scheduler) Stats() Stats {
	st := Stats{Used: s.blocks.Used(), Free: s.blocks.Free()}
	for _, q := range s.waiting {
		st.Waiting[q.Class.index()]++
	}
	for _, q := range s.running {
		st.Running[q.Class.index()]++
	}
	return st
}
