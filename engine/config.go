package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"llmtop/engine/model"
)

// Config says what to serve and how. The zero value serves the embedded model.
type Config struct {
	ModelPath string // a GGUF file; empty: the embedded model
	ModelName string // the name that clients ask for; empty: "oncall"

	// Runner and Tokenizer replace the model; both or neither are given.
	Runner    Runner
	Tokenizer Tokenizer
	Threads   int // of the forward pass; 0: GOMAXPROCS

	// Speculative is how tokens are guessed in advance: SpeculateNgram,
	// SpeculateDraft, or empty: not at all. It changes the speed, never the answers.
	Speculative          string
	DraftModelPath       string // a GGUF file; empty: the embedded draft model; RandomDraft: one that guesses wrong
	NumSpeculativeTokens int    // guesses for a sequence in a step; 0: 4

	// WrapRunner puts something between the engine and its runner, to measure it or to
	// make it slower; nil: nothing.
	WrapRunner func(Runner) Runner
	// WrapTokenizer puts something between the engine and its tokenizer; nil: nothing.
	WrapTokenizer func(Tokenizer) Tokenizer

	TokenizerThreads int    // texts tokenized at once; 0: GOMAXPROCS
	TokenizerCache   string // Off: the vocabulary is read from the model file for every request; empty: On
	Assemble         string // how the prompt of a chat is made: Naive, or Precompiled when empty
	ChatTemplate     string // as a model file has it (Jinja); empty: the model file's own

	MaxNumSeqs                int // sequences in a step; 0: 16
	MaxBatchedTokens          int // tokens in a step; 0: 256
	LongPrefillTokenThreshold int // most tokens of one prompt in a step; 0: no bound of its own
	BlockSize                 int // tokens in a block of the KV cache; 0: 16
	NumBlocks                 int // blocks of the KV cache; 0: 512
	NoPrefixCaching           bool

	// KVHeadroom is the share of the blocks that stays free when a sequence is admitted
	// beside others; 0: 0.15, so that a peak does not interrupt what runs; None: none.
	KVHeadroom float64
	// MinShare is the share of places, blocks and prefill tokens that each of the
	// classes normal and background keeps under a flood of more urgent requests;
	// 0: 0.1; None: none.
	MinShare  float64
	Policy    Policy        // empty: Continuous
	BatchWait time.Duration // of the policies that wait; 0: 50 ms for Dynamic, 2 s for Static

	KVCacheType string // how keys and values are kept: float32 (empty, too) or int8
	MemoryBytes int64  // of the machine: the engine plans for 85 % of it and does not start beyond; 0: unknown

	// MaxQueue is how many requests of each class may wait for their first step; one
	// more is answered with 429. 0: 3 × MaxNumSeqs; Unlimited: any number.
	MaxQueue int

	Log      *EventLog // of what happens to requests; nil: none
	Observer Observer  // is told what happens; nil: nobody

	APIKey       string           // clients of /v1 must send it as a bearer token; empty: anyone may ask
	MaxBodyBytes int64            // of a request; 0: 1 MiB
	Now          func() time.Time // the engine's clock; nil: time.Now
}

// Values of TokenizerCache and Assemble. Off and Naive do what slow front ends do:
// the tokens are the same, the time of the stages tokenize and assemble is not.
const (
	On          = "on"
	Off         = "off"
	Precompiled = "precompiled" // the template is encoded once, at start
	Naive       = "naive"       // the prompt is made anew for each message of a chat, template and all
)

// Unlimited is the MaxQueue that refuses nobody.
const Unlimited = -1

// None is the KVHeadroom or MinShare of no block or place at all.
const None = -1

// Beyond these a setting is a mistake, and what it sizes would take the memory of the host.
const (
	maxThreads       = 1024
	maxSeqs          = 1 << 16
	maxBatchedTokens = 1 << 20
	maxBlockSize     = 1 << 12
	maxBlocks        = 1 << 24
	maxKVBytes       = 64 << 30
	maxDrafts        = 64
)

func (c Config) check() error {
	if (c.Runner == nil) != (c.Tokenizer == nil) {
		return errors.New("a runner needs its tokenizer and the other way round")
	}
	for _, v := range []struct {
		name        string
		value, most int
	}{
		{"threads", c.Threads, maxThreads}, {"tokenizer_threads", c.TokenizerThreads, maxThreads}, {"max_num_seqs", c.MaxNumSeqs, maxSeqs},
		{"max_num_batched_tokens", c.MaxBatchedTokens, maxBatchedTokens},
		{"num_speculative_tokens", c.NumSpeculativeTokens, maxDrafts},
		{"block_size", c.BlockSize, maxBlockSize}, {"num_blocks", c.NumBlocks, maxBlocks},
	} {
		if v.value < 1 {
			return fmt.Errorf("%s is %d, must be at least 1", v.name, v.value)
		}
		if v.value > v.most {
			return fmt.Errorf("%s is %d, must be at most %d", v.name, v.value, v.most)
		}
	}
	if c.TokenizerCache != On && c.TokenizerCache != Off {
		return fmt.Errorf("tokenizer_cache is %q, must be on or off", c.TokenizerCache)
	}
	if c.Assemble != Precompiled && c.Assemble != Naive {
		return fmt.Errorf("assemble is %q, must be precompiled or naive", c.Assemble)
	}
	if c.MaxQueue < Unlimited {
		return fmt.Errorf("max_queue is %d, must be at least 0, or %d for any number", c.MaxQueue, Unlimited)
	}
	if c.BatchWait < 0 {
		return fmt.Errorf("batch_wait is %s, must not be negative", c.BatchWait)
	}
	if c.MaxBodyBytes < 1 {
		return fmt.Errorf("the body limit is %d bytes, must be at least 1", c.MaxBodyBytes)
	}
	if c.DraftModelPath != "" && c.Speculative != SpeculateDraft {
		return fmt.Errorf("a draft model is given, but speculative is %q, not %s", c.Speculative, SpeculateDraft)
	}
	if !slices.Contains([]string{"", SpeculateNgram, SpeculateDraft}, c.Speculative) {
		return fmt.Errorf("speculative decoding by %q is not supported; there are %s and %s", c.Speculative, SpeculateNgram, SpeculateDraft)
	}
	_, err := model.ParseKVType(c.KVCacheType)
	return err
}

// drafts is the most guesses after a decode.
func (c Config) drafts() int {
	if c.Speculative == "" {
		return 0
	}
	return c.NumSpeculativeTokens
}

func (c Config) limits() Limits {
	return Limits{
		MaxNumSeqs:                c.MaxNumSeqs,
		MaxBatchedTokens:          c.MaxBatchedTokens,
		LongPrefillTokenThreshold: c.LongPrefillTokenThreshold,
		Headroom:                  orNone(c.KVHeadroom),
		MinShare:                  orNone(c.MinShare),
		Policy:                    c.Policy,
		BatchWait:                 c.BatchWait,
		Drafts:                    c.drafts(),
	}
}

// orNone makes a share of None 0; other negative ones are refused by NewScheduler.
func orNone(share float64) float64 {
	if share == None {
		return 0
	}
	return share
}
