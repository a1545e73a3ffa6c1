package twin

import (
	"llmtop/engine"
	"llmtop/engine/twin/knob"
)

// restart ends the process; what is in flight fails. A new one loads the model and then
// serves, with nothing in its cache.
func (r *replica) restart() {
	r.die()
	s := r.sim
	r.launched = s.now
	if !r.lost {
		r.loading = loading{began: s.now, takes: times(s.front.Load, s.board.At(knob.LoadTime, r.index))}
		s.agenda.add(s.now+r.loading.takes, served, int32(r.index), r.life)
	}
}

// upgrade is a restart into another version, whose steps take so many times as long.
func (r *replica) upgrade(slower float64) {
	r.version++
	if slower > 0 {
		r.upgraded = slower
	}
	r.restart()
}

// die ends the process. Nobody is told: connections break.
func (r *replica) die() {
	s := r.sim
	r.account(s.now)
	last := r.scheduler.Stats()
	s.tally.Preempted += last.PreemptedTokens - r.stats.PreemptedTokens
	s.tally.Received += last.ReceivedTokens - r.stats.ReceivedTokens
	r.stats = last
	r.up = false
	r.life++
	for _, c := range []*crew{&r.tokenizer, &r.media, &r.wire} {
		c.clear()
	}
	for r.jobs.first != nil {
		j := r.jobs.first
		j.with[byFront] = nil
		s.tally.Settled += uint64(j.seq.Computed())
		r.forget(j, engine.FinishError)
	}
	r.current = current{idle: r.current.idle, places: r.current.places}
	r.queued, r.waits, r.doomed = [engine.NumClasses]int{}, waits{}, r.doomed[:0]
	r.back, r.guided, r.swapped, r.preempts, r.wakes = 0, 0, 0, 0, 0
	r.ring, r.adapters.queue = ring{}, nil
	for _, v := range []*server{&r.loop, &r.text} {
		v.clear()
	}
	r.load.Restarted, r.load.Blocked = true, 0
	for _, other := range s.decoders() {
		other.bereave(r)
	}
}

// bereave fails the jobs whose keys and values were to come from a process that has gone.
func (r *replica) bereave(from *replica) {
	for j := r.jobs.first; j != nil; {
		next := j.after
		if j.from == from && !j.arrived {
			j.with[byWire] = nil
			r.end(j, engine.FinishError)
		}
		j = next
	}
}

// forget drops a job with its process: there is no record of it.
func (r *replica) forget(j *job, why engine.Finish) {
	s := r.sim
	j.finish = why
	r.jobs.remove(j)
	s.tally.ended(j)
	s.release(j)
}

// restarted is when the new process serves.
func (r *replica) restarted() {
	if r.sim.note(r.serve()); r.sim.err != nil {
		return
	}
	r.sim.note(r.retune())
	r.setUp()
	if r.page != nil {
		r.page.Restarted(r.setup.Info)
	}
}

// lose is for a replica one of whose GPUs has gone, or is back: without all of them its
// process does not live.
func (r *replica) lose(lost bool) {
	if r.lost == lost {
		return
	}
	r.lost = lost
	if lost {
		r.die()
	} else {
		r.restart()
	}
}
