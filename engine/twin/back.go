package twin

import (
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/machine"
)

// pass brings the tokens of a step to the clients: they become text one after the other,
// then the event loop writes them. First tokens and ends of answers are told when they are
// through.
func (r *replica) pass(sampled int) {
	if sampled == 0 {
		return
	}
	s, now := r.sim, r.sim.now
	detokenize := times(s.front.Detokenize, r.slow.detokenizer)
	send := s.front.Send
	r.spend(machine.Detokenize, detokenize*time.Duration(sampled))
	r.spend(machine.Send, send*time.Duration(sampled))
	r.load.BytesOut += float64(sampled) * s.front.EventBytes
	text := r.text.serve(now, r.onCPU(detokenize*time.Duration(sampled)), &r.pauses) + s.front.Handoff/2
	work := r.onCPU(send * time.Duration(sampled))
	if !r.loop.busy(now) { // else what has come is logged together with what comes
		work += r.logLine()
	}
	out := max(text, r.loop.serve(now, work, &r.pauses))
	blocked, late := s.download(float64(sampled) * s.front.EventBytes)
	written := out + blocked
	for _, j := range s.begins {
		j.shown, j.seen = written, out+late
		if !j.stream {
			j.shown = text
		}
		s.at(text, told, j)
	}
	for _, j := range s.ends {
		j.textEnd, j.written = text, r.readAt(j, written)
		j.detok = r.onCPU(detokenize) * time.Duration(len(j.seq.Output))
		j.sending = r.onCPU(send)*time.Duration(len(j.seq.Output)) + j.written - written
		s.at(text, answered, j)
	}
}

// readAt is when the last byte of an answer is written that could be at a time: a slow
// client has to make room for it.
func (r *replica) readAt(j *job, written time.Duration) time.Duration {
	if !j.slow {
		return written
	}
	f := &r.sim.front
	rest := float64(len(j.seq.Output))*f.EventBytes - f.Buffer
	return max(written, j.first+seconds(rest/f.SlowBytes))
}

// told is when a job's first token is text.
func (r *replica) told(j *job) {
	if r.page != nil {
		r.page.First(r.tell(j))
	}
}

// answered is when a job's last token is text.
func (r *replica) answered(j *job) {
	s := r.sim
	j.line.Finish(engine.StageDetokenize, s.time(s.now))
	if r.page != nil {
		q, whole := r.tell(j), j.line
		whole.Finish(engine.StageSend, s.time(j.written))
		q.Line = &whole
		r.page.Finished(q)
	}
	if j.written > s.now {
		s.at(j.written, sent, j)
		return
	}
	r.sent(j)
}

// sent is when the last byte of an answer is written.
func (r *replica) sent(j *job) {
	s := r.sim
	j.line.Finish(engine.StageSend, s.time(s.now))
	if j.prefill {
		r.transfer(j)
	} else {
		s.tally.client(j, s)
	}
	r.close(j)
}

// end ends a job that has not come to its end: whatever it holds is free.
func (r *replica) end(j *job, why engine.Finish) {
	s := r.sim
	switch j.place {
	case held:
		r.waits.release(j)
		r.adapters.give(r, j)
	case inScheduler:
		if j.running {
			r.leave(j)
		} else if j.lost > 0 {
			r.swapped--
		}
		s.tally.Settled += uint64(j.seq.Computed())
		r.scheduler.Finish(&j.seq)
		r.adapters.give(r, j)
	}
	if r.page != nil && j.place != inBack {
		j.finish = why
		r.page.Finished(r.tell(j))
	}
	j.finish = why
	r.close(j)
}

// close forgets a job: its record is kept, its peer is told, its place is free.
func (r *replica) close(j *job) {
	s := r.sim
	r.unqueue(j)
	if j.place == inBack {
		r.back--
	}
	r.jobs.remove(j)
	j.over = true
	j.line.Finish(j.line.Stage(), s.time(s.now))
	r.ring.add(r.record(j))
	s.tally.ended(j)
	s.release(j)
}

// release frees the place of a job that has ended; its peer ends with it.
func (s *Simulation) release(j *job) {
	j.leave(byFront)
	j.leave(byWire)
	if c := j.canary; c != nil {
		c.over(j, s)
	}
	s.held -= j.prompt
	if !j.prefill {
		s.open--
	}
	if p := j.peer; p != nil {
		j.peer, p.peer = nil, nil
		p.replica.doom(p, j.finish)
	}
	s.jobs.give(j)
}

// unqueue gives back a job's place in the queue, once.
func (r *replica) unqueue(j *job) {
	if j.queued {
		j.queued = false
		r.queued[classIndex(j)]--
	}
}

// doomed is a job that is to be aborted before the next step, if it is still there.
type doomed struct {
	job  *job
	life uint32
	why  engine.Finish
}

// doom aborts a job whose peer has gone; one that is being computed before the next step.
func (r *replica) doom(j *job, why engine.Finish) {
	if why == engine.FinishStop || why == engine.FinishLength {
		why = engine.FinishAbort
	}
	switch {
	case j.place == inScheduler && r.current.running:
		r.doomed = append(r.doomed, doomed{j, j.life, why})
	case j.place != inBack:
		r.end(j, why)
	}
}

// abort ends the jobs that are to be aborted.
func (r *replica) abort() {
	for _, d := range r.doomed {
		if d.job.life == d.life && d.job.place == inScheduler {
			r.end(d.job, d.why)
		}
	}
	r.doomed = r.doomed[:0]
}

// client adds what a client has seen of its answer, from when it wanted to ask.
func (t *Tally) client(j *job, s *Simulation) {
	e2e := s.network.passed(s.now) - j.meant
	ttft := s.network.passed(j.seen) - j.meant
	if s.buffered {
		ttft = e2e // a proxy keeps the answer until it is whole
	}
	t.ClientTTFT += ttft
	t.ClientE2E += e2e
}
