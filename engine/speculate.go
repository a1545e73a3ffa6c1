package engine

import "fmt"

// speculation is a proposer with what has become of its guesses.
type speculation struct {
	Proposer
	metrics *speculationMetrics
}

// speculate prepares the guessing that the configuration asks for.
func (e *Engine) speculate() error {
	p, err := newProposer(e.config, e.runner)
	if p == nil || err != nil {
		return err
	}
	e.speculation = &speculation{p, newSpeculationMetrics(e.metrics, e.config.ModelName, e.config.drafts())}
	return nil
}

// compute runs a step on the runner, with guesses where there are some.
func (e *Engine) compute(step Step, c composition) ([]Result, error) {
	defer e.labelled(c.label())()
	var guesses [][]int
	if e.speculation != nil {
		var err error
		if guesses, err = e.speculation.Propose(step.Items); err != nil {
			return nil, fmt.Errorf("guessing tokens: %w", err)
		}
	}
	return e.steps.Run(e.chunks(step, guesses))
}

// counted counts the guesses of a chunk and how many of them held.
func (s *speculation) counted(c Chunk, held int) {
	if s == nil || c.Drafts == 0 {
		return
	}
	s.metrics.drafts.Inc()
	s.metrics.draftTokens.Add(float64(c.Drafts))
	s.metrics.accepted.Add(float64(held))
	for p := range held {
		s.metrics.acceptedAt[p].Inc()
	}
}

// ended forgets a sequence.
func (s *speculation) ended(q *Sequence) {
	if s != nil {
		s.Forget(q)
	}
}
