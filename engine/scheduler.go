package engine

import (
	"errors"
	"fmt"
	"slices"
)

// Limits bound what the scheduler puts into a step.
type Limits struct {
	MaxNumSeqs                int // running sequences
	MaxBatchedTokens          int // tokens a step, at least MaxNumSeqs so that every decode fits
	LongPrefillTokenThreshold int // most tokens of one prompt a step; 0: no bound of its own
	Drafts                    int // most guesses after a decode; 0: none
}

// ErrUnservable is returned for a sequence that could never finish: it is longer
// than the whole KV cache.
var ErrUnservable = errors.New("longer than the KV cache")

// maxPreemptions is how often a sequence may lose its blocks. Then it is admitted
// only when what it and all running sequences may still need is free, so that it
// cannot lose them again.
const maxPreemptions = 4

// watermark is the share of the blocks that stays free when a sequence is
// admitted beside others, so that they can grow before anyone is preempted (vLLM's default).
const watermark = 0.01

// Scheduler decides, step by step, which tokens of which sequences are computed:
// decodes first, then chunks of the prompts that have begun, then new prompts
// in order of arrival. It follows the scheduler of vLLM V1. It reads no clock and
// is not safe for concurrent use; the engine's loop owns it.
type Scheduler struct {
	limits  Limits
	blocks  *BlockManager
	waiting []*Sequence // the next to admit first; preempted ones are put in front
	running []*Sequence // in order of admission; the last is preempted first
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

// Step is what is computed in one pass.
type Step struct {
	Items     []Item      // decodes first
	Tokens    int         // of all items
	Admitted  []*Sequence // began, or began again, to run in this step
	Preempted []*Sequence // lost their blocks and wait again
}

// NewScheduler schedules within limits over the blocks of a cache.
func NewScheduler(l Limits, blocks *BlockManager) (*Scheduler, error) {
	switch {
	case l.MaxNumSeqs < 1:
		return nil, fmt.Errorf("max_num_seqs is %d, must be at least 1", l.MaxNumSeqs)
	case l.MaxBatchedTokens < l.MaxNumSeqs:
		return nil, fmt.Errorf("max_num_batched_tokens (%d) is less than max_num_seqs (%d)", l.MaxBatchedTokens, l.MaxNumSeqs)
	case l.LongPrefillTokenThreshold < 0:
		return nil, fmt.Errorf("long_prefill_token_threshold is %d, must not be negative", l.LongPrefillTokenThreshold)
	case blocks.Total() < 1:
		return nil, errors.New("the KV cache has no block")
	}
	return &Scheduler{limits: l, blocks: blocks}, nil
}

// Waiting and Running are the numbers of sequences in either state.
func (s *Scheduler) Waiting() int { return len(s.waiting) }

// Running is the number of sequences that hold blocks.
func (s *Scheduler) Running() int { return len(s.running) }

// Idle reports whether there is nothing to do.
func (s *Scheduler) Idle() bool { return len(s.waiting) == 0 && len(s.running) == 0 }

// Add puts a new sequence at the end of the queue. The error is ErrUnservable or
// about the sequence itself.
func (s *Scheduler) Add(q *Sequence) error {
	switch {
	case q.status != statusNew:
		return errors.New("the sequence was added before")
	case len(q.Prompt) == 0 || q.MaxTokens < 1:
		return errors.New("a sequence needs a prompt and at least one token to generate")
	case q.MaxTokens > s.blocks.Capacity()-len(q.Prompt):
		return fmt.Errorf("%d tokens and %d to generate, %d fit: %w", len(q.Prompt), q.MaxTokens, s.blocks.Capacity(), ErrUnservable)
	}
	q.status = statusWaiting
	s.waiting = append(s.waiting, q)
	return nil
}

// Finish takes a sequence out, in whatever state it is, and frees its blocks.
// Finishing twice does nothing.
func (s *Scheduler) Finish(q *Sequence) {
	switch q.status {
	case statusWaiting:
		s.waiting = remove(s.waiting, q)
	case statusRunning:
		s.running = remove(s.running, q)
		s.release(q)
	}
	q.status = statusFinished
}

// Computed notes that the runner has computed an item of the last step and that so
// many guesses held; the caller then appends what was sampled to the sequence.
func (s *Scheduler) Computed(i Item, held int) { i.Seq.computed = i.Start + i.Tokens + held }

func (s *Scheduler) release(q *Sequence) {
	s.blocks.Release(q.blocks)
	q.blocks, q.computed, q.inStep = q.blocks[:0], 0, false
}

func remove(list []*Sequence, q *Sequence) []*Sequence {
	if i := slices.Index(list, q); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}
