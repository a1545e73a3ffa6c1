package engine

import "time"

// Finish says why a sequence ended; the names are OpenAI's and vLLM's.
type Finish string

// The reasons.
const (
	FinishStop     Finish = "stop"   // a stop token or a stop string
	FinishLength   Finish = "length" // as many tokens as asked for, or as fit
	FinishAbort    Finish = "abort"  // the client has gone, or the engine is stopping
	FinishError    Finish = "error"
	FinishRejected Finish = "rejected" // it never became a sequence: the queue was full, or the engine is draining
)

// Sequence is a prompt and the tokens generated for it. After Scheduler.Add the
// scheduler owns it and whoever drives the scheduler may read it.
type Sequence struct {
	Prompt    []int // at least one token
	Output    []int // sampled so far
	MaxTokens int   // most tokens to sample; with Prompt within the model's context, which the scheduler does not know
	Arrived   time.Time
	IgnoreEOS bool // go on after a stop token
	Sampler   *Sampler
	Class     Class
	Salt      string // sequences of different salts share no cached blocks
	Received  int    // leading tokens whose keys and values come from another instance: computed when it is first admitted
	Tag       int    // the caller's own

	Preemptions int
	Cached      int // tokens that it found in the cache when it was first admitted

	status   status
	computed int    // leading tokens whose keys and values are in the cache
	reached  int    // the largest that computed has been
	blocks   []int  // block table
	kept     int    // leading blocks that the prefix cache knows,
	chain    prefix // and the prefix that they are
	inStep   bool   // scheduled in the newest step

	before, after *Sequence // in the queue
}

type status uint8

const (
	statusNew status = iota
	statusWaiting
	statusRunning
	statusFinished
)

// Reset makes a sequence that the scheduler is done with, or never had, new and empty.
// It keeps its space.
func (s *Sequence) Reset() {
	*s = Sequence{Prompt: s.Prompt[:0], Output: s.Output[:0], blocks: s.blocks[:0]}
}

// Len is the number of tokens, prompt and output.
func (s *Sequence) Len() int { return len(s.Prompt) + len(s.Output) }

// Computed is the number of leading tokens whose keys and values are in the cache.
func (s *Sequence) Computed() int { return s.computed }

// Blocks is the block table: position p is in block Blocks()[p/blockSize]. The caller does not change it.
func (s *Sequence) Blocks() []int { return s.blocks }

// Finished reports whether the scheduler is done with it.
func (s *Sequence) Finished() bool { return s.status == statusFinished }

// pending is the number of tokens to compute until the next one can be sampled.
func (s *Sequence) pending() int { return s.Len() - s.computed }

// decoding reports whether only its last sampled token is to be computed.
func (s *Sequence) decoding() bool { return len(s.Output) > 0 && s.pending() == 1 }

// aged reports whether it has lost its blocks so often that it must not again.
func (s *Sequence) aged() bool { return s.Preemptions >= maxPreemptions }

// most is the largest number of tokens that it can ever hold in the cache.
func (s *Sequence) most() int { return len(s.Prompt) + s.MaxTokens }

// tokens appends the tokens at positions from…to-1 to dst.
func (s *Sequence) tokens(dst []int, from, to int) []int {
	if n := len(s.Prompt); from < n {
		dst = append(dst, s.Prompt[from:min(to, n)]...)
		from = min(to, n)
	}
	if n := len(s.Prompt); from < to {
		dst = append(dst, s.Output[from-n:to-n]...)
	}
	return dst
}
