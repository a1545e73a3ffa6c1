package engine

import (
	"cmp"
	"runtime"
	"time"

	"llmtop/engine/model"
)

// What the zero values of a Config stand for.
const (
	DefaultMaxNumSeqs           = 16
	DefaultMaxBatchedTokens     = 256
	DefaultBlockSize            = 16
	DefaultNumBlocks            = 512
	DefaultNumSpeculativeTokens = 4
	// DefaultKVHeadroom is what lets a peak pass without interrupting what runs: a KV
	// cache is kept 15 to 20 % free.
	DefaultKVHeadroom = 0.15
	// DefaultMinShare is the lower end of the 10 to 20 % that low classes are guaranteed.
	DefaultMinShare = 0.1
)

// queuePerRunning is how many requests may wait for each that can run: two to three
// times what is served at once, beyond that refusing is kinder.
const queuePerRunning = 3

// withDefaults fills in what is zero and refuses what is senseless.
func (c Config) withDefaults() (Config, error) {
	c.ModelName = cmp.Or(c.ModelName, "oncall")
	c.Threads = cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	c.TokenizerThreads = cmp.Or(c.TokenizerThreads, runtime.GOMAXPROCS(0))
	c.TokenizerCache = cmp.Or(c.TokenizerCache, On)
	c.Assemble = cmp.Or(c.Assemble, Precompiled)
	c.MaxNumSeqs = cmp.Or(c.MaxNumSeqs, DefaultMaxNumSeqs)
	c.MaxBatchedTokens = cmp.Or(c.MaxBatchedTokens, DefaultMaxBatchedTokens)
	c.BlockSize = cmp.Or(c.BlockSize, DefaultBlockSize)
	c.NumBlocks = cmp.Or(c.NumBlocks, DefaultNumBlocks)
	c.NumSpeculativeTokens = cmp.Or(c.NumSpeculativeTokens, DefaultNumSpeculativeTokens)
	if t, err := model.ParseKVType(cmp.Or(c.KVCacheType, model.KVFloat32.String())); err == nil {
		c.KVCacheType = t.String() // one name for each
	}
	c.MaxQueue = cmp.Or(c.MaxQueue, queuePerRunning*c.MaxNumSeqs)
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, 1<<20)
	c.KVHeadroom = cmp.Or(c.KVHeadroom, DefaultKVHeadroom)
	c.MinShare = cmp.Or(c.MinShare, DefaultMinShare)
	c.Policy = cmp.Or(c.Policy, Continuous)
	c.BatchWait = cmp.Or(c.BatchWait, c.Policy.wait())
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, c.check()
}
