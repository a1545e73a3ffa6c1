package otlp

import (
	"fmt"
	"math"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"llmtop/probes"
	"llmtop/rules"
)

// TestSpansReachTheRules sends twenty requests of each engine over each protocol and
// holds what the rules make of the sample against what the spans told.
func TestSpansReachTheRules(t *testing.T) {
	engines := []struct {
		name   string
		spans  func(i int) []*tracepb.Span
		settle float64
		want   map[string]float64
		absent []string
	}{
		{"vLLM", func(i int) []*tracepb.Span { return []*tracepb.Span{vllmSpan(i, 2, 0, 0)} }, 0,
			map[string]float64{"ttft.p50": 0.9, "e2e.p50": 1.95, "tpot.p50": 0.1, "stage.queue.mean": 0.5, "stage.queue.share": 0.5 / 1.9, "stage.frontend.mean": 0.1, "prompt.p50": 100},
			[]string{"stage.tokenize.mean", "requests.rate", "batch.running", "queue.depth"}},
		{"SGLang", func(i int) []*tracepb.Span { return sglangSpans(i, 2, 0) }, 3,
			map[string]float64{"ttft.p50": 0.93, "e2e.p50": 2, "stage.queue.mean": 0.5, "stage.tokenize.mean": 0.04, "stage.prefill.mean": 0.29, "prompt.p50": 200},
			[]string{"stage.frontend.mean", "requests.rate", "arrivals.rate"}},
		{"TGI", func(i int) []*tracepb.Span { return []*tracepb.Span{tgiSpan(i, 2, 1, 0)} }, 0,
			map[string]float64{"e2e.p50": 2.00012, "tpot.p50": 0.15, "stage.queue.mean": 0.49875, "stage.queue.share": 0.49875 / 2, "output.p50": 10},
			[]string{"ttft.p50", "stage.tokenize.mean", "batch.running"}},
		{"Dynamo", func(i int) []*tracepb.Span {
			return []*tracepb.Span{vllmSpan(i, 9, 5, 0.6), sp(i, 2, 0, "http-request", 0, 2.6, attrs("uri", "/v1/completions")...), sp(i, 5, 2, "handle_payload", 0.4, 2.59)}
		}, 7,
			map[string]float64{"ttft.p50": 1.5, "e2e.p50": 2.6, "stage.queue.mean": 0.5, "stage.frontend.mean": 0.7},
			[]string{"stage.receive.mean", "requests.rate"}},
	}
	for _, e := range engines {
		for protocol, send := range map[string]func(testing.TB, *Probe, *tracepb.TracesData){"HTTP": overHTTP, "gRPC": overGRPC} {
			t.Run(fmt.Sprint(e.name, " over ", protocol), func(t *testing.T) {
				p, c := listening(t, "http://127.0.0.1:30000")
				c.now = at(3)
				var all []*tracepb.Span
				for i := range 20 {
					all = append(all, e.spans(i+1)...)
				}
				send(t, p, from("x", all...))
				c.now = at(3 + e.settle)
				signals := ruled(t, p, c)
				for name, want := range e.want {
					if got, ok := signals.Get(name).Get(); !ok || math.Abs(got-want) > 1e-4 {
						t.Errorf("%s = %g (%v), want %g", name, got, ok, want)
					}
				}
				for _, name := range e.absent {
					if v := signals.Get(name); v.Seen() {
						t.Errorf("%s = %v, want none", name, v)
					}
				}
			})
		}
	}
}

// ruled are the signals after a sample of now.
func ruled(t *testing.T, p *Probe, c *clock) rules.Signals {
	t.Helper()
	section, err := p.Read(t.Context())
	if err != nil || section == nil {
		t.Fatalf("read %v, %v", section, err)
	}
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	d := rules.NewDiagnoser(book, rules.Options{})
	d.Observe(&probes.Sample{Seq: 1, At: at(2), Interval: 1e9})
	sample := &probes.Sample{Seq: 2, At: probes.Stamp(c.now), Mono: 1e9, Interval: 1e9}
	section.AddTo(sample)
	return d.Observe(sample).Signals
}
