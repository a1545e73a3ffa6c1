package engine

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Config says what to serve and how. The zero value serves the embedded model.
type Config struct {
	ModelPath string // a GGUF file; empty: the embedded model
	ModelName string // the name that clients ask for; empty: "oncall"

	// Runner and Tokenizer replace the model; both or neither are given.
	Runner    Runner
	Tokenizer Tokenizer
	Threads   int // of the forward pass; 0: GOMAXPROCS

	// WrapTokenizer puts something between the engine and its tokenizer; nil: nothing.
	WrapTokenizer func(Tokenizer) Tokenizer

	MaxNumSeqs                int // sequences in a step; 0: 16
	MaxBatchedTokens          int // tokens in a step; 0: 256
	LongPrefillTokenThreshold int // most tokens of one prompt in a step; 0: no bound of its own
	BlockSize                 int // tokens in a block of the KV cache; 0: 16
	NumBlocks                 int // blocks of the KV cache; 0: 512

	// MaxQueue is how many requests may wait for their first step; one more is
	// answered with 429. 0: 3 × MaxNumSeqs; Unlimited: any number.
	MaxQueue int

	Log *EventLog // of what happens to requests; nil: none

	APIKey       string           // clients of /v1 must send it as a bearer token; empty: anyone may ask
	MaxBodyBytes int64            // of a request; 0: 1 MiB
	Now          func() time.Time // the engine's clock; nil: time.Now
}

// Unlimited is the MaxQueue that refuses nobody.
const Unlimited = -1

// Beyond these a setting is a mistake, and what it sizes would take the memory of the host.
const (
	maxThreads       = 1024
	maxSeqs          = 1 << 16
	maxBatchedTokens = 1 << 20
	maxBlockSize     = 1 << 12
	maxBlocks        = 1 << 24
	maxKVBytes       = 64 << 30
)

// withDefaults fills in what is zero and refuses what is senseless.
func (c Config) withDefaults() (Config, error) {
	c.ModelName = cmp.Or(c.ModelName, "oncall")
	c.Threads = cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	c.MaxNumSeqs = cmp.Or(c.MaxNumSeqs, 16)
	c.MaxBatchedTokens = cmp.Or(c.MaxBatchedTokens, 256)
	c.BlockSize = cmp.Or(c.BlockSize, 16)
	c.NumBlocks = cmp.Or(c.NumBlocks, 512)
	c.MaxQueue = cmp.Or(c.MaxQueue, 3*c.MaxNumSeqs)
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, 1<<20)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, c.check()
}

func (c Config) check() error {
	if (c.Runner == nil) != (c.Tokenizer == nil) {
		return errors.New("a runner needs its tokenizer and the other way round")
	}
	for _, v := range []struct {
		name        string
		value, most int
	}{
		{"threads", c.Threads, maxThreads}, {"max_num_seqs", c.MaxNumSeqs, maxSeqs},
		{"max_num_batched_tokens", c.MaxBatchedTokens, maxBatchedTokens},
		{"block_size", c.BlockSize, maxBlockSize}, {"num_blocks", c.NumBlocks, maxBlocks},
	} {
		if v.value < 1 {
			return fmt.Errorf("%s is %d, must be at least 1", v.name, v.value)
		}
		if v.value > v.most {
			return fmt.Errorf("%s is %d, must be at most %d", v.name, v.value, v.most)
		}
	}
	if c.MaxBodyBytes < 1 {
		return fmt.Errorf("the body limit is %d bytes, must be at least 1", c.MaxBodyBytes)
	}
	return nil
}

func (c Config) limits() Limits {
	return Limits{
		MaxNumSeqs:                c.MaxNumSeqs,
		MaxBatchedTokens:          c.MaxBatchedTokens,
		LongPrefillTokenThreshold: c.LongPrefillTokenThreshold,
	}
}
