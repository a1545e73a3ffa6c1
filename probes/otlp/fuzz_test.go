package otlp

import (
	"bytes"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"llmtop/probes"
)

// checked reads what an export became and fails the test when it is not fit for use.
func checked(t *testing.T, got []batch) {
	a := newAssembler()
	for _, b := range got {
		a.add(at(3), b)
		a.add(at(4), b)
	}
	for _, second := range []float64{3, 30, 1e4} {
		for _, d := range a.collect(at(second)) {
			if d.fault == "" {
				soundly(t, d.request)
			} else if d.request != nil && d.fault != faultTimes {
				t.Errorf("a request beside %q", d.fault)
			}
			if end := d.service.endpoint(nil); end != "otlp:"+probes.Printable(end[5:], maxServiceName+3) {
				t.Errorf("endpoint %q", end)
			}
		}
	}
	if a.stored != 0 || len(a.traces) != 0 {
		t.Errorf("%d spans in %d traces left", a.stored, len(a.traces))
	}
}

func seeds(f *testing.F) (out []*tracepb.TracesData) {
	deep := vllmSpan(1, 2, 0, 0, "gen_ai.response.finish_reasons", []string{"stop", "length"})
	deep.Events = []*tracepb.Span_Event{{Name: "retract", Attributes: attrs("a", 1)}}
	return []*tracepb.TracesData{
		from("vllm", deep), from("sglang", sglangSpans(1, 2, 0)...), from("tgi", tgiSpan(1, 2, 0, 0)),
		from("dynamo", sp(1, 2, 0, "http-request", 0, 2.2, attrs("uri", "/v1/completions")...), sp(1, 5, 2, "handle_payload", 0.05, 2.15), vllmSpan(1, 9, 5, 0.1)),
	}
}

func FuzzProto(f *testing.F) {
	for _, m := range seeds(f) {
		f.Add(bytesOf(f, m))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if got, err := decodeProto(body); err == nil {
			checked(t, got)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, m := range seeds(f) {
		f.Add(jsonOf(f, m))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if got, err := decodeJSON(body); err == nil {
			checked(t, got)
		}
	})
}

func FuzzHTTP(f *testing.F) {
	good := bytesOf(f, from("vllm", vllmSpan(1, 2, 0, 0)))
	f.Add("POST", "/v1/traces", typeProto, "gzip", zipped(good))
	f.Add("POST", "/v1/traces", typeJSON, "", []byte(`{"resourceSpans":[{}]}`))
	f.Add("POST", traceMethod, typeGRPC+"+proto", "gzip", framed(good, true))
	f.Add("PUT", "/v1/metrics", typeGRPC, "identity", framed(good, false))
	f.Fuzz(func(t *testing.T, method, path, contentType, coding string, body []byte) {
		if path == "" || path[0] != '/' || !token(method) || strings.Contains(method, "/") || !token(path[1:]) {
			return
		}
		h, _, _ := handling()
		w := asked(h, method, path, bytes.NewReader(body), "Content-Type", contentType, "Content-Encoding", coding, "Grpc-Encoding", coding)
		if w.Code < 200 || w.Code == 500 || w.Body.Len() > 200 {
			t.Errorf("%d %q", w.Code, w.Body.String())
		}
		if _, err := unframe(bytes.NewReader(body), coding); err != nil && refusalOf(err) == refusedInternal {
			t.Errorf("%v", err)
		}
	})
}

// token reports what can stand in a request line.
func token(s string) bool {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '/' || c == '.') {
			return false
		}
	}
	return s != ""
}
