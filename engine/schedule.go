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
	p := plan{Scheduler: s, budget: s.limits.MaxBatchedTokens, step: Step{
		Items: emptied(s.items), Admitted: emptied(s.admitted), Preempted: emptied(s.preempted),
	}}
	p.survey()
	p.decode()
	p.prefill()
	if len(p.step.Preempted) == 0 && p.open(now) {
		p.admit()
		p.joined()
	}
	s.items, s.admitted, s.preempted = p.step.Items, p.step.Admitted, p.step.Preempted
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

// emptied is a list to be filled again, which holds on to nothing that was in it.
func emptied[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// byClass is sequences, the most urgent class first.
type byClass [NumClasses][]*Sequence

func (b *byClass) empty() {
	for c := range b {
		b[c] = emptied(b[c])
	}
}

func (b *byClass) count() (n int) {
	for c := range b {
		n += len(b[c])
	}
	return n
}

// survey keeps what the running sequences have computed and sorts them by what they
// need: the next token, or a prompt to be computed, for the first time or again. Each
// class is in order of admission. Who goes through the lists passes over those that
// have been preempted since.
func (p *plan) survey() {
	p.decodes.empty()
	p.prefills.empty()
	for _, q := range p.running {
		p.blocks.keep(q)
		q.inStep = false
		need := &p.prefills
		if q.decoding() {
			need = &p.decodes
		}
		c := q.Class.index()
		need[c] = append(need[c], q)
	}
}

// decode schedules the next token of every sequence that is generating.
func (p *plan) decode() {
	left := p.decodes.count()
	p.guesses = p.budget - left
	if len(p.running) > left || p.Waiting() > 0 {
		p.guesses /= 2 // the other half is for prompts
	}
	for _, class := range p.decodes {
		for _, q := range class {
			left--
			if q.status != statusRunning {
				continue
			}
			if drafts := p.drafts(q, left); drafts > 0 {
				q.blocks, _ = p.blocks.Grow(q.blocks, q.computed+1+drafts)
				p.guesses -= drafts
				p.take(q, 1, drafts)
			} else if p.makeRoom(q, q.computed+1) {
				p.take(q, 1, 0)
			}
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
	for _, class := range p.prefills {
		for _, q := range class {
			n := p.chunk(q, p.budget-p.tokenReserve(q.Class))
			if n > 0 && q.status == statusRunning && p.makeRoom(q, q.computed+n) {
				p.take(q, n, 0)
			}
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
