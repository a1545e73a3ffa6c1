package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Limits bound what the scheduler puts into a step.
type Limits struct {
	MaxNumSeqs                int // running sequences
	MaxBatchedTokens          int // tokens a step, at least MaxNumSeqs so that every decode fits
	LongPrefillTokenThreshold int // most tokens of one prompt a step; 0: no bound of its own
	Drafts                    int // most guesses of a decode

	// Headroom is the share of the blocks that stays free when a sequence is
	// admitted beside others, so that they can grow before anyone is preempted.
	Headroom float64
	// MinShare is the share of places, blocks and prefill tokens that each class
	// below the most urgent keeps however many more urgent ones come.
	MinShare float64

	Policy    Policy
	BatchWait time.Duration // of the policies that wait
}

// ErrUnservable is returned for a sequence that could never finish: it is longer
// than the whole KV cache.
var ErrUnservable = errors.New("longer than the KV cache")

// maxPreemptions is how often a sequence may lose its blocks. Then all that it may
// ever need is set apart from what other such sequences need, and it keeps its blocks.
const maxPreemptions = 4

// Scheduler decides, step by step, which tokens of which sequences are computed:
// decodes first, then chunks of the prompts that have begun, then new prompts, each
// the more urgent class first and then in order of arrival. It follows the scheduler
// of vLLM V1. It reads no clock and is not safe for concurrent use; the engine's
// loop owns it.
type Scheduler struct {
	limits  Limits
	blocks  *BlockManager
	waiting [NumClasses]queue // preempted sequences are put in front
	running []*Sequence       // in order of admission
	count   [NumClasses]int   // running, by class
	joining int               // places left in the batch that is being filled, see Policy
	counts  counts

	withheld []int // blocks that nobody gets

	// Scratch, used again at each step.
	items               []Item
	admitted, preempted []*Sequence
	decodes, prefills   byClass // running when it began
	tables              [][]int // block tables that nobody uses
}

// Item is a part of a step: Tokens tokens of Seq beginning at position Start, and
// room for so many guesses after them.
type Item struct {
	Seq    *Sequence
	Start  int
	Tokens int
	Drafts int
}

// Samples reports whether the item reaches the end of its sequence, so that its next token can be sampled.
func (i Item) Samples() bool { return i.Start+i.Tokens == i.Seq.Len() }

// Step is what is computed in one pass. It is valid until the next one.
type Step struct {
	Items     []Item        // decodes first
	Tokens    int           // of all items, guesses included
	Admitted  []*Sequence   // began, or began again, to run in this step
	Preempted []*Sequence   // lost their blocks and wait again
	Wait      time.Duration // when there are no items: how long the policy waits for more sequences
}

// NewScheduler schedules within limits over the blocks of a cache.
func NewScheduler(l Limits, blocks *BlockManager) (*Scheduler, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if blocks.Total() < 1 {
		return nil, errors.New("the KV cache has no block")
	}
	return &Scheduler{limits: l, blocks: blocks}, nil
}

func (l Limits) check() error {
	switch {
	case l.MaxNumSeqs < 1:
		return fmt.Errorf("max_num_seqs is %d, must be at least 1", l.MaxNumSeqs)
	case l.MaxBatchedTokens < l.MaxNumSeqs:
		return fmt.Errorf("max_num_batched_tokens (%d) is less than max_num_seqs (%d)", l.MaxBatchedTokens, l.MaxNumSeqs)
	case l.LongPrefillTokenThreshold < 0:
		return fmt.Errorf("long_prefill_token_threshold is %d, must not be negative", l.LongPrefillTokenThreshold)
	case !(l.Headroom >= 0 && l.Headroom < 1):
		return fmt.Errorf("kv_headroom is %g, must be at least 0 and below 1", l.Headroom)
	case !(l.MinShare >= 0 && l.MinShare <= maxMinShare):
		return fmt.Errorf("min_share is %g, must be between 0 and %.2f", l.MinShare, maxMinShare)
	}
	return l.Policy.check()
}

// Waiting and Running are the numbers of sequences in either state.
func (s *Scheduler) Waiting() (n int) {
	for i := range s.waiting {
		n += s.waiting[i].count
	}
	return n
}

// Running is the number of sequences that hold blocks.
func (s *Scheduler) Running() int { return len(s.running) }

// Idle reports whether there is nothing to do.
func (s *Scheduler) Idle() bool { return len(s.running) == 0 && s.Waiting() == 0 }

// Add puts a new sequence at the end of its class's queue. The error is
// ErrUnservable or about the sequence itself.
func (s *Scheduler) Add(q *Sequence) error {
	switch {
	case q.status != statusNew:
		return errors.New("the sequence was added before")
	case len(q.Prompt) == 0 || q.MaxTokens < 1:
		return errors.New("a sequence needs a prompt and at least one token to generate")
	case q.Class < Realtime || q.Class > Background:
		return fmt.Errorf("there is no class %d", int(q.Class))
	case q.MaxTokens > s.blocks.Capacity()-len(q.Prompt):
		return fmt.Errorf("%d tokens and %d to generate, %d fit: %w", len(q.Prompt), q.MaxTokens, s.blocks.Capacity(), ErrUnservable)
	}
	q.status = statusWaiting
	s.queue(q).pushBack(q)
	return nil
}

// Finish takes a sequence out, in whatever state it is, and frees its blocks.
// Finishing twice does nothing.
func (s *Scheduler) Finish(q *Sequence) {
	switch q.status {
	case statusWaiting:
		s.queue(q).remove(q)
	case statusRunning:
		s.leave(q)
	}
	q.status = statusFinished
}

// Discard is Finish for a sequence that was not computed soundly: nobody reuses its blocks.
func (s *Scheduler) Discard(q *Sequence) {
	s.blocks.Forget(q.blocks)
	q.computed = 0
	s.Finish(q)
}

// Computed notes that the runner has computed an item of the last step and that so
// many guesses held; the caller then appends what was sampled to the sequence.
func (s *Scheduler) Computed(i Item, held int) {
	i.Seq.computed = i.Start + i.Tokens + held
	s.counts.recomputed += uint64(max(0, min(i.Seq.computed, i.Seq.reached)-i.Start))
	i.Seq.reached = max(i.Seq.reached, i.Seq.computed)
}

func (s *Scheduler) queue(q *Sequence) *queue { return &s.waiting[q.Class.index()] }

// leave takes a running sequence out of the batch and frees its blocks; what they
// hold stays known.
func (s *Scheduler) leave(q *Sequence) {
	at := slices.Index(s.running, q)
	s.running = slices.Delete(s.running, at, at+1)
	s.count[q.Class.index()]--
	s.blocks.keep(q)
	s.blocks.Release(q.blocks)
	s.tables = append(s.tables, q.blocks[:0])
	q.blocks, q.computed, q.inStep = nil, 0, false
	q.kept, q.chain = 0, prefix{}
}

// table is an empty block table, in memory that was used before if there is some.
func (s *Scheduler) table() []int {
	if n := len(s.tables) - 1; n >= 0 {
		t := s.tables[n]
		s.tables = s.tables[:n]
		return t
	}
	return nil
}
