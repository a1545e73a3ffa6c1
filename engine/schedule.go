package engine

import "slices"

// Schedule puts the next step together and takes the blocks that it needs. It
// must be computed (Computed for each item) before the next call. The step is
// empty only when there is nothing to do.
func (s *Scheduler) Schedule() Step {
	p := plan{Scheduler: s, budget: s.limits.MaxBatchedTokens}
	p.continueRunning((*Sequence).decoding)
	p.continueRunning(func(q *Sequence) bool { return !q.inStep })
	if len(p.step.Preempted) == 0 {
		p.admitWaiting()
	}
	for _, i := range p.step.Items {
		i.Seq.inStep = false
	}
	return p.step
}

// plan is a step that is being put together.
type plan struct {
	*Scheduler
	step   Step
	budget int // tokens left
}

// continueRunning schedules those running sequences that are wanted, the oldest
// first. Preemption takes from the end of the list, so the index stays valid.
func (p *plan) continueRunning(want func(*Sequence) bool) {
	for i := 0; i < len(p.running) && p.budget > 0; i++ {
		q := p.running[i]
		if !want(q) {
			continue
		}
		n := p.chunk(q)
		if p.makeRoom(q, q.computed+n) {
			p.take(q, n)
			if q.decoding() {
				p.reserve(q, len(p.running)-i-1)
			}
		}
	}
}

// reserve makes room for guesses behind the decode just taken, as far as neither
// the other running sequences nor the length of its own answer speak against it.
func (p *plan) reserve(q *Sequence, others int) {
	n := min(p.limits.Drafts, p.budget-others, q.MaxTokens-len(q.Output)-1)
	if n < 1 {
		return
	}
	grown, ok := p.blocks.Grow(q.blocks, q.Len()+n)
	if !ok {
		return
	}
	q.blocks = grown
	p.budget -= n
	p.step.Items[len(p.step.Items)-1].Drafts = n
}

// admitWaiting lets sequences begin, in the order of the queue. When the head
// does not fit nobody overtakes it.
func (p *plan) admitWaiting() {
	for len(p.waiting) > 0 && len(p.running) < p.limits.MaxNumSeqs && p.budget > 0 {
		q := p.waiting[0]
		if !p.admissible(q) {
			return
		}
		n := p.chunk(q)
		q.blocks, _ = p.blocks.Grow(q.blocks, n) // admissible has seen to it
		q.status = statusRunning
		p.waiting = slices.Delete(p.waiting, 0, 1)
		p.running = append(p.running, q)
		p.step.Admitted = append(p.step.Admitted, q)
		p.take(q, n)
	}
}

// admissible reports whether there is room for the whole of q as it is now. An
// idle engine needs no reserve, so whatever Add has let in can always begin.
func (p *plan) admissible(q *Sequence) bool {
	if len(p.running) == 0 {
		return true
	}
	reserve := int(watermark * float64(p.blocks.Total()))
	if q.Preemptions < maxPreemptions {
		return p.blocks.BlocksFor(q.Len())+p.promised()+reserve <= p.blocks.Free()
	}
	need := p.blocks.BlocksFor(q.most())
	for _, r := range p.running {
		need += p.blocks.BlocksFor(r.most()) - len(r.blocks)
	}
	return need <= p.blocks.Free()
}

// promised is the number of blocks that the prompts which have begun will still
// take: they were admitted for their whole length, but take blocks chunk by chunk.
func (p *plan) promised() (blocks int) {
	for _, r := range p.running {
		blocks += max(0, p.blocks.BlocksFor(r.Len())-len(r.blocks))
	}
	return blocks
}

// chunk is the number of tokens of q to compute in this step, as far as the budget allows.
func (p *plan) chunk(q *Sequence) int {
	n := min(q.pending(), p.budget)
	if t := p.limits.LongPrefillTokenThreshold; t > 0 {
		n = min(n, t)
	}
	return n
}

// makeRoom grows q's table to so many tokens, at the cost of the sequences
// admitted last. It reports false when q itself was the last.
func (p *plan) makeRoom(q *Sequence, tokens int) bool {
	for {
		grown, ok := p.blocks.Grow(q.blocks, tokens)
		if q.blocks = grown; ok {
			return true
		}
		victim := p.running[len(p.running)-1]
		p.preempt(victim)
		if victim == q {
			return false
		}
	}
}

// preempt frees the blocks of the last running sequence and puts it in front of
// the queue; its tokens stay and are computed again later. What it was to compute
// in this step goes back to the budget.
func (p *plan) preempt(q *Sequence) {
	p.running = p.running[:len(p.running)-1]
	if q.inStep {
		i := slices.IndexFunc(p.step.Items, func(i Item) bool { return i.Seq == q })
		p.budget += p.step.Items[i].Tokens + p.step.Items[i].Drafts
		p.step.Tokens -= p.step.Items[i].Tokens
		p.step.Items = slices.Delete(p.step.Items, i, i+1)
	}
	p.release(q)
	q.Preemptions++
	q.status = statusWaiting
	p.waiting = slices.Insert(p.waiting, 0, q)
	p.step.Preempted = append(p.step.Preempted, q)
}

func (p *plan) take(q *Sequence, n int) {
	q.inStep = true
	p.budget -= n
	p.step.Tokens += n
	p.step.Items = append(p.step.Items, Item{Seq: q, Start: q.computed, Tokens: n})
}
