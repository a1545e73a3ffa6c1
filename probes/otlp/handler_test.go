package otlp

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// asked is what a handler answers to one request, in process.
func asked(h *handler, method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// handling is a handler that counts.
func handling() (h *handler, spans *int, refused map[string]int) {
	spans, refused = new(int), map[string]int{}
	return &handler{
		take: func(all []batch) {
			for _, b := range all {
				*spans += len(b.spans)
			}
		},
		refused: func(why string) { refused[why]++ },
	}, spans, refused
}

func TestHTTP(t *testing.T) {
	good := bytesOf(t, from("vllm", vllmSpan(1, 2, 0, 0)))
	asJSON := jsonOf(t, from("vllm", vllmSpan(1, 2, 0, 0)))
	many := &tracepb.TracesData{ResourceSpans: make([]*tracepb.ResourceSpans, maxMessages+1)}
	for i := range many.ResourceSpans {
		many.ResourceSpans[i] = &tracepb.ResourceSpans{}
	}
	deep := &commonpb.AnyValue{}
	for range 100 {
		deep = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{deep}}}}
	}
	deepSpan := sp(1, 2, 0, "llm_request", 0, 1, &commonpb.KeyValue{Key: "gen_ai.latency.e2e", Value: deep})
	const proto, json = typeProto, typeJSON
	cases := []struct {
		name, method, path string
		body               []byte
		headers            []string
		status, spans      int
		answer             string
	}{
		{"protobuf", "POST", "/v1/traces", good, []string{"Content-Type", proto}, 200, 1, ""},
		{"its other name", "POST", "/v1/traces", good, []string{"Content-Type", "application/protobuf"}, 200, 1, ""},
		{"gzip", "POST", "/v1/traces", zipped(good), []string{"Content-Type", proto, "Content-Encoding", "gzip"}, 200, 1, ""},
		{"JSON", "POST", "/v1/traces", asJSON, []string{"Content-Type", json + "; charset=utf-8"}, 200, 1, "{}"},
		{"JSON, gzip", "POST", "/v1/traces", zipped(asJSON), []string{"Content-Type", json, "Content-Encoding", "GZIP"}, 200, 1, "{}"},
		{"JSON with what is new", "POST", "/v1/traces", bytes.Replace(asJSON, []byte(`{"resourceSpans":`), []byte(`{"new":[{}],"resourceSpans":`), 1), []string{"Content-Type", json}, 200, 1, "{}"},
		{"nothing", "POST", "/v1/traces", nil, []string{"Content-Type", proto}, 200, 0, ""},
		{"metrics", "POST", "/v1/metrics", []byte("anything"), []string{"Content-Type", proto}, 200, 0, ""},
		{"logs as JSON", "POST", "/v1/logs", []byte("anything"), []string{"Content-Type", json}, 200, 0, "{}"},
		{"another path", "POST", "/", good, []string{"Content-Type", proto}, 404, 0, "no such path; traces go to /v1/traces\n"},
		{"another method", "GET", "/v1/traces", nil, nil, 405, 0, "only POST is taken\n"},
		{"another type", "POST", "/v1/traces", good, []string{"Content-Type", "text/plain"}, 415, 0, "content type is neither application/x-protobuf nor application/json\n"},
		{"no type", "POST", "/v1/traces", good, nil, 415, 0, "content type is neither application/x-protobuf nor application/json\n"},
		{"another coding", "POST", "/v1/traces", good, []string{"Content-Type", proto, "Content-Encoding", "zstd"}, 415, 0, "content encoding is not gzip\n"},
		{"gRPC over HTTP/1", "POST", traceMethod, framed(good, false), []string{"Content-Type", typeGRPC}, 415, 0, "content type is neither application/x-protobuf nor application/json\n"},
		{"no gzip", "POST", "/v1/traces", good, []string{"Content-Type", proto, "Content-Encoding", "gzip"}, 400, 0, "not an OTLP message\n"},
		{"gzip, cut off", "POST", "/v1/traces", zipped(good)[:30], []string{"Content-Type", proto, "Content-Encoding", "gzip"}, 400, 0, "cut off\n"},
		{"no protobuf", "POST", "/v1/traces", []byte("hello"), []string{"Content-Type", proto}, 400, 0, "not an OTLP message\n"},
		{"protobuf, cut off", "POST", "/v1/traces", good[:len(good)-1], []string{"Content-Type", proto}, 400, 0, "not an OTLP message\n"},
		{"no JSON", "POST", "/v1/traces", []byte(`{"resourceSpans":7}`), []string{"Content-Type", json}, 400, 0, "not an OTLP message\n"},
		{"too long", "POST", "/v1/traces", make([]byte, maxBody+1), []string{"Content-Type", proto}, 413, 0, "over 4 MiB\n"},
		{"a gzip bomb", "POST", "/v1/traces", zipped(make([]byte, 2*maxBody)), []string{"Content-Type", proto, "Content-Encoding", "gzip"}, 413, 0, "over 4 MiB\n"},
		{"too many parts", "POST", "/v1/traces", bytesOf(t, many), []string{"Content-Type", proto}, 413, 0, "too many spans or attributes\n"},
		{"too many parts as JSON", "POST", "/v1/traces", []byte(`{"resourceSpans":[` + strings.Repeat(`{},`, maxMessages) + `{}]}`), []string{"Content-Type", json}, 413, 0, "too many spans or attributes\n"},
		{"too many spans", "POST", "/v1/traces", bytesOf(t, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: spansOf(maxSpans + 1)}}}}}), []string{"Content-Type", proto}, 413, 0, "too many spans or attributes\n"},
		{"too deep", "POST", "/v1/traces", bytesOf(t, from("x", deepSpan)), []string{"Content-Type", proto}, 400, 0, "nested too deep\n"},
		{"too deep as JSON", "POST", "/v1/traces", []byte(strings.Repeat(`{"resourceSpans":[`, 100)), []string{"Content-Type", json}, 400, 0, "nested too deep\n"},
		{"far too deep as JSON", "POST", "/v1/traces", bytes.Repeat([]byte("["), maxBody), []string{"Content-Type", json}, 400, 0, "nested too deep\n"},
	}
	for _, c := range cases {
		h, spans, refused := handling()
		w := asked(h, c.method, c.path, bytes.NewReader(c.body), c.headers...)
		if w.Code != c.status || *spans != c.spans || w.Body.String() != c.answer {
			t.Errorf("%s: %d, %d spans, %q, want %d, %d, %q", c.name, w.Code, *spans, w.Body.String(), c.status, c.spans, c.answer)
		}
		if said := refused[strings.TrimSuffix(c.answer, "\n")]; (said == 1) != (c.status != 200) || len(refused) > 1 {
			t.Errorf("%s: refused %v", c.name, refused)
		}
		if c.status == 405 && w.Header().Get("Allow") != "POST" {
			t.Errorf("%s: no Allow", c.name)
		}
	}
}

func spansOf(n int) []*tracepb.Span {
	out := make([]*tracepb.Span, n)
	for i := range out {
		out[i] = &tracepb.Span{}
	}
	return out
}

// JSON and protobuf tell the same request, with the same ids.
func TestJSONIsTheSame(t *testing.T) {
	m := from("vllm", vllmSpan(0x1a2b3c, 0x2f, 0x3e, 0, "gen_ai.response.finish_reasons", []string{"length"}))
	one, err := decodeProto(bytesOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	other, err := decodeJSON(jsonOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	a, b := one[0].spans[0], other[0].spans[0]
	if *a.facts != *b.facts || a.facts.finish != "length" {
		t.Errorf("facts %+v and %+v", a.facts, b.facts)
	}
	a.facts, b.facts = nil, nil
	if a != b || a.parent == (spanID{}) || *one[0].service != *other[0].service {
		t.Errorf("spans %+v and %+v", a, b)
	}
}

// More exports at once than places: the exporter is told to come again.
func TestTooManyAtOnce(t *testing.T) {
	h, _, _ := handling()
	for range maxAtOnce {
		if err := h.enter(); err != nil {
			t.Fatal(err)
		}
	}
	w := asked(h, "POST", "/v1/traces", nil, "Content-Type", typeProto)
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	h.leave()
	if w := asked(h, "POST", "/v1/traces", nil, "Content-Type", typeProto); w.Code != 200 {
		t.Errorf("%d with a place free", w.Code)
	}
}

// What breaks in the reading of one export is an error of that export.
func TestAPanicIsAnError(t *testing.T) {
	h, _, refused := handling()
	h.take = func([]batch) { panic("secret") }
	w := asked(h, "POST", "/v1/traces", nil, "Content-Type", typeProto)
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || refused["internal error"] != 1 {
		t.Errorf("%d %q, refused %v", w.Code, w.Body.String(), refused)
	}
	h.take = func([]batch) {}
	if w := asked(h, "POST", "/v1/traces", nil, "Content-Type", typeProto); w.Code != 200 {
		t.Errorf("then %d", w.Code)
	}
}

func TestGRPC(t *testing.T) {
	p, c := listening(t, "http://127.0.0.1:8000")
	good := bytesOf(t, from("vllm", vllmSpan(1, 2, 0, 0)))
	c.now = at(3)
	promised := framed(nil, false)
	promised[1] = 0xff
	cases := []struct {
		name, method string
		body         []byte
		headers      []string
		code         string
		message      string
	}{
		{"plain", traceMethod, framed(good, false), nil, "0", ""},
		{"gzip", traceMethod, framed(good, true), []string{"Grpc-Encoding", "gzip"}, "0", ""},
		{"a coding that is not used", traceMethod, framed(good, false), []string{"Grpc-Encoding", "gzip"}, "0", ""},
		{"empty", traceMethod, framed(nil, false), nil, "0", ""},
		{"metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", framed([]byte("x"), false), nil, "0", ""},
		{"logs", "/opentelemetry.proto.collector.logs.v1.LogsService/Export", framed([]byte("x"), false), nil, "0", ""},
		{"another method", "/grpc.health.v1.Health/Check", framed(nil, false), nil, "12", refusedPath.why},
		{"another coding", traceMethod, framed(good, true), []string{"Grpc-Encoding", "zstd"}, "12", refusedCoding.why},
		{"no message", traceMethod, nil, nil, "3", refusedCutOff.why},
		{"a message cut off", traceMethod, framed(good, false)[:20], nil, "3", refusedCutOff.why},
		{"two messages", traceMethod, append(framed(good, false), framed(good, false)...), nil, "3", refusedMessage.why},
		{"a message that is none", traceMethod, framed([]byte("hello"), false), nil, "3", refusedMessage.why},
		{"another flag", traceMethod, append([]byte{9}, framed(nil, false)[1:]...), nil, "3", refusedMessage.why},
		{"4 GiB promised", traceMethod, promised, nil, "3", refusedSize.why},
		{"a gzip bomb", traceMethod, framed(make([]byte, 2*maxBody), true), []string{"Grpc-Encoding", "gzip"}, "3", refusedSize.why},
	}
	for _, c := range cases {
		code, message, body := call(t, p, c.method, c.body, c.headers...)
		want := ""
		if c.code == "0" {
			want = "\x00\x00\x00\x00\x00"
		}
		if code != c.code || message != c.message || body != want {
			t.Errorf("%s: %s %q %q, want %s %q", c.name, code, message, body, c.code, c.message)
		}
	}
	got, err := readSet(t, p)
	if s := got["http://127.0.0.1:8000"]; s == nil || len(s.Finished) != 1 {
		t.Errorf("got %+v", got)
	}
	if err == nil || !strings.Contains(err.Error(), "2 exports refused, over 4 MiB") {
		t.Errorf("error %v", err)
	}
}

// A marker in everything that may hold text of a user is in nothing that comes out.
func TestNoTextGetsThrough(t *testing.T) {
	const marker = "PLANTED-4711"
	hidden := attrs("gen_ai.prompt", marker, "gen_ai.completion", marker, "gen_ai.input.messages", marker, "gen_ai.output.messages", []string{marker},
		"gen_ai.prompt.0.content", marker, "gen_ai.system_instructions", marker, "llm.prompts", marker, "parameters", marker, "user.id", marker, "x_request_id", marker,
		"gen_ai.request.id", marker, "rid", marker, "request_id", marker, "thread_label", marker, "gen_ai.response.finish_reasons", marker)
	poisoned := func(s *tracepb.Span) *tracepb.Span {
		s.Attributes = append(hidden, s.Attributes...)
		s.Events = append(s.Events, &tracepb.Span_Event{Name: marker, Attributes: hidden})
		s.Links = append(s.Links, &tracepb.Span_Link{TraceState: marker, Attributes: hidden})
		s.Status = &tracepb.Status{Message: marker}
		s.TraceState = marker
		return s
	}
	p, c := listening(t)
	c.now = at(2)
	spans := append(sglangSpans(2, 2, 0), vllmSpan(1, 2, 0, 0), tgiSpan(3, 2, 0, 0), sp(4, 2, 0, marker, 0, 1), vllmSpan(5, 2, 0, 0, "gen_ai.latency.time_in_queue", marker),
		sp(6, 2, 0, "http-request", 0, 2, attrs("uri", "/v1/completions?q="+marker)...), sp(6, 3, 2, "handle_payload", 0.1, 1))
	for _, s := range spans {
		poisoned(s)
	}
	overGRPC(t, p, from("sglang", spans...))
	held := fmt.Sprintf("%+v", p.spans.recent)
	for _, x := range p.spans.traces {
		held += fmt.Sprintf("%+v %v", x.anchors, x.stages)
		for _, y := range x.anchors {
			held += fmt.Sprintf("%+v", y.facts)
		}
	}
	post(t, client(t, false), "http://"+p.Addr()+"/v1/"+marker, []byte(marker), "Content-Type", marker)
	c.now = at(20)
	got, err := readSet(t, p)
	out := fmt.Sprintf("%v", err)
	n := 0
	for endpoint, s := range got {
		out += endpoint + fmt.Sprintf("%+v", s)
		for _, r := range s.Finished {
			out += fmt.Sprintf("%+v", r)
			n++
		}
	}
	if n < 3 || err == nil {
		t.Errorf("%d requests, error %v: the marker had nowhere to be", n, err)
	}
	if strings.Contains(out, marker) || strings.Contains(held, marker) {
		t.Errorf("the marker is in what is told or held:\n%s\n%s", out, held)
	}
}

// Attributes beyond the bound, and texts beyond theirs, are not looked at.
func TestAttributesAreBounded(t *testing.T) {
	var list []*commonpb.KeyValue
	for i := range maxAttributes {
		list = append(list, attr(fmt.Sprint("x", i), i))
	}
	list = append(list, attr("gen_ai.usage.prompt_tokens", 7))
	if f := factsOf(list); f != nil {
		t.Errorf("read %+v beyond %d attributes", f, maxAttributes)
	}
	f := factsOf(attrs("gen_ai.request.id", strings.Repeat("x", maxText+1), "queue_time", strings.Repeat("1", maxText)+"ms", "gen_ai.usage.prompt_tokens", math.Inf(1), "gen_ai.latency.e2e", math.NaN()))
	if f.id != "" || f.all(factQueue) || f.all(factPrompt) || f.all(factE2E) {
		t.Errorf("%+v", f)
	}
	f = factsOf([]*commonpb.KeyValue{nil, {Key: "queue_time"}, attr("queue_time", "12.5µs"), attr("inference_time", "1.5s"), attr("total_time", "90s"), attr("validation_time", "850ns")})
	if f.number[factQueue] != 12.5e-6 || f.number[factInference] != 1.5 || f.number[factTotal] != 90 || f.number[factValidation] != 850e-9 {
		t.Errorf("durations %+v", f.number)
	}
}

func TestFinishWords(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{{"stop", "stop"}, {`["length"]`, "length"}, {[]string{"abort", "stop"}, "abort"}, {"eos_token", "stop"}, {"a secret", ""}, {`["`, ""}, {7, ""}, {`[]`, ""}} {
		f := factsOf(attrs("gen_ai.response.finish_reasons", c.value))
		if f.finish != c.want {
			t.Errorf("%v: %q, want %q", c.value, f.finish, c.want)
		}
	}
}
