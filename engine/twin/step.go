package twin

import (
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/exposition"
)

// current is the step that a replica computes.
type current struct {
	step     engine.Step
	work     cost.Work
	cost     cost.Cost // its Idle is the slice below
	idle     []time.Duration
	from, to time.Duration
	counted  time.Duration // what it has done until then is in the loads
	running  bool
	hung     bool // its end has come, but not for it
	passed   exposition.Step
	places   []int // guesses that held, by their place
}

// leastStep keeps a cost model that says nothing from making time stand still.
const leastStep = time.Microsecond

// step begins the next step unless one is computed or there is nothing to do: as the
// engine's loop does it, with the same stamps.
func (r *replica) step() {
	if r.current.running || !r.up {
		return
	}
	s, at := r.sim, r.sim.time(r.sim.now)
	r.abort()
	r.withheld.settle(r.blocks)
	step := r.scheduler.Schedule(at)
	for _, q := range step.Preempted { // a cache that shrinks may take all from all
		r.preempted(s.jobs.jobs[q.Tag])
	}
	if len(step.Items) == 0 {
		if wake := s.now + step.Wait; step.Wait > 0 && r.wakes < wake {
			r.wakes = wake
			s.agenda.add(wake, woken, int32(r.index), r.life)
		}
		return
	}
	c := &r.current
	c.step, c.passed = step, exposition.Step{Preempts: r.preempts, ByPlace: c.places}
	r.preempts = 0
	clear(c.places)
	for _, q := range step.Admitted {
		r.admitted(s.jobs.jobs[q.Tag], at)
	}
	r.compose()
	r.compute()
}

// compute asks the cost model how long the step takes.
func (r *replica) compute() {
	s, c := r.sim, &r.current
	cost := r.model.Step(&c.work, &r.conditions)
	c.idle = append(c.idle[:0], cost.Idle...)
	c.cost = *cost
	c.cost.Idle = c.idle
	if r.upgraded != 1 {
		stretch(&c.cost, r.upgraded)
	}
	c.from, c.counted, c.running = s.now, s.now, true
	c.to = r.pauses.extend(s.now, max(leastStep, c.cost.Step))
	s.agenda.add(c.to, stepped, int32(r.index), r.life)
	s.tally.Steps++
	r.load.Steps++
}

func (r *replica) preempted(j *job) {
	j.lost = r.sim.now
	r.swapped++
	r.preempts++
	r.leave(j)
}

// admitted notes that the scheduler has chosen a job, for the first time or again.
func (r *replica) admitted(j *job, at time.Time) {
	r.sim.tally.Cached += uint64(j.seq.Computed())
	j.running = true
	if j.guided {
		r.guided++
	}
	r.adapters.runs(j, 1)
	if j.seq.Preemptions > 0 {
		j.waited += r.sim.now - j.lost
		j.lost = 0
		r.swapped--
		return
	}
	j.cached = j.seq.Cached
	j.line.Finish(engine.StageQueue, at)
	j.line.Finish(engine.StageBatch, at)
	r.unqueue(j)
	r.current.passed.Queries += j.seq.Len()
	r.current.passed.Hits += j.cached
	if r.page != nil {
		r.page.Admitted(r.tell(j))
	}
}

// leave notes that a job is no longer in the batch.
func (r *replica) leave(j *job) {
	j.running = false
	if j.guided {
		r.guided--
	}
	r.adapters.runs(j, -1)
}

// compose sums up what the step computes.
func (r *replica) compose() {
	w := cost.Work{Adapters: r.adapters.active}
	for i := range r.current.step.Items {
		item := &r.current.step.Items[i]
		q := item.Seq
		if item.Tokens == 1 && len(q.Output) > 0 && q.Len()-item.Start == 1 {
			w.Decodes++
			w.DecodeTokens += 1 + item.Drafts
			w.Context += item.Start
			w.Sampled++
			continue
		}
		w.Prefills++
		w.PrefillTokens += item.Tokens
		n, start := float64(item.Tokens), float64(item.Start)
		w.PrefillPairs += n*start + n*(n+1)/2
		w.PrefillContext += item.Start
		if item.Start+item.Tokens == q.Len() {
			w.Sampled++
		}
	}
	if r.guided > 0 {
		w.Guided = r.count(func(j *job, i *engine.Item) bool { return j.guided && i.Samples() })
	}
	if w.Adapters > 0 {
		w.AdapterSeqs = r.count(func(j *job, _ *engine.Item) bool { return j.slot >= 0 })
	}
	if p := r.slow.shapes; p > 0 {
		w.NewShape = r.rng.Float64() < p
	}
	r.current.work = w
}

// count is how many of the step's jobs are of a kind.
func (r *replica) count(is func(*job, *engine.Item) bool) (n int) {
	for i := range r.current.step.Items {
		item := &r.current.step.Items[i]
		if is(r.sim.jobs.jobs[item.Seq.Tag], item) {
			n++
		}
	}
	return n
}

// stepped is the end of a step, unless it hangs.
func (r *replica) stepped() {
	if r.slow.hang {
		r.current.hung = true
		return
	}
	r.account(r.sim.now)
	r.current.running, r.current.hung = false, false
	r.deliver()
	r.lastEnd = r.sim.now
	r.step()
}

// watch lets a step end that has hung, once nothing holds it any more.
func (r *replica) watch() {
	if r.current.hung && !r.slow.hang {
		r.current.hung = false
		r.sim.agenda.add(r.sim.now, stepped, int32(r.index), r.life)
	}
}

// stretch makes a step take so many times as long in all its parts.
func stretch(c *cost.Cost, factor float64) {
	for _, d := range []*time.Duration{&c.Kernel, &c.Gap, &c.Link, &c.Compile, &c.CPU, &c.Host.Schedule, &c.Host.Launch, &c.Host.Sample, &c.Host.Mask} {
		*d = times(*d, factor)
	}
	c.Step = c.Kernel + c.Gap
	for i := range c.Idle {
		c.Idle[i] = times(c.Idle[i], factor)
	}
}
