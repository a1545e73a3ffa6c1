package engine

import "time"

// step schedules, computes and delivers one step. When the policy waits for more
// sequences it does nothing and says for how long.
func (e *Engine) step() (wait time.Duration) {
	if o := e.config.Observer; o != nil {
		o.Begins(e.scheduler)
	}
	begun := e.config.Now()
	step := e.scheduler.Schedule(begun)
	if len(step.Items) == 0 {
		return step.Wait
	}
	chosen := e.config.Now()
	for _, q := range step.Preempted {
		e.jobs[q].record.lostBlocks(chosen)
		e.metrics.preemptions.Inc()
	}
	for _, q := range step.Admitted {
		e.jobs[q].record.scheduled(chosen, q.Cached)
		e.jobs[q].ticket.leave()
		e.config.Log.scheduled(e.jobs[q].record, chosen)
		if q.Preemptions == 0 {
			e.observe(Observer.Admitted, e.jobs[q].record, q.MaxTokens, "", chosen)
		}
	}
	composition := compositionOf(step)
	seen := e.watching(step, composition, begun)

	began := e.config.Now()
	for _, q := range step.Admitted {
		e.jobs[q].record.finished(StageBatch, began)
	}
	e.show()
	results, err := e.compute(step, composition)
	at := e.config.Now()

	if err != nil {
		e.failures++
		e.config.Log.stepFailed(err, len(step.Items), at)
		e.fail(step, at)
	} else {
		e.failures = 0
		e.deliver(step, results, seen, at)
		e.stepped(seen, at)
	}
	e.metrics.step(composition, stepTimes{begun, chosen, began, at, e.config.Now()})
	e.show()
	return 0
}

func (e *Engine) show() {
	e.mu.Lock()
	e.publish()
	e.mu.Unlock()
}

// chunks is a step in the runner's terms, with guesses for its items when there
// are any; it is valid until the next call.
func (e *Engine) chunks(step Step, guesses [][]int) []Chunk {
	e.scratch, e.batch = e.scratch[:0], e.batch[:0]
	for n, i := range step.Items {
		c := Chunk{Start: i.Start, Blocks: i.Seq.Blocks()}
		from := len(e.scratch)
		e.scratch = i.Seq.tokens(e.scratch, i.Start, i.Start+i.Tokens)
		if guesses != nil {
			c.Drafts = len(guesses[n])
			e.scratch = append(e.scratch, guesses[n]...)
		}
		c.Tokens = e.scratch[from:len(e.scratch):len(e.scratch)]
		if i.Samples() {
			c.Sampler = i.Seq.Sampler
		}
		e.batch = append(e.batch, c)
	}
	return e.batch
}

func (e *Engine) deliver(step Step, results []Result, seen *ObservedStep, at time.Time) {
	for n, i := range step.Items {
		r, j := results[n], e.jobs[i.Seq]
		held := r.held()
		e.speculation.counted(e.batch[n], held)
		seen.result(i.Seq, e.batch[n], r, at.Sub(j.last))
		if r.Err == nil { // what was computed otherwise is not to be found again
			e.scheduler.Computed(i, held)
		}
		if len(r.Tokens) > 0 && len(i.Seq.Output) > 0 { // once a step, as vLLM does, however many tokens
			e.metrics.itl.Observe(at.Sub(j.last).Seconds())
		}
		for k, t := range r.Tokens {
			if !i.Seq.Finished() {
				e.sampled(j, event{token: t, at: at, logprobs: r.logprobs(k)})
			}
		}
		if r.Err != nil {
			e.corrupted(j, at)
		}
	}
}

// corrupted ends a sequence alone in its step whose next token cannot be told.
func (e *Engine) corrupted(j *job, at time.Time) {
	if !j.seq.Finished() {
		e.metrics.corrupted.Inc()
		e.scheduler.Discard(j.seq) // what its blocks hold may have been broken before it showed
		e.drop(j, event{token: -1, at: at, finish: FinishError})
	}
}

// sampled passes a token on, and ends its sequence when it was the last one.
func (e *Engine) sampled(j *job, ev event) {
	q, at := j.seq, ev.at
	q.Output = append(q.Output, ev.token)
	if len(q.Output) == 1 {
		e.metrics.prefilled(len(q.Prompt), j.record.snapshot().cachedTokens)
	}
	e.metrics.generationTokens.Inc()
	j.last = at
	j.record.token(at)
	if len(q.Output) == 1 {
		e.config.Log.firstToken(j.record, at)
		e.observe(Observer.First, j.record, q.MaxTokens, "", at)
	}
	if ev.finish = e.finish(q, ev.token); ev.finish == "" {
		j.events.put(ev)
		return
	}
	j.record.finished(StageDecode, at)
	e.drop(j, ev)
}

// finish says whether a sequence ends with its newest token, and why.
func (e *Engine) finish(q *Sequence, token int) Finish {
	switch {
	case !q.IgnoreEOS && e.tokenizer.IsStop(token):
		return FinishStop
	case len(q.Output) >= q.MaxTokens:
		return FinishLength
	}
	return ""
}

// fail ends the sequences of a step that could not be computed.
func (e *Engine) fail(step Step, at time.Time) {
	for _, i := range step.Items {
		e.drop(e.jobs[i.Seq], event{token: -1, at: at, finish: FinishError})
	}
}
