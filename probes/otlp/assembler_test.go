package otlp

import (
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"llmtop/probes"
)

// give adds spans at a moment, each as an export of its own.
func give(t *testing.T, a *assembler, now time.Time, spans ...*tracepb.Span) {
	t.Helper()
	for _, s := range spans {
		got, err := decodeProto(bytesOf(t, from("x", s)))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range got {
			a.add(now, b)
		}
	}
}

// requestsOf are the requests that are complete; a fault fails the test.
func requestsOf(t *testing.T, got []done) (out []*probes.Request) {
	t.Helper()
	for _, d := range got {
		if d.fault != "" {
			t.Errorf("left out: %s", d.fault)
			continue
		}
		soundly(t, d.request)
		out = append(out, d.request)
	}
	return out
}

// A request waits for the spans of other processes, which come in batches, in any order.
func TestSpansComeInAnyOrder(t *testing.T) {
	spans := sglangSpans(1, 2, 0)
	want := requestsOf(t, func() []done { got, _ := settled(t, from("x", spans...)); return got }())[0]
	for name, order := range map[string]func(int) int{
		"backwards":  func(i int) int { return len(spans) - 1 - i },
		"interleave": func(i int) int { return i * 11 % len(spans) },
	} {
		a := newAssembler()
		for i := range spans {
			give(t, a, at(2+0.03*float64(i)), spans[order(i)])
		}
		if got := a.collect(at(3.9)); len(got) != 0 {
			t.Errorf("%s: %d before the time of its last span's batch", name, len(got))
		}
		got := requestsOf(t, a.collect(at(6)))
		if len(got) != 1 || got[0].Stages != want.Stages {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if again := a.collect(at(8)); len(again) != 0 {
			t.Errorf("%s: told twice", name)
		}
	}
}

// vLLM's and TGI's spans say all: nobody waits.
func TestWholeSpansDoNotWait(t *testing.T) {
	a := newAssembler()
	give(t, a, at(2), vllmSpan(1, 2, 9, 0), tgiSpan(2, 2, 9, 0))
	if got := requestsOf(t, a.collect(at(2))); len(got) != 2 || len(a.traces) != 0 {
		t.Errorf("%d requests, %d traces held", len(got), len(a.traces))
	}
}

// An exporter that got no answer sends again.
func TestRetriesCountOnce(t *testing.T) {
	a := newAssembler()
	spans := append(sglangSpans(1, 2, 0), vllmSpan(2, 2, 0, 0))
	total := 0
	for _, second := range []float64{2, 2.5, 9, 60} {
		give(t, a, at(second), spans...)
		total += len(requestsOf(t, a.collect(at(second+5))))
	}
	if total != 2 || len(a.lost) != 0 {
		t.Errorf("%d requests, want 2; lost %v", total, a.lost)
	}
}

// An agent's trace has many requests: after each other, and at the same time.
func TestTwoRequestsInOneTrace(t *testing.T) {
	one, two := sglangSpans(1, 100, 0), sglangSpans(1, 200, 0.7)
	alone := requestsOf(t, func() []done { got, _ := settled(t, from("x", one...)); return got }())[0]
	a := newAssembler()
	for i := range one {
		give(t, a, at(3), one[i], two[i])
	}
	got := requestsOf(t, a.collect(at(6)))
	if len(got) != 2 || got[0].Stages != alone.Stages || got[1].Stages != alone.Stages {
		t.Fatalf("got %+v, want twice %v", got, alone.Stages)
	}
	give(t, a, at(20), sglangSpans(1, 300, 10)...)
	if got := requestsOf(t, a.collect(at(23))); len(got) != 1 || got[0].Stages != alone.Stages {
		t.Errorf("later: %+v", got)
	}
	if got, _ := settled(t, from("x", vllmSpan(1, 2, 0, 0), vllmSpan(1, 3, 0, 2.5))); len(got) != 2 {
		t.Errorf("vLLM: %d requests, want 2", len(got))
	}
}

// Two of Dynamo's requests in one trace, each with its engine's, told apart by their parents.
func TestDynamoTwiceInOneTrace(t *testing.T) {
	got, _ := settled(t, from("x",
		sp(1, 2, 0, "http-request", 0, 3, attrs("uri", "/v1/completions")...), sp(1, 3, 2, "handle_payload", 0.1, 3), vllmSpan(1, 4, 3, 0.2),
		sp(1, 5, 0, "http-request", 0, 4, attrs("uri", "/v1/completions")...), sp(1, 6, 5, "handle_payload", 0.1, 4), vllmSpan(1, 7, 6, 1)))
	requests := requestsOf(t, got)
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	for i, want := range []probes.StageSeconds{
		stagesOf(probes.StageReceive, 0.3, probes.StageQueue, 0.5, probes.StagePrefill, 0.3, probes.StageDecode, 1.0, probes.StageSend, 0.9),
		stagesOf(probes.StageReceive, 1.1, probes.StageQueue, 0.5, probes.StagePrefill, 0.3, probes.StageDecode, 1.0, probes.StageSend, 1.1),
	} {
		alike(t, requests[i], want)
	}
}

// A frontend's span that comes after its engine's was told is no second request.
func TestLateFrontendIsNoSecondRequest(t *testing.T) {
	a := newAssembler()
	give(t, a, at(2), vllmSpan(1, 4, 3, 0.2))
	first := requestsOf(t, a.collect(at(2)))
	give(t, a, at(4), sp(1, 2, 0, "http-request", 0, 3, attrs("uri", "/v1/completions")...), sp(1, 3, 2, "handle_payload", 0.1, 3))
	if later := a.collect(at(20)); len(first) != 1 || len(later) != 0 {
		t.Errorf("%d, then %+v", len(first), later)
	}
	give(t, a, at(21), vllmSpan(2, 4, 3, 0.2))
	if got := a.collect(at(22)); len(got) != 0 {
		t.Error("behind Dynamo an engine's span does not wait for the frontend's")
	}
	if got := requestsOf(t, a.collect(at(28))); len(got) != 1 {
		t.Errorf("an engine's span without a frontend's is lost: %+v", got)
	}
}

// Prefill on one worker, decode on another: one request.
func TestDynamoWithTwoEngines(t *testing.T) {
	prefill := vllmSpan(1, 8, 5, 0.2, "gen_ai.latency.e2e", 0.9, "gen_ai.latency.time_in_model_decode", 0.0, "gen_ai.usage.completion_tokens", 1)
	prefill.EndTimeUnixNano = uint64(at(1.1).UnixNano())
	got, _ := settled(t, from("x", prefill, vllmSpan(1, 9, 6, 1.2), sp(1, 5, 2, "handle_payload", 0.1, 1.1), sp(1, 6, 2, "handle_payload", 1.15, 3.2),
		sp(1, 2, 0, "http-request", 0, 3.2, attrs("uri", "/v1/completions", "ttft_ms", 2100.0)...)))
	r := requestsOf(t, got)
	if len(r) != 1 {
		t.Fatalf("%d requests", len(r))
	}
	alike(t, r[0], stagesOf(probes.StageReceive, 0.5, probes.StageQueue, 1.0, probes.StagePrefill, 0.6, probes.StageDecode, 1.0, probes.StageSend, 0.1))
	if r[0].TTFTSeconds.Or(0) != 2.1 {
		t.Errorf("TTFT %v", r[0].TTFTSeconds)
	}
}

// Traces whose request never ends go, and are counted; late spans go without a word.
func TestOrphansAndLateSpans(t *testing.T) {
	a := newAssembler()
	spans := sglangSpans(1, 2, 0)
	give(t, a, at(2), spans[:len(spans)-1]...)
	give(t, a, at(2), sglangSpans(2, 2, 0)...)
	give(t, a, at(2), sp(3, 90, 91, "prefill_waiting", 0, 1))
	if got := requestsOf(t, a.collect(at(5))); len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	give(t, a, at(6), sp(2, 95, 5, "decode_loop", 1.9, 1.95)) // after its request was told
	if len(a.traces) != 3 {
		t.Fatalf("%d traces held, want 3", len(a.traces))
	}
	a.collect(at(6 + lateAfter.Seconds() + 1))
	if len(a.traces) != 2 || len(a.lost) != 0 {
		t.Errorf("%d traces held, lost %v", len(a.traces), a.lost)
	}
	a.collect(at(3 + orphanAfter.Seconds()))
	if len(a.traces) != 0 || a.stored != 0 || a.lost[lostOrphans] != 2 {
		t.Errorf("%d traces and %d spans held, lost %v", len(a.traces), a.stored, a.lost)
	}
}

// However much comes, what is held is bounded, and what does not fit is counted.
func TestAssemblerIsBounded(t *testing.T) {
	a := newAssembler()
	var b batch
	for i := range 3 * maxTraces {
		s := span{engine: sglang, role: stage, start: at(0).UnixNano(), end: at(1).UnixNano(), piece: piece{stage: probes.StageQueue}}
		s.trace[0], s.trace[1], s.trace[2], s.trace[3], s.id[0] = byte(i), byte(i>>8), byte(i>>16), 1, 1
		b.spans = append(b.spans, s)
	}
	a.add(at(1), b)
	if len(a.traces) > maxTraces || a.order.Len() != len(a.traces) || a.lost[lostMany] != 2*maxTraces {
		t.Errorf("%d traces, %d in order, lost %v", len(a.traces), a.order.Len(), a.lost)
	}
	b.spans = b.spans[:0]
	for i := range 50 * perTrace { // one trace, parents and requests without end
		s := span{engine: sglang, role: stage, start: at(0).UnixNano(), end: at(1).UnixNano(), piece: piece{stage: probes.StageQueue}}
		s.trace[15], s.id[0], s.id[1], s.parent[0], s.parent[1] = 1, byte(i), byte(i>>8)+1, byte(i), byte(i>>8)+1
		b.spans = append(b.spans, s)
		s.role = []role{request, half, link}[i%3]
		s.id[7] = 1
		b.spans = append(b.spans, s)
	}
	a.add(at(1), b)
	var one traceID
	one[15] = 1
	if x := a.traces[one]; len(x.stages) > perTrace || len(x.links) > perTrace || len(x.anchors) > maxAnchors || len(x.halves) > maxAnchors {
		t.Errorf("%d stages %d links %d requests %d halves", len(x.stages), len(x.links), len(x.anchors), len(x.halves))
	}
	for i := range 2 * maxReady {
		s := span{engine: vllm, role: request, start: at(0).UnixNano(), end: at(1).UnixNano()}
		s.trace[0], s.trace[1], s.id[7] = byte(i), byte(i>>8), 7
		a.add(at(1), batch{spans: []span{s}})
	}
	if len(a.ready) > maxReady || len(a.recent.known) > maxRecent || len(a.recent.ring) > maxRecent {
		t.Errorf("%d ready, %d known", len(a.ready), len(a.recent.known))
	}
	a.collect(at(100))
	a.collect(at(1e5))
	if a.stored != 0 || len(a.traces) != 0 {
		t.Errorf("%d spans in %d traces left", a.stored, len(a.traces))
	}
}

// Parents that go in a circle end.
func TestParentsInACircle(t *testing.T) {
	got, _ := settled(t, from("x", sp(1, 3, 4, "prefill_forward", 0, 1), sp(1, 4, 3, "decode_forward", 1, 1.5), sp(1, 2, 2, "Req x", 0, 2, attrs("rid", "x")...)))
	if len(got) != 1 || got[0].fault != faultUntold {
		t.Errorf("got %+v", got)
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	r := newRecent(3)
	key := func(n byte) seen { return seen{trace: traceID{n}} }
	for n := range byte(5) {
		if !r.add(key(n)) || r.add(key(n)) {
			t.Fatalf("%d: not new once", n)
		}
	}
	var known []string
	for n := range byte(5) {
		if r.has(key(n)) {
			known = append(known, string('0'+rune(n)))
		}
	}
	if got := strings.Join(known, ""); got != "234" || len(r.known) != 3 {
		t.Errorf("knows %s", got)
	}
}
