package exposition

import (
	"strconv"

	"llmtop/engine"
	"llmtop/probes"
)

// vllm is vLLM's V1 engine, served by one API process. Gauges are written at the end of
// each step and stand still without one: neither what arrives during a long step nor an
// abort of all is seen before the next. Token counters move with the steps, prompt tokens
// and the time to the first token with that token, the rest when a request ends.
var vllm = personality{name: "vllm", style: python, rows: vllmRows, note: vllmNote}

func vllmNote(p *page, m moment, e *event) {
	switch m {
	case atFirst:
		p.tally.computed += computedTokens(e.request)
	case atStep:
		p.refresh()
	}
}

func vllmRows(i *Info) []row {
	l := labels("engine", "0", "model_name", i.Model)
	rows := []row{
		info("python_info", labels("implementation", "CPython", "major", "3", "minor", "12", "patchlevel", "11", "version", "3.12.11")),
		gauge("process_start_time_seconds", nil, atStart, started),
	}
	rows = append(rows, vllmDrafts(i, l)...)
	rows = append(rows, vllmState(l)...)
	rows = append(rows, vllmCounters(l)...)
	rows = append(rows, vllmRequests(i, l)...)
	return append(rows, vllmServer(i)...)
}

// vllmDrafts are there only where guesses are made.
func vllmDrafts(i *Info, l []probes.Label) (rows []row) {
	if i.Drafts <= 0 {
		return nil
	}
	rows = []row{
		counter("vllm:spec_decode_num_drafts_total", l, atStep, ofStep(drafts)),
		counter("vllm:spec_decode_num_draft_tokens_total", l, atStep, ofStep(drafted)),
		counter("vllm:spec_decode_num_accepted_tokens_total", l, atStep, ofStep(accepted)),
	}
	for place := range i.Drafts {
		rows = append(rows, counter("vllm:spec_decode_num_accepted_tokens_per_pos_total", l, atStep, acceptedAt(place, i.Drafts)).with("position", strconv.Itoa(place)))
	}
	return rows
}

func vllmState(l []probes.Label) []row {
	const reason, sleep = "vllm:num_requests_waiting_by_reason", "vllm:engine_sleep_state"
	return []row{
		gauge("vllm:num_requests_running", l, atRefresh, ofState(running)),
		gauge("vllm:num_requests_waiting", l, atRefresh, ofState(waiting)),
		gauge(reason, l, atRefresh, ofState(capacity)).with("reason", "capacity"),
		gauge(reason, l, atRefresh, ofState(deferred)).with("reason", "deferred"),
		gauge(sleep, l, atStart, constant(1)).with("sleep_state", "awake"),
		gauge(sleep, l, atStart, constant(0)).with("sleep_state", "weights_offloaded"),
		gauge(sleep, l, atStart, constant(0)).with("sleep_state", "discard_all"),
		gauge("vllm:kv_cache_usage_perc", l, atRefresh, usage),
	}
}

func vllmCounters(l []probes.Label) []row {
	const source, success = "vllm:prompt_tokens_by_source_total", "vllm:request_success_total"
	return []row{
		counter("vllm:prefix_cache_queries_total", l, atStep, ofStep(queries)),
		counter("vllm:prefix_cache_hits_total", l, atStep, ofStep(hits)),
		counter("vllm:external_prefix_cache_queries_total", l, atFirst, vllmOuterQueries),
		counter("vllm:external_prefix_cache_hits_total", l, atFirst, ofRequest(received)),
		counter("vllm:mm_cache_queries_total", l, atStart, constant(0)),
		counter("vllm:mm_cache_hits_total", l, atStart, constant(0)),
		counter("vllm:num_preemptions_total", l, atStep, ofStep(preempts)),
		counter("vllm:prompt_tokens_total", l, atFirst, ofRequest(prompt)),
		counter(source, l, atFirst, ofRequest(computed)).with("source", "local_compute"),
		counter(source, l, atFirst, ofRequest(cached)).with("source", "local_cache_hit"),
		counter(source, l, atFirst, ofRequest(received)).with("source", "external_kv_transfer"),
		counter("vllm:prompt_tokens_cached_total", l, atFirst, ofRequest(func(r *Request) float64 { return cached(r) + received(r) })),
		counter("vllm:generation_tokens_total", l, atStep, ofStep(generated)),
		counter(success, l, atFinished, ended(engine.FinishStop)).with("finished_reason", "stop"),
		counter(success, l, atFinished, ended(engine.FinishLength)).with("finished_reason", "length"),
		counter(success, l, atFinished, ended(engine.FinishAbort)).with("finished_reason", "abort"),
		counter(success, l, atFinished, ended(engine.FinishError)).with("finished_reason", "error"),
		counter(success, l, atFinished, ended()).with("finished_reason", "repetition"),
		counter("vllm:admission_rejections_total", l, atFinished, ended(engine.FinishRejected)).with("reason", "max_num_queued_reqs"),
	}
}

// vllmOuterQueries are the tokens that a connector to other instances was asked for.
func vllmOuterQueries(_ *page, e *event) (float64, int) {
	if e.request.Received == 0 {
		return 0, 0
	}
	return float64(e.request.Prompt - e.request.Cached), 1
}

func vllmRequests(i *Info, l []probes.Label) []row {
	lengths := lengthBounds(i.Context)
	rows := []row{
		histogram("vllm:request_prompt_tokens", l, lengths, atFinished, ofAnswered(prompt)),
		histogram("vllm:request_generation_tokens", l, lengths, atFinished, ofAnswered(output)),
		histogram("vllm:iteration_tokens_total", l, stepTokenBounds, atStep, vllmStepTokens),
		histogram("vllm:request_max_num_generation_tokens", l, lengths, atFinished, ofAnswered(output)),
		histogram("vllm:request_params_n", l, []float64{1, 2, 5, 10, 20}, atFinished, ofAnswered(func(*Request) float64 { return 1 })),
		histogram("vllm:request_params_max_tokens", l, lengths, atFinished, ofAnswered(asked)),
		histogram("vllm:time_to_first_token_seconds", l, firstTokenBounds, atFirst, ofRequest(ttft)),
		histogram("vllm:inter_token_latency_seconds", l, tokenBounds, atStep, gaps),
		histogram("vllm:inter_token_latency_seconds", l, tokenBounds, atStalled, stalled),
		histogram("vllm:request_time_per_output_token_seconds", l, tokenBounds, atFinished, tpot),
		histogram("vllm:e2e_request_latency_seconds", l, requestBounds, atFinished, ofAnswered(e2e)),
		histogram("vllm:request_queue_time_seconds", l, requestBounds, atFinished, ofAnswered(queueTime)),
		histogram("vllm:request_inference_time_seconds", l, requestBounds, atFinished, ofAnswered(inferenceTime)),
		histogram("vllm:request_prefill_time_seconds", l, requestBounds, atFinished, ofAnswered(prefillTime)),
		histogram("vllm:request_decode_time_seconds", l, requestBounds, atFinished, ofAnswered(decodeTime)),
		histogram("vllm:request_prefill_kv_computed_tokens", l, lengths, atFinished, ofAnswered(computed)),
	}
	if i.Role != probes.Whole {
		rows = append(rows, histogram("vllm:nixl_xfer_time_seconds", l, transferBounds, atFirst, transfer))
	}
	return rows
}

// vllmStepTokens are the prompts whose prefill ended with the step and the tokens that it
// generated; a step that got no prompt to its end and generated nothing is not observed.
func vllmStepTokens(p *page, e *event) (float64, int) {
	n := generated(e.step)
	if n == 0 {
		return 0, 0
	}
	n += p.tally.computed
	p.tally.computed = 0
	return float64(n), 1
}

func vllmServer(i *Info) []row {
	text := strconv.Itoa
	capacity := i.Blocks * i.BlockSize
	const handler = "/v1/chat/completions"
	l := labels("handler", handler, "method", "POST")
	rows := []row{info("vllm:cache_config_info", labels(
		"block_size", text(i.BlockSize), "cache_dtype", "auto", "enable_prefix_caching", pythonBool(i.PrefixCache), "engine", "0",
		"gpu_memory_utilization", "0.9", "kv_cache_max_concurrency", pythonFloat(float64(capacity)/float64(i.Context)),
		"kv_cache_size_tokens", text(capacity), "kv_offloading_backend", "native", "kv_offloading_size", "None", "num_cpu_blocks", "None",
		"num_gpu_blocks", text(i.Blocks), "num_gpu_blocks_override", "None", "prefix_caching_hash_algo", "sha256", "sliding_window", "None",
	))}
	for _, class := range []string{"2xx", "4xx", "5xx"} {
		rows = append(rows, counter("http_requests_total", l, atFinished, answers(class)).with("status", class).once())
	}
	return append(rows, histogram("http_request_duration_seconds", l, httpBounds, atFinished, ofRequest(inAll)).once())
}

// pythonBool writes a bool as Python does.
func pythonBool(v bool) string {
	if v {
		return "True"
	}
	return "False"
}
