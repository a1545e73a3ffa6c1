package twin

import (
	"time"

	"llmtop/engine"
)

// deliver passes on what a step has sampled, as the engine does: item by item the blocks
// are noted as computed, then come the tokens, then the end if that was the last one.
func (r *replica) deliver() {
	s, c, now := r.sim, &r.current, r.sim.now
	at := s.time(now)
	gap := now - r.lastEnd
	p := &c.passed
	p.At, p.Seconds, p.Gap = at, (now - c.from).Seconds(), gap.Seconds()
	p.Prefills, p.Prefill, p.Decodes = c.work.Prefills, c.work.PrefillTokens, c.work.Decodes
	s.ends, s.begins = s.ends[:0], s.begins[:0]
	sampled := 0
	for i := range c.step.Items {
		item := &c.step.Items[i]
		samples, computed := item.Samples(), item.Tokens
		q := item.Seq
		j := s.jobs.jobs[q.Tag]
		tokens := 1
		if item.Drafts > 0 {
			held := r.guess(item.Drafts)
			for n := range held {
				c.places[n]++
			}
			computed += held
			r.scheduler.Computed(*item, held)
			p.Drafts, p.Drafted, p.Accepted = p.Drafts+1, p.Drafted+item.Drafts, p.Accepted+held
			tokens += held
		} else {
			r.scheduler.Computed(*item, 0)
		}
		s.tally.Computed += uint64(computed)
		if !samples {
			continue
		}
		if len(q.Output) == 0 {
			p.First++
			sampled++
			j.first = now
			j.line.Finish(engine.StagePrefill, at)
			s.begins = append(s.begins, j)
			q.Output = append(q.Output, j.answer.token())
			tokens--
		} else {
			since := gap
			if j.last == r.lastEnd {
				p.Gapped++
			} else {
				since = now - j.last
				r.stalled(since)
			}
			j.gap = max(j.gap, since)
		}
		j.last = now
		for ; tokens > 0 && len(q.Output) < j.output; tokens-- {
			q.Output = append(q.Output, j.answer.token())
			p.Decode++
			sampled++
		}
		if len(q.Output) >= j.output {
			s.ends = append(s.ends, j)
			r.decoded(j, at)
		}
	}
	s.tally.Sampled += uint64(sampled)
	r.tellStep()
	r.pass(sampled)
}

// tellStep tells the metrics page of a step that is over, and how things stand then.
func (r *replica) tellStep() {
	c, before := &r.current, r.stats
	r.stats = r.scheduler.Stats()
	p := &c.passed
	p.Thrown, p.Again = int(r.stats.PreemptedTokens-before.PreemptedTokens), int(r.stats.RecomputedTokens-before.RecomputedTokens)
	r.sim.tally.Preempted += uint64(p.Thrown)
	r.sim.tally.Received += r.stats.ReceivedTokens - before.ReceivedTokens
	if r.page == nil {
		return
	}
	if c.cost.Kernel > 0 { // else the engine computes on the CPU
		p.Host = max(0, c.to-c.from-c.cost.Kernel).Seconds()
	}
	r.gauges(r.stats)
	p.Now = &r.state
	r.page.Step(p)
}

func (r *replica) stalled(since time.Duration) {
	if r.page != nil {
		r.page.Stalled(since.Seconds())
	}
}

// guess is how many of so many guesses hold: each as likely as the one before, if that did.
func (r *replica) guess(n int) (held int) {
	for held < n && r.rng.Float64() < r.slow.holds {
		held++
	}
	return held
}

// decoded takes a job whose last token is sampled out of the scheduler.
func (r *replica) decoded(j *job, at time.Time) {
	j.line.Finish(engine.StageDecode, at)
	r.sim.tally.Settled += uint64(j.seq.Computed())
	r.leave(j)
	r.scheduler.Finish(&j.seq)
	r.adapters.give(r, j)
	j.place = inBack
	r.back++
}
