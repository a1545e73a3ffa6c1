package engine

import (
	"cmp"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// configs are the settings, as labels of metrics that are always 1.
func (f factory) configs(e *Engine) {
	c, text := e.config, strconv.Itoa
	f.info("vllm:cache_config_info", "The KV cache.", prometheus.Labels{
		"engine":                   "0",
		"block_size":               text(c.BlockSize),
		"num_gpu_blocks":           text(c.NumBlocks),
		"num_cpu_blocks":           "0",
		"kv_cache_size_tokens":     text(e.blocks.Capacity()),
		"cache_dtype":              c.KVCacheType,
		"enable_prefix_caching":    pythonBool(!c.NoPrefixCaching),
		"prefix_caching_hash_algo": "None",
		"kv_offloading_backend":    "None",
		"kv_offloading_size":       "None",
		"gpu_memory_utilization":   "0",
	})
	f.info("llmtop_engine_config_info", "The limits of the scheduler.", prometheus.Labels{
		"model_name":                   c.ModelName,
		"engine":                       "0",
		"max_num_seqs":                 text(c.MaxNumSeqs),
		"max_num_batched_tokens":       text(c.MaxBatchedTokens),
		"long_prefill_token_threshold": text(c.LongPrefillTokenThreshold),
		"max_queue":                    text(c.MaxQueue),
		"max_model_len":                text(e.shape.Context),
		"threads":                      text(c.Threads),
		"scheduling_policy":            string(c.Policy),
		"kv_headroom":                  share(orNone(c.KVHeadroom)),
		"min_share":                    share(orNone(c.MinShare)),
		"speculative":                  cmp.Or(c.Speculative, "off"),
		"num_speculative_tokens":       text(c.drafts()),
	})
}

// absent are vLLM's families of what this engine does not have: a KV connector,
// pictures, sleep. vLLM tells them too when they are off, and its dashboards ask.
func (f factory) absent() {
	f.counter("vllm:external_prefix_cache_queries_total", "Tokens looked up through a KV connector; there is none.")
	f.counter("vllm:external_prefix_cache_hits_total", "Tokens found through a KV connector; there is none.")
	f.counter("vllm:mm_cache_queries_total", "Lookups in the cache of pictures; there is none.")
	f.counter("vllm:mm_cache_hits_total", "Pictures found in their cache; there is none.")
	sleep := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vllm:engine_sleep_state", Help: "1 for the state that the engine is in; it is always awake."}, []string{"sleep_state"})
	f.MustRegister(sleep)
	sleep.WithLabelValues("awake").Set(1)
	sleep.WithLabelValues("weights_offloaded")
	sleep.WithLabelValues("discard_all")
}

// memory tells what the engine plans to hold; nothing of a runner that does not plan.
func (f factory) memory(b Budget) {
	if b.Total == 0 {
		return
	}
	budget := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "llmtop:memory_budget_bytes", Help: "Memory that the engine plans to take, by part."}, []string{"part"})
	f.MustRegister(budget)
	budget.WithLabelValues("weights").Set(float64(b.Weights))
	budget.WithLabelValues("kv_cache").Set(float64(b.KVCache))
	budget.WithLabelValues("activations").Set(float64(b.Activations))
	budget.WithLabelValues("buffer").Set(float64(b.Buffer))
}

func (f factory) info(name, help string, labels prometheus.Labels) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels})
	g.Set(1)
	f.MustRegister(g)
}

func share(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// pythonBool writes a bool as vLLM does.
func pythonBool(v bool) string {
	if v {
		return "True"
	}
	return "False"
}
