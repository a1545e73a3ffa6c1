package engine

import (
	"fmt"
	"time"
)

// Policy says when sequences may join those that run.
type Policy string

// The policies. The two that form batches are there to compare with.
const (
	// Continuous lets sequences join and leave at every step.
	Continuous Policy = "continuous"
	// Dynamic forms a batch when nothing runs: of MaxNumSeqs sequences, or of those
	// that have come when the first of them has waited for BatchWait. Nobody joins
	// until all of them have ended.
	Dynamic Policy = "dynamic"
	// Static forms a batch likewise, but waits until it is full. Only when no
	// sequence has come for BatchWait it takes what there is, so that the rest of a
	// workload is served.
	Static Policy = "static"
)

// wait is the BatchWait of a policy when none is given.
func (p Policy) wait() time.Duration {
	switch p {
	case Dynamic:
		return 50 * time.Millisecond
	case Static:
		return 2 * time.Second
	}
	return 0
}

func (p Policy) check() error {
	switch p {
	case "", Continuous, Dynamic, Static:
		return nil
	}
	return fmt.Errorf("there is no scheduling policy %q; there are %s, %s and %s", string(p), Continuous, Dynamic, Static)
}

// open reports whether sequences may be admitted in this step. While a policy waits
// for more of them it says for how long.
func (p *plan) open(now time.Time) bool {
	if p.continuous() {
		return true
	}
	if len(p.running) == 0 {
		p.joining = 0 // whoever was to join has gone
	}
	if p.joining > 0 {
		return true
	}
	waiting := p.Waiting()
	if len(p.running) > 0 || waiting == 0 {
		return false
	}
	if waiting < p.limits.MaxNumSeqs {
		if wait := p.limits.BatchWait - now.Sub(p.since()); wait > 0 {
			p.step.Wait = wait
			return false
		}
	}
	p.joining = min(waiting, p.limits.MaxNumSeqs)
	return true
}

func (s *Scheduler) continuous() bool {
	return s.limits.Policy == "" || s.limits.Policy == Continuous
}

// since is the arrival that BatchWait counts from: of the first that waits for a
// dynamic batch, of the last for a static one.
func (s *Scheduler) since() (at time.Time) {
	for i := range s.waiting {
		q := s.waiting[i].first
		if s.limits.Policy == Static {
			q = s.waiting[i].last
		}
		if q == nil {
			continue
		}
		later := q.Arrived.After(at)
		if at.IsZero() || later == (s.limits.Policy == Static) {
			at = q.Arrived
		}
	}
	return at
}

// joined notes who has joined the batch that is being filled. It is full when
// somebody does not fit though there are tokens left.
func (p *plan) joined() {
	if p.continuous() {
		return
	}
	p.joining -= len(p.step.Admitted)
	if len(p.step.Admitted) == 0 && p.budget > 0 {
		p.joining = 0
	}
}
