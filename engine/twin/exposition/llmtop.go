package exposition

import (
	"strconv"

	"llmtop/engine"
	"llmtop/probes"
)

// llmtop is our own engine: vLLM's names, and below llmtop: what vLLM does not tell. Gauges
// are read off the engine when it is asked. Its clock starts before a request is read.
var llmtop = personality{name: "llmtop", style: golang, rows: llmtopRows}

func llmtopRows(i *Info) []row {
	l := labels("engine", "0", "model_name", i.Model)
	rows := []row{
		info("go_info", labels("version", "go1.26")),
		gauge("process_start_time_seconds", nil, atStart, started),
	}
	rows = append(rows, llmtopServer(i)...)
	rows = append(rows, llmtopClasses(l)...)
	rows = append(rows, llmtopBlocks(i, l)...)
	rows = append(rows, llmtopSteps(l)...)
	rows = append(rows, llmtopTokens(l)...)
	rows = append(rows, llmtopRequests(i, l)...)
	return append(rows, vllmDrafts(i, l)...)
}

func llmtopServer(i *Info) (rows []row) {
	text := strconv.Itoa
	l := labels("handler", "/v1/chat/completions", "method", "POST")
	for _, class := range []string{"2xx", "4xx", "5xx"} {
		rows = append(rows, counter("http_requests_total", l, atFinished, answers(class)).with("status", class).once())
	}
	speculative := "off"
	if i.Drafts > 0 {
		speculative = "draft"
	}
	return append(rows,
		histogram("http_request_duration_seconds", l, ownHTTP, atFinished, ofRequest(inAll)).once(),
		info("vllm:cache_config_info", labels("engine", "0", "block_size", text(i.BlockSize), "num_gpu_blocks", text(i.Blocks), "num_cpu_blocks", "0",
			"kv_cache_size_tokens", text(i.Blocks*i.BlockSize), "cache_dtype", "auto", "enable_prefix_caching", pythonBool(i.PrefixCache),
			"prefix_caching_hash_algo", "None", "kv_offloading_backend", "None", "kv_offloading_size", "None", "gpu_memory_utilization", "0")),
		info("llmtop_engine_config_info", labels("model_name", i.Model, "engine", "0", "max_num_seqs", text(i.MaxNumSeqs),
			"max_num_batched_tokens", text(i.TokenBudget), "max_queue", text(i.MaxQueue), "max_model_len", text(i.Context),
			"long_prefill_token_threshold", text(i.LongPrefill), "threads", "0", "scheduling_policy", string(i.Policy),
			"kv_headroom", goFloat(i.Headroom), "min_share", goFloat(i.MinShare), "speculative", speculative, "num_speculative_tokens", text(i.Drafts))),
	)
}

// llmtopClasses are the depths, in all and by class.
func llmtopClasses(l []probes.Label) []row {
	rows := []row{
		gauge("vllm:num_requests_running", l, atScrape, ofState(running)),
		gauge("vllm:num_requests_waiting", l, atScrape, ofState(waiting)),
		gauge("vllm:num_requests_waiting_by_reason", l, atScrape, ofState(capacity)).with("reason", "capacity"),
		gauge("vllm:num_requests_waiting_by_reason", l, atScrape, ofState(deferred)).with("reason", "deferred"),
		gauge("llmtop:queue_limit", l, atStart, queueLimit),
	}
	byClass := func(name string, total func(*State) int, of func(*State) *[engine.NumClasses]int) {
		for c := engine.Realtime; c <= engine.Background; c++ {
			rows = append(rows, gauge(name, l, atScrape, ofState(inClass(c, total, of))).with("class", c.String()))
		}
	}
	byClass("llmtop:class_requests_running", running, func(s *State) *[engine.NumClasses]int { return &s.RunningBy })
	byClass("llmtop:class_requests_waiting", waiting, func(s *State) *[engine.NumClasses]int { return &s.WaitingBy })
	return rows
}

// inClass is the part of total that is in a class; normal is what is in no other.
func inClass(c engine.Class, total func(*State) int, of func(*State) *[engine.NumClasses]int) func(*State) int {
	return func(s *State) int {
		by := of(s)
		if c != engine.Normal {
			return by[c-engine.Realtime]
		}
		return max(0, total(s)-by[0]-by[engine.NumClasses-1])
	}
}

func llmtopBlocks(i *Info, l []probes.Label) []row {
	const name = "llmtop:kv_blocks"
	return []row{
		gauge("vllm:kv_cache_usage_perc", l, atScrape, usage),
		gauge(name, l, atScrape, ofState(func(s *State) int { return s.Used })).with("state", "used"),
		gauge(name, l, atScrape, ofState(func(s *State) int { return s.Cached })).with("state", "cached"),
		gauge(name, l, atScrape, free).with("state", "free"),
		counter("vllm:prefix_cache_queries_total", l, atStep, ofStep(queries)),
		counter("vllm:prefix_cache_hits_total", l, atStep, ofStep(hits)),
		counter("llmtop:preempted_tokens_total", l, atStep, ofStep(func(s *Step) int { return s.Thrown })),
		counter("llmtop:recomputed_tokens_total", l, atStep, ofStep(func(s *Step) int { return s.Again })),
		counter("vllm:external_prefix_cache_queries_total", l, atStart, constant(0)),
		counter("vllm:external_prefix_cache_hits_total", l, atStart, constant(0)),
		counter("vllm:mm_cache_queries_total", l, atStart, constant(0)),
		counter("vllm:mm_cache_hits_total", l, atStart, constant(0)),
		gauge("vllm:engine_sleep_state", l, atStart, constant(1)).with("sleep_state", "awake"),
		gauge("vllm:engine_sleep_state", l, atStart, constant(0)).with("sleep_state", "weights_offloaded"),
		gauge("vllm:engine_sleep_state", l, atStart, constant(0)).with("sleep_state", "discard_all"),
	}
}

// queueLimit is how many may wait; +Inf is any number.
func queueLimit(p *page, _ *event) (float64, int) {
	if p.info.MaxQueue < 0 {
		return inf, 1
	}
	return float64(p.info.MaxQueue), 1
}

func llmtopTokens(l []probes.Label) []row {
	const source, here = "vllm:prompt_tokens_by_source_total", "vllm:prompt_tokens_cached_by_source_total"
	return []row{
		counter("vllm:num_preemptions_total", l, atStep, ofStep(preempts)),
		counter("vllm:prompt_tokens_total", l, atFirst, ofRequest(prompt)),
		counter("vllm:generation_tokens_total", l, atStep, ofStep(generated)),
		counter(source, l, atFirst, ofRequest(computed)).with("source", "local_compute"),
		counter(source, l, atFirst, ofRequest(cached)).with("source", "local_cache_hit"),
		counter(source, l, atFirst, ofRequest(received)).with("source", "external_kv_transfer"),
		counter("vllm:prompt_tokens_cached_total", l, atFirst, ofRequest(cached)),
		counter(here, l, atFirst, ofRequest(cached)).with("source", "device"),
		histogram("vllm:time_to_first_token_seconds", l, ownFirst, atFirst, ofRequest(func(r *Request) float64 { return r.TTFT })),
		histogram("vllm:inter_token_latency_seconds", l, ownTokens, atStep, gaps),
		histogram("vllm:inter_token_latency_seconds", l, ownTokens, atStalled, stalled),
	}
}
