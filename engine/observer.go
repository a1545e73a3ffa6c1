package engine

import "time"

// Observer is told what happens in an engine, when it happens and with no lock held. Its
// methods are called by the handlers of many requests and by the loop, which waits for them.
// What they are given is valid until they return.
type Observer interface {
	// Arrived is called for every request for text; its body has so many bytes, -1 when that is not known yet.
	Arrived(at time.Time, bytes int64)
	// Stage is called when a handler has done the work of a stage of its own. The stage
	// lasts until Stage returns. The body has so many bytes.
	Stage(s Stage, bytes int)
	// Queued is called just before a request is given to the scheduler, Admitted when it
	// has been chosen for the first time, First at its first token, Finished at its end,
	// whether it has ever been queued or not.
	Queued(r *Observed)
	Admitted(r *Observed)
	First(r *Observed)
	Finished(r *Observed)
	// Begins is called by the loop before it chooses what to compute; limits may be changed.
	Begins(s *Scheduler)
	// Stepped is called by the loop after a step that was computed.
	Stepped(s *ObservedStep)
	// Rests is called by the loop when it has nothing to do for now.
	Rests()
}

// Observed is what is known of a request when it has got on.
type Observed struct {
	At      time.Time
	Line    Timeline
	Class   Class
	TTFT    time.Duration // arrival until its first token is sampled; 0 before
	Prompt  int           // tokens
	Cached  int           // of them found in the cache
	Output  int           // tokens
	Asked   int           // most tokens that it may get; 0 before it is queued
	Finish  Finish        // empty before its end
	Preempt int           // how often it has lost its blocks
}

// ObservedStep is what happened in a step.
type ObservedStep struct {
	Begun, At        time.Time // the scheduler began; the tokens are there
	Prefills, Prompt int       // sequences whose prompt went on, and tokens of it
	Decodes          int       // sequences that decoded
	First, Generated int       // first tokens, and all other tokens
	Gaps             []time.Duration
	Drafts           int // sequences with guesses, the guesses, and those that held
	Drafted          int
	Accepted         int
	Preempted        int
	Stats            Stats // once it was over
}

// Stats tells how things stand: what the loop has published, and what it has not seen yet.
func (e *Engine) Stats() Stats { return e.snapshot().Stats }

// observe describes a request to the observer, if there is one.
func (e *Engine) observe(tell func(Observer, *Observed), r *record, asked int, why Finish, at time.Time) {
	if e.config.Observer == nil {
		return
	}
	f := r.snapshot()
	o := Observed{
		At: at, Line: f.line, Class: f.class, Prompt: f.promptTokens, Cached: f.cachedTokens, Output: f.outputTokens,
		Asked: asked, Finish: why, Preempt: f.preemptions,
	}
	if !f.firstToken.IsZero() {
		o.TTFT = f.firstToken.Sub(f.line.arrived)
	}
	tell(e.config.Observer, &o)
}

// watching is what the loop notes of a step for the observer; nil when there is none.
func (e *Engine) watching(step Step, c composition, begun time.Time) *ObservedStep {
	if e.config.Observer == nil {
		return nil
	}
	e.seen = ObservedStep{
		Begun: begun, Gaps: e.seen.Gaps[:0], Preempted: len(step.Preempted),
		Prefills: c.sequences[prefilling], Prompt: c.tokens[prefilling], Decodes: c.sequences[decoding],
	}
	return &e.seen
}

// result notes what came of one item; gap is the time since the sequence's last token.
func (s *ObservedStep) result(q *Sequence, c Chunk, r Result, gap time.Duration) {
	if s == nil {
		return
	}
	if c.Drafts > 0 {
		s.Drafts, s.Drafted, s.Accepted = s.Drafts+1, s.Drafted+c.Drafts, s.Accepted+r.held()
	}
	n := len(r.Tokens)
	if n > 0 && len(q.Output) == 0 {
		s.First, n = s.First+1, n-1
	} else if n > 0 {
		s.Gaps = append(s.Gaps, gap)
	}
	s.Generated += n
}

// stepped tells the observer of a step.
func (e *Engine) stepped(s *ObservedStep, at time.Time) {
	if s != nil {
		s.At, s.Stats = at, e.scheduler.Stats()
		e.config.Observer.Stepped(s)
	}
}
