package twin

import (
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/workload"
)

// place is where a job is beside its stage.
type place uint8

const (
	inFront     place = iota // on its way to the scheduler
	held                     // in the queue, but held back: lock, grammar, adapter, transfer
	inScheduler              // waiting or running
	inBack                   // all its tokens are sampled
)

// job is a request on its way through a replica. With prefill instances it is two: one
// there and one where the answer is decoded, each the other's peer.
type job struct {
	seq engine.Sequence

	// What each step touches.
	last   time.Duration // its newest token was sampled
	gap    time.Duration // longest time between two of its tokens
	output int           // tokens of the answer
	answer stream        // of its tokens

	id      int32
	life    uint32 // counts the requests that have been this job
	place   place
	running bool // in the batch
	over    bool // it has ended
	queued  bool // has a place in the queue
	guided  bool
	stream  bool
	slow    bool
	prefill bool // a peer that only computes the prompt
	finish  engine.Finish
	replica *replica
	peer    *job
	canary  *canary // it is one

	number   uint64        // of the request
	order    uint64        // of arrival at the replica
	at       time.Duration // arrived
	meant    time.Duration // its client wanted to send it
	line     engine.Timeline
	read     time.Duration // when stages end
	checked  time.Duration // that pass in one go
	first    time.Duration // its first token was sampled
	shown    time.Duration // its first token is written, or text; 0: not yet
	seen     time.Duration // and by its client
	written  time.Duration // its last token is
	textEnd  time.Duration // its last token is text
	lost     time.Duration // its blocks, until it runs again; 0: has them
	waited   time.Duration // after preemptions
	detok    time.Duration // spent on its tokens
	sending  time.Duration
	with     [numWays]*crew // that serve it now
	from     *replica       // that sends its keys and values,
	sentAt   time.Duration  // since then
	transfer time.Duration  // how long its keys and values took from its peer

	bytes    int
	prompt   int
	cached   int
	prefix   []workload.Segment
	own      stream // the tokens of its prompt that are its own
	adapter  int
	schema   int
	images   int
	slot     int           // of the adapter; -1: none
	until    time.Duration // it is held back
	cause    cause
	unlocked bool // has been through the lock
	remote   bool // its keys and values come from its peer
	arrived  bool // and are here

	before, after *job // of the replica, in order of arrival
}

// pool holds all jobs, in use or not.
type pool struct {
	jobs  []*job
	free  []int32
	lists buffers // of their tokens
}

// take is a job that is new and empty.
func (p *pool) take() *job {
	if n := len(p.free); n > 0 {
		j := p.jobs[p.free[n-1]]
		p.free = p.free[:n-1]
		return j
	}
	j := &job{id: int32(len(p.jobs))}
	p.jobs = append(p.jobs, j)
	j.clear()
	return j
}

// give takes a job back: what was to happen to it will not.
func (p *pool) give(j *job) {
	p.lists.give(j.seq.Prompt)
	p.lists.give(j.seq.Output)
	j.seq.Prompt, j.seq.Output = nil, nil
	j.clear()
	p.free = append(p.free, j.id)
}

func (j *job) clear() {
	j.seq.Reset()
	*j = job{seq: j.seq, id: j.id, life: j.life + 1, prefix: j.prefix[:0], slot: -1}
	j.seq.Tag = int(j.id)
}

// open reports how many jobs are in use.
func (p *pool) open() int { return len(p.jobs) - len(p.free) }

// jobs are those of a replica that are in flight, in order of arrival.
type jobs struct {
	first, last *job
	count       int
	slow        int // of them with a client that reads slowly
}

func (l *jobs) add(j *job) {
	j.before, j.after = l.last, nil
	if l.last == nil {
		l.first = j
	} else {
		l.last.after = j
	}
	l.last = j
	l.count++
	if j.slow {
		l.slow++
	}
}

func (l *jobs) remove(j *job) {
	if j.before == nil {
		l.first = j.after
	} else {
		j.before.after = j.after
	}
	if j.after == nil {
		l.last = j.before
	} else {
		j.after.before = j.before
	}
	j.before, j.after = nil, nil
	l.count--
	if j.slow {
		l.slow--
	}
}
