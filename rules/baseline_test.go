package rules

import (
	"math"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func record1(second float64, value float64) tickRecord {
	s := make(Signals, len(table))
	s[tableIndex["requests.rate"]] = probes.Some(5.0)
	s[tableIndex["ttft.p95"]] = probes.Some(value)
	return tickRecord{at: at(second), signals: s, requests: 5}
}

// TestBaselineDoesNotLearnTheIncident: what comes while a symptom may be starting
// waits; it is dropped when it was one and learned when it was not.
func TestBaselineDoesNotLearnTheIncident(t *testing.T) {
	b, ttft := newBaseline(), tableIndex["ttft.p95"]
	for i := range 40 {
		b.observe(record1(float64(i), 0.1), false, time.Time{})
	}
	for i := 40; i < 50; i++ {
		b.observe(record1(float64(i), 9), true, time.Time{})
	}
	for i := 50; i < 300; i++ {
		b.observe(record1(float64(i), 9), false, at(40))
	}
	if got := b.noise(ttft).Or(0); got != 0.1 {
		t.Errorf("the noise is %g after an incident, want 0.1", got)
	}
	for i := 300; i < 340; i++ {
		b.observe(record1(float64(i), 0.2), i < 310, time.Time{})
	}
	if got := b.noise(ttft).Or(0); got != 0.2 {
		t.Errorf("the noise is %g after a burst that was none, want 0.2", got)
	}
}

func TestBaselineNeedsTimeAndRequests(t *testing.T) {
	b := newBaseline()
	for i := range 19 {
		b.observe(record1(float64(i), 0.1), false, time.Time{})
	}
	if b.ready() || !strings.Contains(b.gathering(at(18)), "18 s of 20 s") {
		t.Errorf("ready %v, gathering %q", b.ready(), b.gathering(at(18)))
	}
	for i := 19; i < 30; i++ {
		b.observe(record1(float64(i), 0.1), false, time.Time{})
	}
	if !b.ready() || b.sure() || b.source() != fromWindow || b.gathering(at(30)) != "" {
		t.Errorf("ready %v, sure %v, source %d", b.ready(), b.sure(), b.source())
	}
	few := newBaseline()
	for i := range 60 {
		r := record1(float64(i), 0.1)
		r.requests = float64(i % 10 / 9)
		few.observe(r, false, time.Time{})
	}
	if few.ready() || few.source() != fromSLO {
		t.Errorf("%g requests are enough", few.requests)
	}
}

// TestBaselineForgets: ten minutes are kept, in memory too.
func TestBaselineForgets(t *testing.T) {
	b, ttft := newBaseline(), tableIndex["ttft.p95"]
	for i := range 2000 {
		b.observe(record1(float64(i), float64(i)), false, time.Time{})
	}
	if len(b.admitted) > 610 || len(b.spread[ttft]) != len(b.admitted) || b.requests != 5*float64(len(b.admitted)) {
		t.Errorf("%d ticks, %d values, %g requests", len(b.admitted), len(b.spread[ttft]), b.requests)
	}
	if got := b.value(ttft).Or(0); math.Abs(got-1695) > 10 {
		t.Errorf("median %g, want about 1695", got)
	}
}

// TestLifetimeBaseline: the cumulative histograms of the first scrape are everything before we attached.
func TestLifetimeBaseline(t *testing.T) {
	many := func(v float64) *probes.Histogram {
		values := make([]float64, 100)
		for i := range values {
			values[i] = v
		}
		return histogramOf(values...)
	}
	p := engineAt(0, func(e *probes.Engine) {
		e.TTFT, e.Queue, e.Prefill, e.Decode, e.E2E, e.TPOT = many(0.4), many(0.1), many(0.25), many(2), many(2.4), many(0.02)
	})
	b := newBaseline()
	b.life = lifetimeOf(p)
	if b.source() != fromLifetime || !strings.Contains(b.String(), "100 requests") {
		t.Fatalf("source %d: %s", b.source(), b)
	}
	for name, want := range map[string]float64{"ttft.mean": 0.4, "stage.queue.mean": 0.1, "stage.prefill.mean": 0.25, "stage.frontend.mean": 0.05, "stage.decode.mean": 2, "ttft.p95": 0.48} {
		if got, ok := b.value(tableIndex[name]).Get(); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	if b.value(tableIndex["queue.depth"]).Seen() {
		t.Error("a gauge has no lifetime")
	}
	few := lifetimeOf(engineAt(0, func(e *probes.Engine) { e.TTFT = histogramOf(1, 2, 3) }))
	if few.ok {
		t.Error("three requests are no history")
	}
}

// TestAttributionOfCoarseAgainstFine: what is told apart on one side only is folded together.
func TestAttributionOfCoarseAgainstFine(t *testing.T) {
	var now parts
	now.n, now.total = 1, 3
	now.sum[probes.StageTokenize], now.sum[probes.StageQueue], now.sum[probes.StagePrefill] = 0.5, 2, 0.5
	base := parts{n: 10, total: 4, coarse: true}
	base.sum[partFrontend], base.sum[probes.StageQueue], base.sum[probes.StagePrefill] = 1, 1, 2
	got := attribute("ttft", now, base)
	want := map[string]float64{"queue": 1.9, "frontend": 0.4, "prefill": 0.3}
	if len(got) != len(want) || got[0].Stage != "queue" {
		t.Fatalf("%+v", got)
	}
	for _, a := range got {
		if math.Abs(a.DeltaSeconds-want[a.Stage]) > 1e-9 || math.Abs(a.Share-want[a.Stage]/2.6) > 1e-9 {
			t.Errorf("%+v, want %g", a, want[a.Stage])
		}
	}
	if attribute("ttft", base, now.coarsened()) != nil {
		t.Error("a latency that fell was attributed")
	}
}
