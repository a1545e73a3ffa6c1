package rules

import (
	"testing"
	"time"

	"llmtop/probes"
)

// traced is a section of traces: what finished, and nothing else.
func traced(second float64, endpoint string, done ...*probes.Request) *probes.Requests {
	return &probes.Requests{At: at(second), Endpoint: endpoint, Finished: done, FinishedOnly: true}
}

// coarsely is a request as vLLM's trace tells it: 0.1 s before the queue.
func coarsely(queue, prefill, decode float64) *probes.Request {
	r := &probes.Request{State: "finished", PromptTokens: 100, OutputTokens: 11, Coarse: true}
	r.Stages[probes.StageReceive], r.Stages[probes.StageQueue], r.Stages[probes.StagePrefill], r.Stages[probes.StageDecode] = 0.1, queue, prefill, decode
	r.TTFTSeconds, r.E2ESeconds = probes.Some(0.1+queue+prefill), probes.Some(0.1+queue+prefill+decode)
	return r
}

func several(n int, r func() *probes.Request) (out []*probes.Request) {
	for range n {
		out = append(out, r())
	}
	return out
}

// scraped is an engine with counters, gauges and histograms (TTFT 2 s), n requests in.
func scraped(second float64, n int, in ...*probes.Requests) *probes.Point {
	p := engineAt(second, func(e *probes.Engine) {
		var ttft []float64
		for range n {
			ttft = append(ttft, 2)
		}
		e.TTFT, e.Finished = histogramOf(ttft...), probes.Some(float64(n))
		e.Running, e.Waiting = probes.Some(8.0), probes.Some(float64(n)/10)
	})
	p.Sample.Requests = in
	return p
}

// TestTracesAreNotCounted: a sample of what finished tells latencies and stages; how
// many there are and what is in flight stands in counters and gauges.
func TestTracesAreNotCounted(t *testing.T) {
	done := several(6, func() *probes.Request { return coarsely(0.5, 0.4, 1) })
	s := fromPoints(scraped(0, 0), scraped(10, 100, traced(10, "http://e", done...)))
	near(t, s, "ttft.p50", 1)
	near(t, s, "e2e.p50", 2)
	near(t, s, "tpot.p50", 0.1)
	near(t, s, "prompt.p50", 100)
	near(t, s, "stage.queue.mean", 0.5)
	near(t, s, "stage.queue.share", 0.25)
	near(t, s, "stage.frontend.mean", 0.1)
	near(t, s, "stage.decode.mean", 1)
	near(t, s, "prefill.per_token", 0.004)
	absent(t, s, "stage.tokenize.mean", probes.NotExposed)
	near(t, s, "requests.rate", 10)
	near(t, s, "arrivals.rate", 11)
	near(t, s, "batch.running", 8)
	near(t, s, "queue.depth", 10)
	absent(t, s, "queue.oldest", probes.NotSeen)
}

// TestTracesAloneKnowNothingInFlight: without counters and gauges nothing is 0.
func TestTracesAloneKnowNothingInFlight(t *testing.T) {
	done := several(6, func() *probes.Request { return coarsely(0.5, 0.4, 1) })
	s := signalsOf(sample(0, traced(0, "otlp:a")), sample(10, traced(10, "otlp:a", done...)))
	near(t, s, "ttft.p95", 1)
	near(t, s, "stage.queue.mean", 0.5)
	for _, name := range []string{"requests.rate", "arrivals.rate", "batch.running", "queue.depth", "queue.slope", "queue.oldest", "refused.share"} {
		absent(t, s, name, probes.NotSeen)
	}
}

// TestFewTracesLeaveItToHistograms: too few requests in a trace, or old ones, and the
// histograms of all requests speak.
func TestFewTracesLeaveItToHistograms(t *testing.T) {
	few := traced(10, "http://e", several(4, func() *probes.Request { return coarsely(0.5, 0.4, 1) })...)
	s := fromPoints(scraped(0, 0), scraped(10, 100, few))
	near(t, s, "ttft.mean", 2)
	near(t, s, "e2e.p50", 2)
	many := traced(10, "http://e", several(20, func() *probes.Request { return coarsely(0.5, 0.4, 1) })...)
	s = fromPoints(scraped(0, 0), scraped(10, 0, many), scraped(25, 100, many))
	near(t, s, "ttft.mean", 2)
	s = fromPoints(scraped(0, 0), scraped(10, 0, many), scraped(25, 0, many))
	near(t, s, "ttft.mean", 1) // nothing else is known
}

// TestTracesStandBetweenBatches: exporters send every few seconds; a section that is not
// renewed stands for as long as the requests in it count.
func TestTracesStandBetweenBatches(t *testing.T) {
	batch := traced(10, "http://e", several(20, func() *probes.Request { return coarsely(0.5, 0.4, 1) })...)
	s := fromPoints(scraped(0, 0), scraped(10, 0, batch), scraped(18, 0, batch))
	near(t, s, "ttft.p50", 1)
	s = fromPoints(scraped(11, 0, batch), scraped(42, 0, batch))
	absent(t, s, "ttft.p50", probes.NotSeen)
	absent(t, s, "stage.queue.mean", probes.NotSeen)
}

// TestTracesOfOthersAreLeftOut: what another service sends is no measure of this engine.
func TestTracesOfOthersAreLeftOut(t *testing.T) {
	foreign := traced(10, "otlp:a", several(50, func() *probes.Request { return coarsely(9, 0.4, 1) })...)
	own := &probes.Requests{At: at(10), Endpoint: "http://e", InFlight: 3, Finished: several(10, func() *probes.Request { return finished(1, 0.1, 0.1, 1, 11) })}
	first := &probes.Requests{At: at(0), Endpoint: "http://e", InFlight: 1}
	s := fromPoints(scraped(0, 0, first), scraped(10, 100, foreign, own))
	near(t, s, "ttft.p99", 0.2)
	near(t, s, "requests.rate", 1)
	near(t, s, "arrivals.rate", 1.2)
	s = fromPoints(scraped(0, 0), scraped(10, 100, foreign))
	near(t, s, "ttft.mean", 2)
}

// TestUntoldFirstTokensAreNotWaits: TGI does not tell the first token. Its requests did
// not give up waiting for it, and their stages are those of the whole request.
func TestUntoldFirstTokensAreNotWaits(t *testing.T) {
	done := several(6, func() *probes.Request {
		r := coarsely(0.5, 0.1, 1.3)
		r.TTFTSeconds, r.PromptTokens = probes.Opt[float64]{}, 0
		return r
	})
	s := signalsOf(sample(0, traced(0, "http://e")), sample(10, traced(10, "http://e", done...)))
	absent(t, s, "ttft.p99", probes.NotSeen)
	absent(t, s, "prefill.per_token", probes.NotSeen)
	near(t, s, "e2e.p50", 2)
	near(t, s, "stage.queue.mean", 0.5)
	near(t, s, "stage.queue.share", 0.25)
	near(t, s, "stage.frontend.mean", 0.1)
}

// TestFinishedWithoutAReasonHasAnEnd: traces often tell no finish reason; the request
// is over all the same and its prompt no news for ever.
func TestFinishedWithoutAReasonHasAnEnd(t *testing.T) {
	old := several(6, func() *probes.Request { return coarsely(0.5, 0.4, 1) })
	late := several(6, func() *probes.Request { r := coarsely(0.5, 0.4, 1); r.PromptTokens = 900; return r })
	s := signalsOf(sample(0, traced(0, "otlp:a", old...)), sample(15, traced(15, "otlp:a", late...)))
	near(t, s, "prompt.p50", 900)
}

// TestTracesDoNotMakeAnEngineOurs: commands stay in the engine's own dialect.
func TestTracesDoNotMakeAnEngineOurs(t *testing.T) {
	p := scraped(0, 0, traced(0, "http://e"))
	if got := engineName(p); got != "vllm" {
		t.Errorf("engine %q, want vllm", got)
	}
	p.Sample.Requests = append(p.Sample.Requests, &probes.Requests{At: at(0), Endpoint: "http://e"})
	if got := engineName(p); got != "llmtop" {
		t.Errorf("engine %q, want llmtop", got)
	}
}

// TestTracesDoNotKeepADeadEngineAlive: spans that were on their way come after the end.
func TestTracesDoNotKeepADeadEngineAlive(t *testing.T) {
	p := scraped(60, 10, traced(58, "http://e"))
	p.Engines[0].At = at(20)
	w := probes.NewWindow(time.Hour, func(*probes.Sample) *probes.Point { return p })
	if look(w, w.Push(p.Sample)).alive() {
		t.Error("an engine that was last read 40 s ago is alive by a trace")
	}
	p.Engines = nil
	if !look(w, w.Push(p.Sample)).alive() {
		t.Error("an engine that is known by its traces alone is not alive by them")
	}
}

// TestTracesTellNoQueue: the queue of a point is not the 0 requests that traces have in it.
func TestTracesTellNoQueue(t *testing.T) {
	var all []*probes.Sample
	for i := range 6 {
		all = append(all, sample(float64(i), traced(float64(i), "otlp:a", several(6, func() *probes.Request { return coarsely(0.5, 0.4, 1) })...)))
	}
	absent(t, signalsOf(all...), "queue.slope", probes.NotSeen)
}

// TestTracesAloneMakeABaseline: an engine whose metrics are not known is judged by what
// its traces told while it was healthy.
func TestTracesAloneMakeABaseline(t *testing.T) {
	d := NewDiagnoser(&Book{}, Options{})
	for i := range 60 {
		d.Observe(sample(float64(i), traced(float64(i), "otlp:a", coarsely(0.01, 0.04, 0.3))))
	}
	if !d.base.ready() {
		t.Errorf("no baseline: %s", d.base.text(at(60)))
	}
	if queue := d.base.stages().ttft.mean(int(probes.StageQueue)).Or(0); queue < 0.0099 || queue > 0.0101 {
		t.Errorf("usual queue %g s", queue)
	}
}

// TestBaselineCountsAllRequests: beside an engine's metrics, traces are a sample.
func TestBaselineCountsAllRequests(t *testing.T) {
	points := []*probes.Point{scraped(0, 0), scraped(9, 40), scraped(10, 100, traced(10, "http://e", several(6, func() *probes.Request { return coarsely(0.5, 0.4, 1) })...))}
	i := -1
	w := probes.NewWindow(time.Hour, func(*probes.Sample) *probes.Point { i++; return points[i] })
	var n *now
	for range points {
		n = look(w, w.Push(points[i+1].Sample))
	}
	if _, requests := freshStages(n, points[1]); requests != 60 {
		t.Errorf("%g requests since the previous tick, want 60", requests)
	}
}
