package engine

import (
	"sync/atomic"
	"time"
)

// job is a sequence on its way through the engine's loop.
type job struct {
	seq    *Sequence
	record *record
	ticket *ticket         // its place in the queue
	events *mailbox[event] // from the loop: its tokens, then its end
	last   time.Time       // its newest token; the loop's own
	ended  atomic.Bool     // its end has been counted
}

// event is a sampled token, the end of a sequence, or both.
type event struct {
	token    int       // -1: none
	logprobs *Logprobs // of the token; nil: not wanted
	at       time.Time
	finish   Finish // empty: more is to come
}

func newJob(seq *Sequence, r *record, t *ticket) *job {
	return &job{seq: seq, record: r, ticket: t, events: newMailbox[event]()}
}

// ended counts the end of a job, once.
func (e *Engine) ended(j *job, why Finish, now time.Time) {
	if !j.ended.CompareAndSwap(false, true) {
		return
	}
	f := j.record.snapshot()
	e.metrics.ended(why, j.seq, f, now)
	e.observe(Observer.Finished, j.record, j.seq.MaxTokens, why, now)
	if why == FinishStop || why == FinishLength {
		e.queue.served(f.between(StageBatch, StageDecode))
	}
}
