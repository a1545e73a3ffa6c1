package panes

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// engine is one that tells most things; its engine of ranks has the given name.
func engine(endpoint, rank string, running, waiting, kv float64) *probes.Engine {
	return &probes.Engine{At: noon.Add((history - 1) * time.Second), Endpoint: endpoint, Dialect: "vllm", Model: "acme/llama-70b", Instance: rank,
		Running: probes.Some(running), Waiting: probes.Some(waiting), KVUsage: probes.Some(kv), GenerationTokens: probes.Some(1234567.0),
		StartUnixSecs: probes.Some(float64(noon.Unix() - 3600)), Finished: probes.Some(9120.0),
		Waits:   []probes.Wait{{Name: "capacity", Depth: waiting}, {Name: "deferred", Depth: 0}},
		TTFT:    &probes.Histogram{Bounds: []float64{0.1, 0.5}, Cumulative: []float64{90, 99}, Count: 100, Sum: 8},
		TPOT:    &probes.Histogram{Count: 1000, Sum: 31.6},
		Prefill: &probes.Histogram{Bounds: []float64{0.3}, Cumulative: []float64{100}, Count: 100, Sum: 4},
		Origins: map[string]probes.Origin{"running": probes.Exact, "waiting": probes.Exact, "kv_usage_ratio": probes.Exact, "generation_tokens_total": probes.Exact,
			"start_unix_seconds": probes.Exact, "finished_total": probes.Exact, "ttft_seconds": probes.Exact, "tpot_seconds": probes.Difference, "prefill_seconds": probes.Estimated},
	}
}

// severalFrame: two replicas, of one of which a rank decodes three times as slowly; a
// third replica is silent. TTFT comes from a histogram with coarse buckets.
func severalFrame() Frame {
	ticks := calmTicks()
	t := *ticks[history-1]
	p := *t.Point
	first, second, gone := engine("http://127.0.0.1:8000", "", 12, 0, 0.4), engine("http://127.0.0.1:8001", "", 20, 9, 0.7), engine("http://10.0.0.7:8000", "", 3, 0, 0.1)
	gone.At = gone.At.Add(-40 * time.Second)
	first.Parts = []*probes.Engine{engine(first.Endpoint, "0", 6, 0, 0.4), engine(first.Endpoint, "1", 6, 0, 0.35)}
	second.Parts = []*probes.Engine{engine(second.Endpoint, "0", 10, 0, 0.5), engine(second.Endpoint, "1", 10, 9, 0.7)}
	p.Engines = []*probes.Engine{first, second, gone}
	p.Sample = &probes.Sample{At: p.At, Interval: p.Interval, Scrapes: p.Scrapes, Host: p.Host, Process: p.Process, GPU: p.GPU,
		Probes: append(p.Probes, probes.ProbeStatus{Name: "profile :8000", Err: "http://127.0.0.1:8000: CPU profiles are not exposed by this engine", Lacks: true, EverySeconds: 10}),
		Configs: []*probes.EngineConfig{{At: p.At, Endpoint: first.Endpoint, Version: "0.12.1", PID: 4711, Facts: []probes.Fact{{Name: "graphs", Value: "on"}, {Name: "max_num_seqs", Value: "256"}, {Name: "tensor_parallel", Value: "2"}},
			Ranks: []probes.Rank{{Name: "dp0", PID: 4720}, {Name: "dp1", PID: 4721}}}}}
	t.Point = &p
	told := func(e *probes.Engine, tpot float64, peers probes.Opt[float64]) rules.Instance {
		return rules.Instance{Engine: e, TokensOut: probes.Some(310.0), TTFT: probes.Some(0.08), TPOT: probes.Some(tpot), Observed: 40, TPOTOfPeers: peers, QueueOfPeers: probes.Some(1 + e.Waiting.Or(0))}
	}
	t.Instances = []rules.Instance{told(first.Parts[0], 0.011, probes.Some(1.0)), told(first.Parts[1], 0.0114, probes.Some(1.0)),
		told(second.Parts[0], 0.0109, probes.Some(1.0)), told(second.Parts[1], 0.034, probes.Some(3.1)), {Engine: gone, Silent: 40 * time.Second}}
	t.Buckets = make([]rules.Bucket, len(rules.Table()))
	for i, s := range rules.Table() {
		switch s.Name {
		case "ttft.p50":
			t.Buckets[i] = rules.Bucket{Low: 0, High: 0.1}
		case "ttft.p99":
			t.Buckets[i] = rules.Bucket{Low: 2560, High: math.Inf(1)}
		}
	}
	v := calm(history - 1)
	v["queue.depth"], v["queue.oldest"], v["spec.acceptance"], v["step.p50"], v["step.p95"], v["step.mean"] = 9, 0, 0.72, 0.024, 0.031, 0.025
	t.Signals = signals(v)
	ticks[history-1] = &t
	return Frame{Ticks: ticks, Title: title}
}

func TestEnginesSheet(t *testing.T) {
	for _, size := range [...]struct{ w, h int }{{40, 12}, {80, 24}, {160, 48}} {
		r := start(t, size.w, size.h, &recorder{})
		r.show(severalFrame())
		sheet := r.typed('e', func(a *App) bool { return a.sheet == engineSheet })
		golden(t, fmt.Sprintf("sheet.%dx%d.screen", size.w, size.h), sheet)
		if back := r.typed('e', func(a *App) bool { return a.sheet == noSheet }); strings.Contains(back, "e closes") {
			t.Error("e does not close it")
		}
	}
}

// Where there is no room for all engines the odd ones are shown, silent ones before.
func TestOddEnginesFirst(t *testing.T) {
	v := newView(severalFrame(), 0, false)
	var b strings.Builder
	for _, r := range enginesRows(v, 80, 2) {
		for _, s := range r {
			b.WriteString(s.text)
		}
		b.WriteByte('\n')
	}
	if got := b.String(); !strings.Contains(got, "10.0.0.7:8000    silent for 40 s") || !strings.Contains(got, " wait ×10 +3\n") {
		t.Errorf("got\n%s", got)
	}
	alone := newView(normalFrame(), 0, false)
	if rows := enginesRows(alone, 80, 8); rows != nil {
		t.Errorf("one engine has no list: %v", rows)
	}
}
