package engine

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Bucket bounds in seconds: vLLM's, and finer ones below, since a small model
// answers in milliseconds where vLLM's smallest bucket for a stage ends at 300.
var (
	firstTokenBuckets = []float64{
		.0001, .00025, .0005, .001, .002, .003, .005, .0075, .01, .015, .02, .03, .04, .06, .08, .1, .15, .25, .5, .75,
		1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
	}
	tokenBuckets = []float64{
		.0001, .00025, .0005, .001, .0015, .002, .003, .004, .005, .0075, .01, .015, .02, .025, .05, .075, .1, .15, .2, .3, .4,
		.5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
	}
	requestBuckets = []float64{
		.0001, .00025, .0005, .001, .0025, .005, .01, .015, .025, .04, .06, .1, .15, .2, .3, .5, .8,
		1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
	}
	stepTokenBuckets = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
)

// lengthBuckets are 1, 2, 5, 10, 20, 50 … up to the context and the context itself (vLLM ends before it).
func lengthBuckets(context int) (bounds []float64) {
	for step := 1; step < context; step *= 10 {
		for _, m := range []int{1, 2, 5} {
			if step*m < context {
				bounds = append(bounds, float64(step*m))
			}
		}
	}
	return slices.Clip(append(bounds, float64(context)))
}

// factory makes metrics and registers them.
type factory struct{ prometheus.Registerer }

func (f factory) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	f.MustRegister(c)
	return c
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	f.MustRegister(c)
	return c
}

func (f factory) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	f.MustRegister(h)
	return h
}

func (f factory) gauge(name, help string, value func() float64) {
	f.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// refusals counts the requests answered with 429.
func (f factory) refusals() prometheus.Counter {
	return f.counters("vllm:admission_rejections_total", "Requests refused before they were queued.", "reason").WithLabelValues("queue_full")
}

// configs are the settings, as labels of metrics that are always 1.
func (f factory) configs(e *Engine) {
	c, text := e.config, strconv.Itoa
	f.info("vllm:cache_config_info", "The KV cache.", prometheus.Labels{
		"engine":                 "0",
		"block_size":             text(c.BlockSize),
		"num_gpu_blocks":         text(c.NumBlocks),
		"num_cpu_blocks":         "0",
		"kv_cache_size_tokens":   text(e.blocks.Capacity()),
		"cache_dtype":            c.KVCacheType,
		"enable_prefix_caching":  "False",
		"gpu_memory_utilization": "0",
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
	})
}

func (f factory) info(name, help string, labels prometheus.Labels) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels})
	g.Set(1)
	f.MustRegister(g)
}
