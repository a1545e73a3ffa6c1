package record

import (
	"math"
	"math/rand"
	"sort"
	"strconv"

	"llmtop/probes"
)

// dayPage is a vLLM metrics page between two scrapes: names, labels, bucket bounds
// and the order of the series are the engine's.
type dayPage struct {
	rng     *rand.Rand
	schema  *probes.Schema
	values  []float64
	at      map[string]int // first series of a name
	hist    map[string]dayHistogram
	running int
	tokens  float64
	done    [1 << 10]([]dayRequest) // requests by the second in which they end
	now     int
}

type dayHistogram struct {
	first  int // its series: buckets, count, sum, created
	bounds []float64
}

// dayRequest is one request: tokens, and seconds of its stages.
type dayRequest struct {
	prompt, cached, output       float64
	queue, prefill, decode, step float64
}

var (
	boundsL1        = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	boundsL2        = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	boundsL3        = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	boundsTokens    = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1e6}
	boundsIteration = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
	boundsHTTP      = []float64{.01, .025, .05, .075, .1, .25, .5, .75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60}
)

func newDayPage(rng *rand.Rand) *dayPage {
	p := &dayPage{rng: rng, schema: new(probes.Schema), at: map[string]int{}, hist: map[string]dayHistogram{}}
	p.process()
	for _, f := range []string{"num_requests_running", "num_requests_waiting"} {
		p.add("vllm:"+f, "vllm:"+f, probes.Gauge, 0)
	}
	for _, r := range []string{"capacity", "deferred"} {
		p.add("vllm:num_requests_waiting_by_reason", "vllm:num_requests_waiting_by_reason", probes.Gauge, 0, "reason", r)
	}
	for i := range 3 {
		p.add("vllm:engine_sleep_state", "vllm:engine_sleep_state", probes.Gauge, 0, "sleep_state", strconv.Itoa(i))
	}
	p.add("vllm:kv_cache_usage_perc", "vllm:kv_cache_usage_perc", probes.Gauge, 0)
	for _, f := range []string{
		"prefix_cache_queries", "prefix_cache_hits", "external_prefix_cache_queries", "external_prefix_cache_hits", "mm_cache_queries",
		"mm_cache_hits", "num_preemptions", "prompt_tokens", "prompt_tokens_cached", "generation_tokens", "estimated_flops_per_gpu",
		"estimated_read_bytes_per_gpu", "estimated_write_bytes_per_gpu", "corrupted_requests",
	} {
		p.counter("vllm:" + f)
	}
	for _, s := range []string{"local_compute", "local_cache_hit", "external_kv_transfer"} {
		p.counter("vllm:prompt_tokens_by_source", "source", s)
	}
	for _, r := range []string{"stop", "length", "abort", "error", "repetition"} {
		p.counter("vllm:request_success", "finished_reason", r)
	}
	for _, h := range []struct {
		name   string
		bounds []float64
	}{
		{"iteration_tokens_total", boundsIteration}, {"request_prompt_tokens", boundsTokens}, {"request_generation_tokens", boundsTokens},
		{"request_max_num_generation_tokens", boundsTokens}, {"request_params_n", []float64{1, 2, 5, 10, 20}}, {"request_params_max_tokens", boundsTokens},
		{"request_prefill_kv_computed_tokens", boundsTokens}, {"time_to_first_token_seconds", boundsL1}, {"inter_token_latency_seconds", boundsL2},
		{"request_time_per_output_token_seconds", boundsL2}, {"e2e_request_latency_seconds", boundsL3}, {"request_queue_time_seconds", boundsL3},
		{"request_inference_time_seconds", boundsL3}, {"request_prefill_time_seconds", boundsL3}, {"request_decode_time_seconds", boundsL3},
	} {
		p.histogram("vllm:"+h.name, h.bounds)
	}
	p.http()
	return p
}

// process are the series of the Python process.
func (p *dayPage) process() {
	for _, f := range []string{"python_gc_objects_collected", "python_gc_objects_uncollectable", "python_gc_collections"} {
		for g := range 3 {
			p.add(f, f+"_total", probes.Counter, float64(300*(3-g)), "generation", strconv.Itoa(g))
		}
	}
	p.add("python_info", "python_info", probes.Gauge, 1, "implementation", "CPython", "version", "3.12.11")
	for _, f := range []string{"process_virtual_memory_bytes", "process_resident_memory_bytes", "process_start_time_seconds", "process_cpu_seconds_total", "process_open_fds", "process_max_fds"} {
		p.add(f, f, probes.Gauge, map[string]float64{
			"process_start_time_seconds": 1.77236643325e9, "process_max_fds": 65535, "process_virtual_memory_bytes": 10777853952,
			"process_resident_memory_bytes": 279638016, "process_open_fds": 50,
		}[f])
	}
}

// http are the series of the API server's middleware.
func (p *dayPage) http() {
	handlers := []string{"/v1/chat/completions", "/v1/completions", "/v1/models", "/health", "/metrics", "/tokenize", "/v1/embeddings", "none"}
	for _, status := range []string{"2xx", "4xx", "5xx"} {
		for _, h := range handlers {
			p.counter("http_requests", "handler", h, "method", "POST", "status", status)
		}
	}
	for _, f := range []string{"http_request_size_bytes", "http_response_size_bytes"} {
		for _, h := range handlers {
			p.add(f, f+"_count", probes.Summary, 0, "handler", h)
			p.add(f, f+"_sum", probes.Summary, 0, "handler", h)
			p.add(f, f+"_created", probes.Gauge, 1772366459.1234567, "handler", h)
		}
	}
	p.histogram("http_request_duration_highr_seconds", boundsHTTP)
	for _, h := range handlers {
		p.histogram("http_request_duration_seconds", []float64{.1, .5, 1}, "handler", h, "method", "POST")
	}
	for _, f := range []string{"nixl_xfer_time_seconds", "nixl_post_time_seconds", "nixl_bytes_transferred"} { // configured, never used
		p.histogram("vllm:"+f, boundsL1)
	}
	p.add("vllm:cache_config_info", "vllm:cache_config_info", probes.Gauge, 1, "block_size", "16", "num_gpu_blocks", "57344")
}

func (p *dayPage) add(family, name string, t probes.MetricType, v float64, labels ...string) {
	key := name
	if len(labels) > 1 {
		key += " " + labels[1]
	}
	s := probes.Series{Family: family, Name: name, Type: t}
	if family[0] == 'v' {
		labels = append(labels, "engine", "0", "model_name", "synthetic/model-70b")
	}
	for i := 0; i < len(labels); i += 2 {
		s.Labels = append(s.Labels, probes.Label{Name: labels[i], Value: labels[i+1]})
	}
	sort.Slice(s.Labels, func(i, j int) bool { return s.Labels[i].Name < s.Labels[j].Name })
	if _, ok := p.at[key]; !ok {
		p.at[key] = len(p.values)
	}
	p.schema.Series = append(p.schema.Series, s)
	p.values = append(p.values, v)
}

func (p *dayPage) counter(family string, labels ...string) {
	p.add(family, family+"_total", probes.Counter, 0, labels...)
	p.add(family, family+"_created", probes.Gauge, 1772366459.0+p.rng.Float64(), labels...)
}

func (p *dayPage) histogram(family string, bounds []float64, labels ...string) {
	key := family
	if len(labels) > 0 {
		key += " " + labels[1]
	}
	p.hist[key] = dayHistogram{len(p.values), bounds}
	for _, le := range append(append([]float64(nil), bounds...), math.Inf(1)) {
		text := strconv.FormatFloat(le, 'f', -1, 64)
		if math.IsInf(le, 1) {
			text = "+Inf"
		}
		p.add(family, family+"_bucket", probes.HistogramType, 0, append([]string{"le", text}, labels...)...)
	}
	p.add(family, family+"_count", probes.HistogramType, 0, labels...)
	p.add(family, family+"_sum", probes.HistogramType, 0, labels...)
	p.add(family, family+"_created", probes.Gauge, 1772366459.0+p.rng.Float64(), labels...)
}

// observe counts n observations of v; step is the resolution of their clock, 0 for none.
func (p *dayPage) observe(family string, v, n, step float64) {
	h := p.hist[family]
	if step > 0 {
		v = math.Round(v/step) * step
	}
	for i := sort.SearchFloat64s(h.bounds, v); i <= len(h.bounds); i++ {
		p.values[h.first+i] += n
	}
	p.values[h.first+len(h.bounds)+1] += n
	p.values[h.first+len(h.bounds)+2] += v * n
}

func (p *dayPage) inc(key string, v float64) { p.values[p.series(key)] += v }
func (p *dayPage) set(key string, v float64) { p.values[p.series(key)] = v }

func (p *dayPage) series(key string) int {
	i, ok := p.at[key]
	if !ok {
		panic("no series " + key)
	}
	return i
}

// load is how busy the engine is, 0 … 1.
func (p *dayPage) load() float64 { return math.Min(1, float64(p.running)/90) }
