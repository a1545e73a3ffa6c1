package engine

// Retune changes the limits of a scheduler that is in use. What runs goes on; what
// waits meets the new ones. With MaxNumSeqs 0 nothing that waits is admitted.
func (s *Scheduler) Retune(l Limits) error {
	checked := l
	checked.MaxNumSeqs = max(1, l.MaxNumSeqs)
	if l.MaxNumSeqs == 0 {
		checked.MaxBatchedTokens = max(1, l.MaxBatchedTokens)
	}
	if err := checked.check(); err != nil {
		return err
	}
	s.limits = l
	return nil
}
