package exposition

import (
	"math"
	"strconv"
	"time"

	"llmtop/engine"
	"llmtop/probes"
)

// sglang is SGLang with its processes behind one page. The scheduler of rank 0 tells for all
// ranks; it writes its gauges with each batch of prompts, every 40 steps of decode, and every
// 30 s when nothing runs, and what it decoded is counted then. The tokenizer process counts
// requests and their tokens when they end.
var sglang = personality{name: "sglang", style: processes, rows: sglangRows, note: sglangNote}

const (
	sglangInterval = 40 // decode steps
	sglangIdle     = 30 * time.Second
)

func sglangNote(p *page, m moment, e *event) {
	t := &p.tally
	switch {
	case m == atStep:
		sglangStep(p, e)
	case m == atScrape && e.state.Running == 0 && e.state.Waiting == 0 && e.at.Sub(later(t.published, p.info.Started)) >= sglangIdle:
		t.throughput, t.hitRatio = 0, 0
		sglangPublish(p)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func sglangStep(p *page, e *event) {
	t, s := &p.tally, e.step
	t.decoded, t.retracted = t.decoded+s.Decode, t.retracted+s.Preempts
	t.drafts, t.drafted, t.accepted = t.drafts+s.Drafts, t.drafted+s.Drafted, t.accepted+s.Accepted
	if s.Prefills > 0 {
		t.hitRatio = 0
		if looked := freshPrefill(s) + freshHits(s); looked > 0 {
			t.hitRatio = float64(freshHits(s)) / float64(looked)
		}
		sglangPublish(p)
	}
	if s.Decodes == 0 {
		return
	}
	if t.decodes++; t.decodes%sglangInterval == 0 {
		sglangDecoded(p, s.At)
	}
}

// sglangDecoded ends an interval of decode.
func sglangDecoded(p *page, at time.Time) {
	t := &p.tally
	if d := at.Sub(later(t.since, p.info.Started)).Seconds(); d > 0 {
		t.throughput = float64(t.decoded) / d
	}
	t.since, t.hitRatio = at, 0
	if t.drafts > 0 && t.drafted > 0 {
		t.length = 1 + float64(t.accepted)/float64(t.drafts)
		t.acceptance = float64(t.accepted) / float64(t.drafted)
	}
	p.happened(atInterval)
	t.decoded, t.drafts, t.drafted, t.accepted = 0, 0, 0, 0
	sglangPublish(p)
	t.retracted = 0
}

func sglangPublish(p *page) {
	p.tally.published = p.event.at
	p.refresh()
}

func sglangRows(i *Info) []row {
	role := map[probes.Role]string{probes.Prefill: "prefill", probes.Decode: "decode"}[i.Role]
	if role == "" {
		role = "unified"
	}
	rank := labels("engine_type", role, "model_name", i.Model, "moe_ep_rank", "0", "pp_rank", "0", "tp_rank", "0")
	rows := sglangGauges(i, rank)
	rows = append(rows, sglangConstants(i, rank)...)
	rows = append(rows, sglangScheduler(rank)...)
	return append(rows, sglangTokenizer(i, labels("model_name", i.Model))...)
}

// sglangGauges are those of the scheduler, not there before it has written them once.
func sglangGauges(i *Info, l []probes.Label) []row {
	size := i.BlockSize
	ofTally := func(number func(*tally) float64) feed {
		return func(p *page, _ *event) (float64, int) { return number(&p.tally), 1 }
	}
	zero := constant(0)
	inRole := func(r probes.Role) feed {
		if r != i.Role {
			return zero
		}
		return ofState(func(s *State) int { return s.Transfer })
	}
	held := func(s *State) int { return s.Used * size }
	rows := []row{
		gauge("sglang:num_running_reqs", l, atRefresh, ofState(running)),
		gauge("sglang:num_queue_reqs", l, atRefresh, ofState(func(s *State) int { return max(0, s.Waiting-s.Grammar-s.Transfer) })),
		gauge("sglang:num_grammar_queue_reqs", l, atRefresh, ofState(func(s *State) int { return s.Grammar })),
		gauge("sglang:gen_throughput", l, atRefresh, ofTally(func(t *tally) float64 { return t.throughput })),
		gauge("sglang:cache_hit_rate", l, atRefresh, ofTally(func(t *tally) float64 { return t.hitRatio })),
		gauge("sglang:token_usage", l, atRefresh, usage),
		gauge("sglang:full_token_usage", l, atRefresh, usage),
		gauge("sglang:swa_token_usage", l, atRefresh, zero),
		gauge("sglang:mamba_usage", l, atRefresh, zero),
		gauge("sglang:num_used_tokens", l, atRefresh, ofState(held)),
		gauge("sglang:kv_used_tokens", l, atRefresh, ofState(held)),
		gauge("sglang:kv_evictable_tokens", l, atRefresh, ofState(func(s *State) int { return s.Cached * size })),
		gauge("sglang:kv_available_tokens", l, atRefresh, func(p *page, e *event) (float64, int) { n, ok := free(p, e); return n * float64(size), ok }),
		gauge("sglang:spec_accept_length", l, atRefresh, ofTally(func(t *tally) float64 { return t.length })),
		gauge("sglang:spec_accept_rate", l, atRefresh, ofTally(func(t *tally) float64 { return t.acceptance })),
		gauge("sglang:spec_num_steps", l, atRefresh, constant(float64(i.Drafts))),
		gauge("sglang:num_retracted_reqs", l, atRefresh, ofTally(func(t *tally) float64 { return float64(t.retracted) })).with("pid", "4101"),
		gauge("sglang:num_paused_reqs", l, atRefresh, zero).with("pid", "4101"),
		gauge("sglang:num_prefill_bootstrap_queue_reqs", l, atRefresh, zero),
		gauge("sglang:num_prefill_inflight_queue_reqs", l, atRefresh, inRole(probes.Prefill)),
		gauge("sglang:num_decode_prealloc_queue_reqs", l, atRefresh, zero),
		gauge("sglang:num_decode_transfer_queue_reqs", l, atRefresh, inRole(probes.Decode)),
	}
	for i := range rows {
		rows[i] = rows[i].once()
	}
	return rows
}

// sglangConstants are told from the start.
func sglangConstants(i *Info, l []probes.Label) []row {
	return []row{
		gauge("sglang:max_total_num_tokens", l, atStart, constant(float64(i.Blocks*i.BlockSize))),
		gauge("sglang:page_size", l, atStart, constant(float64(i.BlockSize))),
		gauge("sglang:num_pages", l, atStart, constant(float64(i.Blocks))),
		gauge("sglang:context_len", l, atStart, constant(float64(i.Context))),
	}
}

func sglangScheduler(l []probes.Label) []row {
	const live, effective, stage = "sglang:realtime_tokens_total", "sglang:prefill_effective_tokens_total", "sglang:per_stage_req_latency_seconds"
	return []row{
		counter(live, l, atStep, ofStep(func(s *Step) int { return s.Prefill })).with("mode", "prefill_compute").once(),
		counter(live, l, atStep, ofStep(hits)).with("mode", "prefill_cache").once(),
		counter(live, l, atInterval, func(p *page, _ *event) (float64, int) { return some(p.tally.decoded) }).with("mode", "decode").once(),
		counter(effective, l, atStep, ofStep(freshPrefill)).with("mode", "input").once(),
		counter(effective, l, atStep, ofStep(freshHits)).with("mode", "device_hit").once(),
		counter("sglang:num_retracted_requests_total", l, atStep, ofStep(preempts)).once(),
		histogram("sglang:queue_time_seconds", l, sglangQueue, atAdmitted, ofRequest(queueTime)).once(),
		histogram(stage, l, sglangStages, atAdmitted, ofRequest(queueTime)).with("stage", "prefill_waiting").once(),
		histogram(stage, l, sglangStages, atFirst, ofRequest(prefillTime)).with("stage", "prefill_forward").once(),
		histogram(stage, l, sglangStages, atFirst, transfer).with("stage", "decode_transferred").once(),
	}
}

// What a retraction makes the engine do again does not count.

func freshPrefill(s *Step) int { return max(0, s.Prefill-s.Again) }
func freshHits(s *Step) int    { return max(0, s.Hits-s.Found) }

// sglangTokenizer is what the process tells that requests come to and answers leave from.
func sglangTokenizer(i *Info, l []probes.Label) []row {
	var rows []row
	add := func(r row) { rows = append(rows, r.once()) }
	streamed := func(name string, make func(name string, stream bool) row) {
		for _, stream := range []bool{true, false} {
			add(make(name, stream).with("is_streaming", strconv.FormatBool(stream)))
		}
	}
	count := func(number func(*Request) float64) func(string, bool) row {
		return func(name string, stream bool) row { return counter(name, l, atFinished, sglangDone(stream, number)) }
	}
	streamed("sglang:prompt_tokens_total", count(prompt))
	streamed("sglang:generation_tokens_total", count(output))
	if i.Drafts > 0 {
		add(counter("sglang:spec_verify_calls_total", l, atStep, ofStep(drafts)))
	}
	add(histogram("sglang:prompt_tokens_histogram", l, sglangLengths, atFinished, sglangAny(prompt)))
	add(histogram("sglang:generation_tokens_histogram", l, sglangLengths, atFinished, sglangAny(output)))
	add(counter("sglang:cached_tokens_total", l, atFinished, sglangCached).with("cache_source", "device"))
	streamed("sglang:num_requests_total", count(func(*Request) float64 { return 1 }))
	add(counter("sglang:num_aborted_requests_total", l, atFinished, ended(engine.FinishAbort, engine.FinishError)))
	streamed("sglang:time_to_first_token_seconds", func(name string, stream bool) row {
		if stream {
			return histogram(name, l, sglangFirst, atFirst, sglangFirstToken)
		}
		return histogram(name, l, sglangFirst, atFinished, sglangDone(false, e2eText)) // the whole answer comes with it
	})
	add(histogram("sglang:inter_token_latency_seconds", l, sglangTokens, atStep, sglangGaps))
	add(histogram("sglang:inter_token_latency_seconds", l, sglangTokens, atStalled, stalled))
	streamed("sglang:e2e_request_latency_seconds", func(name string, stream bool) row {
		return histogram(name, l, sglangRequest, atFinished, sglangDone(stream, e2eText))
	})
	return rows
}

// sglangEnded reports whether a request counts as processed: it was answered, or given up
// while it ran.
func sglangEnded(r *Request) bool {
	return answered(r) || r.TTFT > 0 && r.Finish != engine.FinishRejected
}

func sglangAny(number func(*Request) float64) feed {
	return func(_ *page, e *event) (float64, int) {
		if !sglangEnded(e.request) {
			return 0, 0
		}
		return number(e.request), 1
	}
}

func sglangDone(stream bool, number func(*Request) float64) feed {
	return func(_ *page, e *event) (float64, int) {
		if !sglangEnded(e.request) || e.request.AtOnce == stream {
			return 0, 0
		}
		return number(e.request), 1
	}
}

func sglangCached(_ *page, e *event) (float64, int) {
	if !sglangEnded(e.request) {
		return 0, 0
	}
	return some(e.request.Cached)
}

func sglangFirstToken(_ *page, e *event) (float64, int) {
	if e.request.AtOnce {
		return 0, 0
	}
	return ttft(e.request), 1
}

// sglangGaps are the times between tokens: a step that yields several shares its time
// among them.
func sglangGaps(_ *page, e *event) (float64, int) {
	s, n := e.step, e.step.Gapped
	if n == 0 || s.Gap <= 0 {
		return 0, 0
	}
	if s.Drafted > 0 && s.Decodes > 0 {
		n = max(1, int(math.Round(float64(s.Decode)*float64(n)/float64(s.Decodes))))
	}
	return s.Gap * float64(s.Gapped) / float64(n), n
}
