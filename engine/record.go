package engine

import (
	"sync"
	"time"
)

// record is what the engine tells of one request: lengths and times, never text.
// The handler, the goroutine that detokenizes and the engine's loop all write to it.
type record struct {
	mu sync.Mutex
	facts
}

// facts are the contents of a record; a copy of them is what readers get.
type facts struct {
	seq    uint64 // order of arrival; once finished, order of finishing
	id     string // hashed
	stream bool
	line   Timeline
	finish Finish // empty while in flight

	class Class

	promptBytes, promptTokens, cachedTokens, outputTokens, preemptions int

	firstToken, lastToken time.Time     // sampled
	preemptedAt           time.Time     // zero unless waiting after a preemption
	ttft                  time.Duration // until the first byte of a stream is written, or the first token of another answer is text
	answering             bool          // ttft is set

	maxITL, detokenizeBusy, sendBusy, preempted time.Duration
}

func (r *record) update(change func(f *facts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finish == "" {
		change(&r.facts)
	}
}

func (r *record) snapshot() facts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.facts
}

// finished ends a stage.
func (r *record) finished(s Stage, at time.Time) {
	r.update(func(f *facts) { f.line.Finish(s, at) })
}

// token notes a sampled token, and the time since the one before.
func (r *record) token(at time.Time) {
	r.update(func(f *facts) {
		if f.line.stage > StageDecode {
			return // a stop string has ended the answer before this token
		}
		f.outputTokens++
		if f.firstToken.IsZero() {
			f.firstToken = at
			f.line.Finish(StagePrefill, at)
		} else {
			f.maxITL = max(f.maxITL, at.Sub(f.lastToken))
		}
		f.lastToken = at
	})
}

// scheduled notes that the scheduler has chosen the request, for the first time or
// again, and has found so many of its tokens in the cache. Those of the first time
// are what the request has saved; later ones may be its own work.
func (r *record) scheduled(at time.Time, cached int) {
	r.update(func(f *facts) {
		if f.line.stage <= StageQueue {
			f.cachedTokens = cached
		}
		f.line.Finish(StageQueue, at)
		if !f.preemptedAt.IsZero() {
			f.preempted += at.Sub(f.preemptedAt)
			f.preemptedAt = time.Time{}
		}
	})
}

func (r *record) lostBlocks(at time.Time) {
	r.update(func(f *facts) {
		f.preemptions++
		f.preemptedAt = at
	})
}

// wrote notes a write of a part of the answer, begun at one instant and over at another.
func (r *record) wrote(begun, done time.Time, ok bool) {
	r.update(func(f *facts) {
		f.sendBusy += done.Sub(begun)
		if ok && f.stream {
			f.firstText(done)
		}
	})
}

// firstText notes when the first of the answer is there.
func (f *facts) firstText(at time.Time) {
	if !f.answering {
		f.answering, f.ttft = true, at.Sub(f.line.arrived)
	}
}

// between is the time from the end of one stage to the end of another: the stages from…to.
func (f *facts) between(from, to Stage) (d time.Duration) {
	for s := from; s <= to; s++ {
		d += f.line.spent[s]
	}
	return d
}
