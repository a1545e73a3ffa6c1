package engine

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// stateCollector tells the engine's depths and the scheduler's counts, all of one
// instant: the blocks of a scrape add up to the whole cache.
type stateCollector struct {
	engine   *Engine
	families []stateFamily
}

// stateFamily is a family that is read off the state: one series for each value of
// its label, or a single one.
type stateFamily struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels []string // values of the label; none: no label
	read   func(s state) []float64
}

func newStateCollector(e *Engine) *stateCollector {
	c := &stateCollector{engine: e}
	c.depths()
	c.blocks()
	c.counts()
	return c
}

func (c *stateCollector) depths() {
	limit := float64(c.engine.config.MaxQueue)
	if limit < 0 {
		limit = math.Inf(1)
	}
	c.gauge("vllm:num_requests_running", "Requests in the batch.", func(s state) float64 { return float64(s.running()) })
	c.gauge("vllm:num_requests_waiting", "Requests waiting.", func(s state) float64 { return float64(s.waiting()) })
	c.gauges("vllm:num_requests_waiting_by_reason", "Requests waiting, by what they wait for.", "reason", []string{"capacity", "deferred"},
		func(s state) []float64 { return []float64{float64(s.waiting()), 0} })
	c.gauge("llmtop:queue_limit", "Requests that may wait for their first step; +Inf: any number.", func(state) float64 { return limit })
	c.gauges("llmtop:class_requests_running", "Requests in the batch, by class.", "class", classNames[:], func(s state) []float64 { return floats(s.Running[:]) })
	c.gauges("llmtop:class_requests_waiting", "Requests waiting, by class.", "class", classNames[:], func(s state) []float64 { return floats(s.Waiting[:]) })
}

func (c *stateCollector) blocks() {
	total := c.engine.config.NumBlocks
	c.gauge("vllm:kv_cache_usage_perc", "Share of the KV blocks in use, 0 to 1.", func(s state) float64 { return float64(s.Used) / float64(total-s.Withheld) })
	c.gauges("llmtop:kv_blocks", "KV blocks: held by a sequence, free but keeping a prefix, free.", "state", []string{"used", "cached", "free"},
		func(s state) []float64 { return floats([]int{s.Used, s.Cached, s.Free}) })
}

func (c *stateCollector) counts() {
	c.counter("vllm:prefix_cache_queries_total", "Tokens looked up in the prefix cache.", func(s Stats) uint64 { return s.PrefixQueries })
	c.counter("vllm:prefix_cache_hits_total", "Tokens found in the prefix cache.", func(s Stats) uint64 { return s.PrefixHits })
	c.counter("llmtop:preempted_tokens_total", "Computed tokens that preemption threw away.", func(s Stats) uint64 { return s.PreemptedTokens })
	c.counter("llmtop:recomputed_tokens_total", "Tokens computed again after a preemption.", func(s Stats) uint64 { return s.RecomputedTokens })
}

func (c *stateCollector) gauge(name, help string, read func(s state) float64) {
	c.families = append(c.families, stateFamily{
		desc: prometheus.NewDesc(name, help, nil, nil), kind: prometheus.GaugeValue,
		read: func(s state) []float64 { return []float64{read(s)} },
	})
}

func (c *stateCollector) gauges(name, help, label string, values []string, read func(s state) []float64) {
	c.families = append(c.families, stateFamily{
		desc: prometheus.NewDesc(name, help, []string{label}, nil), kind: prometheus.GaugeValue, labels: values, read: read,
	})
}

func (c *stateCollector) counter(name, help string, read func(s Stats) uint64) {
	c.families = append(c.families, stateFamily{
		desc: prometheus.NewDesc(name, help, nil, nil), kind: prometheus.CounterValue,
		read: func(s state) []float64 { return []float64{float64(read(s.Stats))} },
	})
}

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, f := range c.families {
		out <- f.desc
	}
}

// Collect implements prometheus.Collector. It holds the engine's lock for one copy
// of the state.
func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	s := c.engine.snapshot()
	for _, f := range c.families {
		for i, v := range f.read(s) {
			if f.labels == nil {
				out <- prometheus.MustNewConstMetric(f.desc, f.kind, v)
				continue
			}
			out <- prometheus.MustNewConstMetric(f.desc, f.kind, v, f.labels[i])
		}
	}
}

func floats(counts []int) (out []float64) {
	for _, n := range counts {
		out = append(out, float64(n))
	}
	return out
}
