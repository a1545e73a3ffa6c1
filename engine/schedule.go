package engine

import (
	"slices"
	"time"
)

// Schedule puts the next step together and takes the blocks that it needs. It
// must be computed (Computed for each item) before the next call. now matters to
// the policies that wait: without them the step is empty only when there is nothing
// to do.
func (s *Scheduler) Schedule(now time.Time) Step {
	p := plan{Scheduler: s, budget: s.limits.MaxBatchedTokens, step: Step{Items: s.items[:0]}}
	for _, q := range s.running {
		s.blocks.keep(q)
	}
	p.decode()
	p.prefill()
	if len(p.step.Preempted) == 0 && p.open(now) {
		p.admit()
		p.joined()
	}
	for _, i := range p.step.Items {
		i.Seq.inStep = false
	}
	s.items = p.step.Items
	return p.step
}

// plan is a step that is being put together.
type plan struct {
	*Scheduler
	step     Step
	budget   int // tokens left
	guesses  int // tokens left for guesses
	promised int // blocks that the prompts which have begun will still take
}

// inOrder is the running sequences that are wanted and not yet in the step, the most
// urgent class first and each class in order of admission. It is valid until the
// next call; who goes through it passes over those that have been preempted since.
func (p *plan) inOrder(want func(*Sequence) bool) []*Sequence {
	p.order = p.order[:0]
	for c := Realtime; c <= Background; c++ {
		if p.count[c.index()] == 0 {
			continue
		}
		for _, q := range p.running {
			if q.Class == c && !q.inStep && want(q) {
				p.order = append(p.order, q)
			}
		}
	}
	return p.order
}

// decode schedules the next token of every sequence that is generating.
func (p *plan) decode() {
	order := p.inOrder((*Sequence).decoding)
	p.guesses = p.budget - len(order)
	if len(p.running) > len(order) || p.Waiting() > 0 {
		p.guesses /= 2 // the other half is for prompts
	}
	for n, q := range order {
		if q.status != statusRunning {
			continue
		}
		if drafts := p.drafts(q, len(order)-n-1); drafts > 0 {
			q.blocks, _ = p.blocks.Grow(q.blocks, q.computed+1+drafts)
			p.guesses -= drafts
			p.take(q, 1, drafts)
		} else if p.makeRoom(q, q.computed+1) {
			p.take(q, 1, 0)
		}
	}
}

// drafts is the number of guesses for q: none that the answer has no room for, and
// none that takes a block from the decodes that are left.
func (p *plan) drafts(q *Sequence, left int) int {
	n := min(p.limits.Drafts, q.MaxTokens-len(q.Output)-1, p.guesses)
	if n < 1 || p.blocks.BlocksFor(q.computed+1+n)-len(q.blocks)+left > p.blocks.Free() {
		return 0
	}
	return n
}

// prefill goes on with the prompts that have begun, and with sequences that are
// computed again.
func (p *plan) prefill() {
	for _, q := range p.inOrder(func(q *Sequence) bool { return !q.decoding() }) {
		n := p.chunk(q, p.budget-p.tokenReserve(q.Class))
		if n > 0 && q.status == statusRunning && p.makeRoom(q, q.computed+n) {
			p.take(q, n, 0)
		}
	}
}

// chunk is the number of tokens of q to compute in this step when so many may be.
func (p *plan) chunk(q *Sequence, room int) int {
	n := min(q.pending(), room)
	if t := p.limits.LongPrefillTokenThreshold; t > 0 {
		n = min(n, t)
	}
	return n
}

func (p *plan) take(q *Sequence, tokens, drafts int) {
	q.inStep = true
	p.budget -= tokens + drafts
	p.step.Tokens += tokens + drafts
	p.step.Items = append(p.step.Items, Item{Seq: q, Start: q.computed, Tokens: tokens, Drafts: drafts})
}

// giveBack takes q out of the step again.
func (p *plan) giveBack(q *Sequence) {
	if !q.inStep {
		return
	}
	n := slices.IndexFunc(p.step.Items, func(i Item) bool { return i.Seq == q })
	tokens := p.step.Items[n].Tokens + p.step.Items[n].Drafts
	p.budget += tokens
	p.step.Tokens -= tokens
	p.step.Items = slices.Delete(p.step.Items, n, n+1)
}
