package engine

import "github.com/prometheus/client_golang/prometheus"

// tokenMetrics count tokens as they are computed.
type tokenMetrics struct {
	preemptions, promptTokens, generationTokens prometheus.Counter
	computed, cached                            prometheus.Counter // of the prompt tokens
	cachedTotal, cachedHere                     prometheus.Counter // vLLM tells the cached ones under three names
	ttft, itl                                   prometheus.Histogram
}

func newTokenMetrics(f factory) tokenMetrics {
	source := f.counters("vllm:prompt_tokens_by_source_total", "Prompt tokens whose prefill has ended, by where they came from.", "source")
	source.WithLabelValues("external_kv_transfer") // there is no KV connector
	return tokenMetrics{
		preemptions:      f.counter("vllm:num_preemptions_total", "Cumulative number of preemptions."),
		promptTokens:     f.counter("vllm:prompt_tokens_total", "Prompt tokens whose prefill has ended, cached ones included."),
		generationTokens: f.counter("vllm:generation_tokens_total", "Tokens generated."),
		computed:         source.WithLabelValues("local_compute"),
		cached:           source.WithLabelValues("local_cache_hit"),
		cachedTotal:      f.counter("vllm:prompt_tokens_cached_total", "Prompt tokens found in the prefix cache."),
		cachedHere:       f.counters("vllm:prompt_tokens_cached_by_source_total", "Prompt tokens found in a cache, by where it is.", "source").WithLabelValues("device"),
		ttft:             f.histogram("vllm:time_to_first_token_seconds", "Arrival until the first token.", firstTokenBuckets),
		itl:              f.histogram("vllm:inter_token_latency_seconds", "Time between two steps of a request.", tokenBuckets),
	}
}

// prefilled counts a prompt whose first token is sampled; cached of its tokens were found in the cache.
func (m *tokenMetrics) prefilled(prompt, cached int) {
	m.promptTokens.Add(float64(prompt))
	m.computed.Add(float64(prompt - cached))
	for _, c := range []prometheus.Counter{m.cached, m.cachedTotal, m.cachedHere} {
		c.Add(float64(cached))
	}
}
