package otlp

import (
	"math"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"llmtop/probes"
)

// vllmSpan is the span of a request with 0.1 s before the queue and 0.05 s after decode.
func vllmSpan(trace, id, parent int, start float64, more ...any) *tracepb.Span {
	a := attrs("gen_ai.latency.time_in_queue", 0.5, "gen_ai.latency.time_to_first_token", 0.9, "gen_ai.latency.e2e", 1.95,
		"gen_ai.latency.time_in_model_prefill", 0.3, "gen_ai.latency.time_in_model_decode", 1.0, "gen_ai.latency.time_in_model_inference", 1.3,
		"gen_ai.usage.prompt_tokens", 100, "gen_ai.usage.completion_tokens", 11, "gen_ai.request.id", "cmpl-77", "gen_ai.request.temperature", 1.0)
	for _, kv := range attrs(more...) {
		a = append(a, kv) // the last one counts
	}
	return sp(trace, id, parent, "llm_request", start, start+1.96, a...)
}

// sglangSpans are a request on two ranks: its own span last, as it ends last.
func sglangSpans(trace, base int, start float64) []*tracepb.Span {
	at := func(s float64) float64 { return start + s }
	root, tok, sched, other := base, base+1, base+2, base+3
	spans := []*tracepb.Span{
		sp(trace, base+4, tok, "tokenize", at(0.01), at(0.05)),
		sp(trace, base+5, tok, "api_server_dispatch", at(0.05), at(0.07)),
		sp(trace, tok, root, "Tokenizer(host:0123abcd | pid:7)", at(0), at(2), attrs("thread_label", "Tokenizer", "pid", 7)...),
	}
	for rank, thread := range []int{sched, other} {
		lag := 0.001 * float64(rank)
		id := base + 10 + 20*rank
		spans = append(spans,
			sp(trace, id, thread, "request_process", at(0.08+lag), at(0.1+lag)),
			sp(trace, id+1, thread, "prefill_waiting", at(0.1+lag), at(0.6+lag)),
			sp(trace, id+2, id+3, "chunked_prefill", at(0.6+lag), at(0.7+lag)),
			sp(trace, id+3, thread, "prefill_forward", at(0.61+lag), at(0.9+lag)))
		for step := range 10 {
			from := at(0.91 + 0.1*float64(step) + lag)
			spans = append(spans, sp(trace, id+4+step, id+15, "decode_loop", from, from+0.1, attrs("decode_ct", step)...))
		}
		spans = append(spans,
			sp(trace, id+15, thread, "decode_forward", at(0.91+lag), at(1.91+lag)),
			sp(trace, thread, root, "Scheduler [TP 0] (host:0123abcd | pid:8)", at(0.08), at(1.92), attrs("thread_label", "Scheduler", "tp_rank", rank)...))
	}
	return append(spans, sp(trace, root, 0, " Req 0a1b2c3d", at(0), at(2), attrs("rid", "0a1b2c3d-rest", "module", "sglang::request",
		"gen_ai.latency.time_to_first_token", 0.93, "gen_ai.usage.prompt_tokens", 200, "gen_ai.usage.cached_tokens", 64, "gen_ai.usage.completion_tokens", 11,
		"gen_ai.request.id", "0a1b2c3d-rest", "gen_ai.response.finish_reasons", `["stop"]`)...))
}

func tgiSpan(trace, id, parent int, start float64, more ...any) *tracepb.Span {
	a := attrs("total_time", "2.00012s", "validation_time", "1.25ms", "queue_time", "498.75ms", "inference_time", "1.5s", "time_per_token", "150ms", "seed", "None")
	return sp(trace, id, parent, "generate_stream", start, start+2.001, append(a, attrs(more...)...)...)
}

// settled is what one export becomes, read long after.
func settled(t *testing.T, m *tracepb.TracesData) ([]done, *assembler) {
	t.Helper()
	a := newAssembler()
	got, err := decodeProto(bytesOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range got {
		a.add(at(10), b)
	}
	return a.collect(at(30)), a
}

// stagesOf makes stages of pairs of a stage and seconds.
func stagesOf(pairs ...any) (out probes.StageSeconds) {
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(probes.Stage)] = pairs[i+1].(float64)
	}
	return out
}

// soundly fails the test when a request is not one that rules can use.
func soundly(t *testing.T, r *probes.Request) {
	t.Helper()
	total := 0.0
	for st, x := range r.Stages {
		if x < 0 || math.IsNaN(x) {
			t.Errorf("%s %g s", probes.Stage(st), x)
		}
		total += x
	}
	e2e, ok := r.E2ESeconds.Get()
	if !ok || math.Abs(total-e2e) > 1e-9 || r.TTFTSeconds.Or(0) < 0 || r.TTFTSeconds.Or(0) > e2e+1e-9 || r.State != "finished" {
		t.Errorf("stages of %g s, e2e %v, TTFT %v, state %s", total, r.E2ESeconds, r.TTFTSeconds, r.State)
	}
}

// alike fails the test when a request's stages are others, by more than rounding.
func alike(t *testing.T, r *probes.Request, want probes.StageSeconds) {
	t.Helper()
	for st := range r.Stages {
		if math.Abs(r.Stages[st]-want[st]) > 2e-6 {
			t.Errorf("%s %g s, want %g", probes.Stage(st), r.Stages[st], want[st])
		}
	}
}

func TestEngines(t *testing.T) {
	const receive, queue, prefill, decode, send = probes.StageReceive, probes.StageQueue, probes.StagePrefill, probes.StageDecode, probes.StageSend
	v0 := sp(1, 2, 0, "llm_request", 0, 2.1, attrs("gen_ai.latency.time_in_queue", 0.5, "gen_ai.latency.time_to_first_token", 0.9, "gen_ai.latency.e2e", 2.0,
		"gen_ai.latency.time_in_scheduler", 0.2, "gen_ai.latency.time_in_model_forward", 1.1, "gen_ai.latency.time_in_model_execute", 1.2, "gen_ai.usage.completion_tokens", 5)...)
	failed := vllmSpan(1, 2, 0, 0)
	failed.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	cases := []struct {
		name   string
		spans  []*tracepb.Span
		stages probes.StageSeconds
		ttft   float64 // 0: not told
		tokens [3]int
		coarse bool
		finish string
	}{
		{name: "vLLM", spans: []*tracepb.Span{vllmSpan(1, 2, 0, 0)}, coarse: true, ttft: 0.9, tokens: [3]int{100, 0, 11},
			stages: stagesOf(receive, 0.1, queue, 0.5, prefill, 0.3, decode, 1.0, send, 0.05)},
		{name: "vLLM V0", spans: []*tracepb.Span{v0}, coarse: true, ttft: 0.9, tokens: [3]int{0, 0, 5},
			stages: stagesOf(queue, 0.5, prefill, 0.4, decode, 1.1)},
		{name: "vLLM, clocks of two processes", spans: []*tracepb.Span{vllmSpan(1, 2, 0, 0, "gen_ai.latency.time_in_queue", 0.61)}, coarse: true, ttft: 0.9, tokens: [3]int{100, 0, 11},
			stages: stagesOf(queue, 0.61, prefill, 0.3, decode, 0.99, send, 0.05)},
		{name: "vLLM failed", spans: []*tracepb.Span{failed}, coarse: true, ttft: 0.9, tokens: [3]int{100, 0, 11}, finish: "error",
			stages: stagesOf(receive, 0.1, queue, 0.5, prefill, 0.3, decode, 1.0, send, 0.05)},
		{name: "SGLang", spans: sglangSpans(1, 2, 0), ttft: 0.93, tokens: [3]int{200, 64, 11}, finish: "stop",
			stages: stagesOf(receive, 0.01, probes.StageTokenize, 0.04, probes.StageAssemble, 0.051, queue, 0.5, probes.StageBatch, 0.009, prefill, 0.29, decode, 1.011, send, 0.089)},
		{name: "TGI", spans: []*tracepb.Span{tgiSpan(1, 2, 1, 0)}, coarse: true, tokens: [3]int{0, 0, 10},
			stages: stagesOf(receive, 0.00125, queue, 0.49875, prefill, 0.15, decode, 1.35, send, 0.00012)},
		{name: "Dynamo alone", coarse: true, ttft: 0.9, tokens: [3]int{50, 0, 9}, spans: []*tracepb.Span{
			sp(1, 2, 0, "http-request", 0, 2, attrs("uri", "/v1/chat/completions", "input_tokens", 50, "output_tokens", 9, "ttft_ms", 900.0)...),
			sp(1, 3, 2, "kv_router.route_request", 0.1, 0.4), sp(1, 4, 3, "kv_router.schedule", 0.15, 0.35), sp(1, 5, 3, "handle_payload", 0.4, 1.99)},
			stages: stagesOf(receive, 0.2, queue, 0.2, prefill, 0.5, decode, 1.1)},
		{name: "Dynamo before vLLM", coarse: true, ttft: 1.5, tokens: [3]int{100, 0, 11}, spans: []*tracepb.Span{
			vllmSpan(1, 9, 5, 0.6), sp(1, 2, 0, "http-request", 0, 2.6, attrs("uri", "/v1/completions?x=1")...),
			sp(1, 3, 2, "kv_router.route_request", 0.1, 0.4), sp(1, 4, 3, "kv_router.schedule", 0.15, 0.35), sp(1, 5, 2, "handle_payload", 0.4, 2.59)},
			stages: stagesOf(receive, 0.5, queue, 0.7, prefill, 0.3, decode, 1.0, send, 0.1)},
		{name: "Dynamo before SGLang", ttft: 0.1 + 0.93, tokens: [3]int{200, 64, 11}, finish: "stop",
			spans:  append(sglangSpans(1, 20, 0.1), sp(1, 2, 0, "http-request", 0, 2.2, attrs("uri", "/v1/completions")...), sp(1, 5, 2, "handle_payload", 0.05, 2.15)),
			stages: stagesOf(receive, 0.11, probes.StageTokenize, 0.04, probes.StageAssemble, 0.051, queue, 0.5, probes.StageBatch, 0.009, prefill, 0.29, decode, 1.011, send, 0.189)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, _ := settled(t, from("x", c.spans...))
			if len(got) != 1 || got[0].fault != "" {
				t.Fatalf("got %+v", got)
			}
			r := got[0].request
			soundly(t, r)
			alike(t, r, c.stages)
			if ttft, ok := r.TTFTSeconds.Get(); ok != (c.ttft > 0) || math.Abs(ttft-c.ttft) > 2e-6 {
				t.Errorf("TTFT %g (%v), want %g", ttft, ok, c.ttft)
			}
			if tokens := [3]int{r.PromptTokens, r.CachedTokens, r.OutputTokens}; tokens != c.tokens || r.Coarse != c.coarse || r.Finish != c.finish {
				t.Errorf("tokens %v coarse %v finish %q, want %v %v %q", tokens, r.Coarse, r.Finish, c.tokens, c.coarse, c.finish)
			}
			if !r.Arrived.Equal(at(0)) || len(r.ID) != 12 || strings.Contains(r.ID, "cmpl") {
				t.Errorf("arrived %v, id %q", r.Arrived, r.ID)
			}
		})
	}
}

// Names of older and other SGLang deployments.
func TestSGLangGenerations(t *testing.T) {
	root := func(name string) *tracepb.Span { return sp(1, 2, 50, name, 0, 2, attrs("rid", "x")...) }
	thread := func(id, parent int) *tracepb.Span {
		return sp(1, id, parent, "Scheduler", 0, 2, attrs("thread_label", "Scheduler")...)
	}
	cases := []struct {
		name                   string
		spans                  []*tracepb.Span
		queue, prefill, decode float64
	}{
		{"0.5.3: names with a blank", []*tracepb.Span{sp(1, 4, 3, "prefill", 0.2, 0.5), sp(1, 5, 3, "decode loop", 0.5, 1.0), sp(1, 6, 3, "decode loop", 1.0, 1.9), thread(3, 2), root("Req x")}, 0, 0.3, 1.4},
		{"0.5.6: steps without a span around", []*tracepb.Span{sp(1, 4, 3, "prefill_waiting", 0.1, 0.2), sp(1, 5, 3, "chunked_prefill", 0.2, 0.3), sp(1, 6, 3, "chunked_prefill", 0.3, 0.5), sp(1, 7, 3, "decode_loop", 0.5, 1.9), thread(3, 2), root("Req x")}, 0.1, 0.3, 1.4},
		{"retracted and prefilled again", []*tracepb.Span{sp(1, 4, 3, "prefill_waiting", 0.1, 0.2), sp(1, 5, 3, "prefill_forward", 0.2, 0.5), sp(1, 6, 3, "prefill_forward", 1.2, 1.4), sp(1, 7, 3, "decode_forward", 0.5, 1.9), thread(3, 2), root("Req x")}, 0.1, 0.3, 1.4},
		{"decode half with its prefill half", []*tracepb.Span{
			sp(1, 12, 50, "prefill Req x", 0, 0.7, attrs("rid", "x")...), thread(13, 12), sp(1, 14, 13, "prefill_waiting", 0.1, 0.3), sp(1, 15, 13, "prefill_forward", 0.3, 0.6),
			sp(1, 4, 3, "decode_bootstrap", 0.1, 0.2), sp(1, 5, 3, "decode_transferred", 0.2, 0.7), sp(1, 6, 3, "decode_waiting", 0.7, 0.8), sp(1, 7, 3, "decode_forward", 0.8, 1.9), thread(3, 2), root("decode Req x")}, 0.2, 0.4, 1.2},
		{"the thread's span is lost", []*tracepb.Span{sp(1, 4, 3, "prefill_waiting", 0.1, 0.2), sp(1, 5, 3, "prefill_forward", 0.2, 0.5), sp(1, 7, 3, "decode_forward", 0.5, 1.9), root("Req x")}, 0.1, 0.3, 1.4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, _ := settled(t, from("sglang", c.spans...))
			if len(got) != 1 || got[0].fault != "" {
				t.Fatalf("got %+v", got)
			}
			r := got[0].request
			soundly(t, r)
			for st, want := range map[probes.Stage]float64{probes.StageQueue: c.queue, probes.StagePrefill: c.prefill, probes.StageDecode: c.decode} {
				if math.Abs(r.Stages[st]-want) > 2e-6 {
					t.Errorf("%s %g s, want %g: %v", st, r.Stages[st], want, r.Stages)
				}
			}
			if !r.TTFTSeconds.Seen() {
				t.Error("no TTFT")
			}
		})
	}
}

// What cannot be is left out and counted, never believed.
func TestFaults(t *testing.T) {
	cases := []struct {
		name  string
		want  fault
		spans []*tracepb.Span
	}{
		{"a negative queue", faultTimes, []*tracepb.Span{vllmSpan(1, 2, 0, 0, "gen_ai.latency.time_in_queue", -0.5)}},
		{"scheduled again after the first token", faultTimes, []*tracepb.Span{vllmSpan(1, 2, 0, 0, "gen_ai.latency.time_in_model_prefill", -3.0)}},
		{"no first token at all", faultTimes, []*tracepb.Span{vllmSpan(1, 2, 0, 0, "gen_ai.latency.time_to_first_token", 0.0, "gen_ai.latency.time_in_model_prefill", -1e9)}},
		{"longer than its span", faultTimes, []*tracepb.Span{vllmSpan(1, 2, 0, 0, "gen_ai.latency.e2e", 3.0)}},
		{"a huge number", faultTimes, []*tracepb.Span{vllmSpan(1, 2, 0, 0, "gen_ai.latency.time_in_model_decode", 1e300)}},
		{"a TTFT longer than the request", faultTimes, []*tracepb.Span{vllmSpan(1, 2, 0, 0, "gen_ai.latency.time_to_first_token", 9.0)}},
		{"no queue", faultUntold, []*tracepb.Span{sp(1, 2, 0, "llm_request", 0, 1, attrs("gen_ai.latency.time_to_first_token", 0.5)...)}},
		{"no attributes", faultUntold, []*tracepb.Span{sp(1, 2, 0, "llm_request", 0, 1)}},
		{"ends before it begins", faultClocks, []*tracepb.Span{sp(1, 2, 0, "llm_request", 1, 0)}},
		{"the future", faultClocks, []*tracepb.Span{vllmSpan(1, 2, 0, 90000)}},
		{"the past", faultClocks, []*tracepb.Span{vllmSpan(1, 2, 0, -900000)}},
		{"TGI's parts are more than the whole", faultTimes, []*tracepb.Span{tgiSpan(1, 2, 0, 0, "queue_time", "1.9s")}},
		{"a scheduler whose clock is ahead", faultClocks, append(sglangSpans(1, 2, 0), sp(1, 90, 4, "prefill_waiting", 0.1, 3.5))},
		{"a scheduler whose clock is behind", faultClocks, append(sglangSpans(1, 2, 0), sp(1, 90, 4, "prefill_waiting", -2, 0.1))},
		{"SGLang without stages", faultUntold, []*tracepb.Span{sp(1, 2, 0, "Req x", 0, 2, attrs("rid", "x")...)}},
		{"an engine outside Dynamo's time", faultClocks, []*tracepb.Span{vllmSpan(1, 9, 2, -1), sp(1, 2, 0, "http-request", 0, 2.6, attrs("uri", "/v1/completions")...)}},
		{"Dynamo without a worker", faultUntold, []*tracepb.Span{sp(1, 2, 0, "http-request", 0, 2.6, attrs("uri", "/v1/completions")...)}},
	}
	for _, c := range cases {
		if got, _ := settled(t, from("x", c.spans...)); len(got) != 1 || got[0].fault != c.want {
			t.Errorf("%s: got %+v, want %q", c.name, got, c.want)
		}
	}
}

// Spans that are no requests leave nothing behind.
func TestOtherSpansAreIgnored(t *testing.T) {
	got, a := settled(t, from("x",
		sp(1, 2, 0, "Overall Loading", 0, 1), sp(1, 3, 0, "POST /v1/chat/completions", 0, 1), sp(1, 4, 0, "http-request", 0, 1, attrs("uri", "/health")...),
		sp(1, 5, 0, "generate", 0, 1, attrs("parameters", "GenerateParameters { .. }")...), sp(1, 6, 0, "Req x", 0, 1), sp(0, 7, 0, "llm_request", 0, 1), sp(1, 0, 0, "llm_request", 0, 1),
		sp(1, 8, 0, strings.Repeat("llm_request", 100), 0, 1)))
	if len(got) != 0 || len(a.traces) != 0 || len(a.lost) != 0 {
		t.Errorf("got %+v, %d traces, lost %v", got, len(a.traces), a.lost)
	}
}
