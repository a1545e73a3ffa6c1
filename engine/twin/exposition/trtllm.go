package exposition

import (
	"strconv"

	"llmtop/engine"
	"llmtop/probes"
)

// trtllm is trtllm-serve's page /prometheus/metrics, with the statistics of iterations on.
// Gauges are of the last iteration; all that is about requests is observed when one ends. Of
// its families only the count of cached tokens is there before something has happened.
var trtllm = personality{name: "trtllm", style: processes, rows: trtllmRows, note: trtllmNote}

func trtllmNote(p *page, m moment, e *event) {
	t := &p.tally
	switch m {
	case atFinished:
		if e.request.Finish != engine.FinishRejected {
			t.finished++
		}
	case atStep:
		t.hits, t.lookups = t.hits+e.step.Hits, t.lookups+e.step.Queries
		p.refresh()
	}
}

func trtllmRows(i *Info) []row {
	l := labels("engine_type", "pytorch", "model_name", i.Model)
	rows := trtllmRequests(l)
	rows = append(rows, trtllmCache(i, l)...)
	rows = append(rows, trtllmIterations(l)...)
	if i.Drafts > 0 {
		rows = append(rows, trtllmDrafts(i, l)...)
	}
	for i := range rows {
		rows[i] = rows[i].once()
	}
	return append(rows, counter("trtllm_prompt_cached_tokens_total", l, atFinished, ofAnswered(cached)))
}

func trtllmRequests(l []probes.Label) []row {
	const success, failure = "trtllm_request_success_total", "trtllm_request_error_total"
	return []row{
		counter(success, l, atFinished, ended(engine.FinishStop)).with("finished_reason", "stop"),
		counter(success, l, atFinished, ended(engine.FinishLength)).with("finished_reason", "length"),
		counter(success, l, atFinished, ended(engine.FinishAbort)).with("finished_reason", "cancelled"),
		histogram("trtllm_e2e_request_latency_seconds", l, requestBounds, atFinished, ofAnswered(e2e)),
		histogram("trtllm_time_to_first_token_seconds", l, firstTokenBounds, atFinished, ofAnswered(ttft)),
		histogram("trtllm_time_per_output_token_seconds", l, tokenBounds, atFinished, tpot),
		histogram("trtllm_request_queue_time_seconds", l, requestBounds, atFinished, ofAnswered(queueTime)),
		histogram("trtllm_request_prefill_time_seconds", l, trtllmPrefill, atFinished, ofAnswered(prefillTime)),
		histogram("trtllm_request_decode_time_seconds", l, requestBounds, atFinished, ofAnswered(decodeTime)),
		histogram("trtllm_request_inference_time_seconds", l, requestBounds, atFinished, ofAnswered(inferenceTime)),
		counter("trtllm_prompt_tokens_total", l, atFinished, ofAnswered(prompt)),
		counter("trtllm_generation_tokens_total", l, atFinished, ofAnswered(output)),
		histogram("trtllm_prompt_cached_tokens_per_request", l, trtllmCached, atFinished, ofAnswered(cached)),
		counter(failure, l, atFinished, ended(engine.FinishRejected)).with("http_code", "429"),
		counter(failure, l, atFinished, ended(engine.FinishError)).with("http_code", "500"),
	}
}

var (
	trtllmPrefill = []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 640, 2560}
	trtllmCached  = []float64{0, 64, 128, 256, 512, 1024, 2048, 4096, 8192}
	trtllmTokens  = []float64{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}
)

// owned is a gauge of one of several processes.
func owned(name string, l []probes.Label, on moment, f feed) row {
	return gauge(name, l, on, f).with("pid", "90")
}

func trtllmCache(i *Info, l []probes.Label) []row {
	size := i.BlockSize
	return []row{
		owned("trtllm_kv_cache_hit_rate", l, atStep, trtllmHitRate),
		counter("trtllm_kv_cache_reused_blocks_total", l, atStep, func(p *page, e *event) (float64, int) {
			return float64(p.tally.hits/size - (p.tally.hits-e.step.Hits)/size), 1
		}),
		counter("trtllm_kv_cache_missed_blocks_total", l, atStep, func(p *page, e *event) (float64, int) {
			missed := p.tally.lookups - p.tally.hits
			return float64(missed/size - (missed-e.step.Queries+e.step.Hits)/size), 1
		}),
		owned("trtllm_kv_cache_utilization", l, atRefresh, usage),
		owned("trtllm_kv_cache_host_utilization", l, atStep, constant(0)),
		owned("trtllm_kv_cache_max_blocks", l, atStep, func(p *page, _ *event) (float64, int) { return float64(p.info.Blocks), 1 }),
		owned("trtllm_kv_cache_free_blocks", l, atRefresh, func(p *page, e *event) (float64, int) { return max(0, float64(p.blocks-e.state.Used)), 1 }),
		owned("trtllm_kv_cache_used_blocks", l, atRefresh, ofState(func(s *State) int { return s.Used })),
		owned("trtllm_kv_cache_tokens_per_block", l, atStep, constant(float64(size))),
	}
}

// trtllmHitRate is the share found of all that was ever looked up.
func trtllmHitRate(p *page, _ *event) (float64, int) {
	return float64(p.tally.hits) / float64(max(1, p.tally.lookups)), 1
}

func trtllmIterations(l []probes.Label) []row {
	limit := func(of func(*Info) int) feed {
		return func(p *page, _ *event) (float64, int) { return float64(of(&p.info)), 1 }
	}
	inStep := func(of func(*Step) int) feed {
		return func(_ *page, e *event) (float64, int) { return float64(of(e.step)), 1 }
	}
	seats := limit(func(i *Info) int { return i.MaxNumSeqs })
	return []row{
		owned("trtllm_num_requests_running", l, atRefresh, ofState(func(s *State) int { return s.Running + s.Swapped })),
		owned("trtllm_num_requests_waiting", l, atRefresh, ofState(func(s *State) int { return max(0, s.Waiting-s.Swapped) })),
		counter("trtllm_num_requests_completed_total", l, atStep, trtllmCompleted),
		owned("trtllm_max_num_active_requests", l, atStep, seats),
		owned("trtllm_iteration_latency_seconds", l, atStep, func(_ *page, e *event) (float64, int) { return e.step.Seconds, 1 }),
		owned("trtllm_max_batch_size_static", l, atStep, seats),
		owned("trtllm_max_batch_size_runtime", l, atStep, seats),
		owned("trtllm_max_num_tokens_runtime", l, atStep, limit(func(i *Info) int { return i.TokenBudget })),
		owned("trtllm_num_context_requests", l, atStep, inStep(func(s *Step) int { return s.Prefills })),
		owned("trtllm_num_generation_requests", l, atStep, inStep(func(s *Step) int { return s.Decodes })),
		owned("trtllm_num_paused_requests", l, atRefresh, ofState(func(s *State) int { return s.Swapped })),
		owned("trtllm_num_scheduled_requests", l, atStep, inStep(func(s *Step) int { return s.Prefills + s.Decodes })),
		owned("trtllm_total_context_tokens", l, atStep, inStep(func(s *Step) int { return s.Prefill })),
		histogram("trtllm_prefill_batch_tokens", l, trtllmTokens, atStep, func(_ *page, e *event) (float64, int) { return some(e.step.Prefill) }),
	}
}

// trtllmCompleted are the requests that ended since the last iteration.
func trtllmCompleted(p *page, _ *event) (float64, int) {
	n := p.tally.finished
	p.tally.finished = 0
	return float64(n), 1
}

func trtllmDrafts(i *Info, l []probes.Label) []row {
	rows := []row{
		counter("trtllm_spec_decode_num_draft_tokens_total", l, atStep, ofStep(drafted)),
		counter("trtllm_spec_decode_num_accepted_tokens_total", l, atStep, ofStep(accepted)),
		owned("trtllm_spec_decode_acceptance_length", l, atStep, func(_ *page, e *event) (float64, int) {
			if e.step.Drafts == 0 {
				return 0, 0
			}
			return 1 + float64(e.step.Accepted)/float64(e.step.Drafts), 1
		}),
	}
	for place := range i.Drafts {
		at := strconv.Itoa(place)
		rows = append(rows, counter("trtllm_spec_decode_drafted_tokens_total", l, atStep, ofStep(func(s *Step) int { return share(s.Drafted, place, i.Drafts) })).with("token_position", at))
	}
	for place := range i.Drafts {
		rows = append(rows, counter("trtllm_spec_decode_accepted_tokens_total", l, atStep, acceptedAt(place, i.Drafts)).with("token_position", strconv.Itoa(place)))
	}
	return rows
}
