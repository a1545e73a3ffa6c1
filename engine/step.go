package engine

import "time"

// step schedules, computes and delivers one step.
func (e *Engine) step() {
	step := e.scheduler.Schedule()
	chosen := e.config.Now()
	for _, q := range step.Preempted {
		e.jobs[q].record.lostBlocks(chosen)
		e.metrics.preemptions.Inc()
	}
	for _, q := range step.Admitted {
		e.jobs[q].record.scheduled(chosen, q.Cached)
		e.jobs[q].ticket.leave()
		e.config.Log.scheduled(e.jobs[q].record, chosen)
	}
	batch := e.chunks(step)

	began := e.config.Now()
	for _, q := range step.Admitted {
		e.jobs[q].record.finished(StageBatch, began)
	}
	e.show(began)
	results, err := e.compute(step, batch)
	at := e.config.Now()

	if err != nil {
		e.fail(step, at)
	} else {
		e.deliver(step, results, at)
	}
	e.metrics.stepTokens.Observe(float64(step.Tokens))
	e.show(time.Time{})
}

func (e *Engine) show(stepBegan time.Time) {
	e.mu.Lock()
	e.publish(stepBegan)
	e.mu.Unlock()
}

// chunks is a step in the runner's terms; it is valid until the next call.
func (e *Engine) chunks(step Step) []Chunk {
	e.scratch, e.batch = e.scratch[:0], e.batch[:0]
	for _, i := range step.Items {
		from := len(e.scratch)
		e.scratch = i.Seq.tokens(e.scratch, i.Start, i.Start+i.Tokens)
		c := Chunk{Tokens: e.scratch[from:len(e.scratch):len(e.scratch)], Start: i.Start, Blocks: i.Seq.Blocks()}
		if i.Samples() {
			c.Sampler = i.Seq.Sampler
		}
		e.batch = append(e.batch, c)
	}
	return e.batch
}

func (e *Engine) deliver(step Step, results []Result, at time.Time) {
	for n, i := range step.Items {
		tokens := results[n].Tokens
		e.scheduler.Computed(i, max(0, len(tokens)-1))
		for k, t := range tokens {
			if !i.Seq.Finished() {
				e.sampled(e.jobs[i.Seq], event{token: t, at: at, logprobs: results[n].logprobs(k)})
			}
		}
	}
}

// sampled passes a token on, and ends its sequence when it was the last one.
func (e *Engine) sampled(j *job, ev event) {
	q, at := j.seq, ev.at
	q.Output = append(q.Output, ev.token)
	if len(q.Output) == 1 {
		e.metrics.promptTokens.Add(float64(len(q.Prompt)))
	} else {
		e.metrics.itl.Observe(at.Sub(j.last).Seconds())
	}
	e.metrics.generationTokens.Inc()
	j.last = at
	j.record.token(at)
	if len(q.Output) == 1 {
		e.config.Log.firstToken(j.record, at)
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
