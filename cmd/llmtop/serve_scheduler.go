package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"llmtop/engine"
)

// schedulerFlags are those of serve that say who is computed when.
type schedulerFlags struct {
	policy             string
	headroom, minShare float64
	prefixCaching      bool
}

func (s *schedulerFlags) add(cmd *cobra.Command, c *engine.Config) {
	f := cmd.Flags()
	f.IntVar(&c.MaxNumSeqs, "max-num-seqs", engine.DefaultMaxNumSeqs, "most sequences in a batch")
	f.IntVar(&c.MaxBatchedTokens, "max-num-batched-tokens", engine.DefaultMaxBatchedTokens, "most tokens in a step")
	f.IntVar(&c.LongPrefillTokenThreshold, "long-prefill-token-threshold", 0, "most tokens of one prompt in a step (0: no bound)")
	f.IntVar(&c.BlockSize, "block-size", engine.DefaultBlockSize, "tokens in a KV cache block")
	f.IntVar(&c.NumBlocks, "num-blocks", engine.DefaultNumBlocks, "KV cache blocks")
	f.BoolVar(&s.prefixCaching, "prefix-caching", true, "reuse the KV cache of prompts that begin alike")
	f.Float64Var(&s.headroom, "kv-headroom", engine.DefaultKVHeadroom, "`share` of the KV cache kept free when a request begins beside others")
	f.IntVar(&c.MaxQueue, "max-queue", 0, "most waiting requests of each class; more get 429 (0: 3 × max-num-seqs, -1: no limit)")
	f.Float64Var(&s.minShare, "min-share", engine.DefaultMinShare, "`share` that the classes normal and background each keep under a flood of more urgent requests")
	f.StringVar(&s.policy, "scheduling-policy", string(engine.Continuous), fmt.Sprintf("who may join a batch: %s, %s or %s", engine.Continuous, engine.Dynamic, engine.Static))
	f.DurationVar(&c.BatchWait, "batch-wait", 0, "how long a policy waits for more requests (0: 50ms for dynamic, 2s for static)")
}

// check refuses what configure would take for none.
func (s *schedulerFlags) check() error {
	for name, share := range map[string]float64{"kv-headroom": s.headroom, "min-share": s.minShare} {
		if share < 0 {
			return usage(fmt.Errorf("--%s %g: must not be negative", name, share), "")
		}
	}
	return nil
}

// configure carries over what the engine's zero values say otherwise.
func (s *schedulerFlags) configure(c *engine.Config) {
	c.Policy = engine.Policy(s.policy)
	c.NoPrefixCaching = !s.prefixCaching
	c.KVHeadroom, c.MinShare = orNone(s.headroom), orNone(s.minShare)
}
