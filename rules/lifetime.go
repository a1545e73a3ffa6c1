package rules

import (
	"time"

	"llmtop/probes"
)

// lifetimeNeeds is how many requests an engine must have answered before its
// lifetime histograms say anything [proposal].
const lifetimeNeeds = 20

// lifetime is what an engine's cumulative histograms held at the first scrape:
// everything before we attached, so that attaching in the middle of an incident works.
type lifetime struct {
	ok       bool
	tried    bool
	at       time.Time
	requests float64
	signals  Signals
	high     map[int]float64 // upper bound of the bucket a quantile lies in
	stages   stageMeans
	waited   bool // most of its TTFT was queueing, which is left out of the baseline
}

// An engine that kept its requests waiting for most of their TTFT was in trouble for
// most of its life (or is young and the trouble is): what is usual is then what is
// left of the TTFT without the queue.
const (
	waitedShare = 0.5 // of the mean TTFT [proposal]
	waitedLeast = 0.1 // seconds of mean queue
)

// lifetimeOf reads the first point that has an engine.
func lifetimeOf(p *probes.Point) lifetime {
	l := lifetime{tried: true, at: p.At, signals: make(Signals, len(table)), high: map[int]float64{}}
	all := func(d distribution) *probes.Histogram {
		var total *probes.Histogram
		for _, e := range speakers(p.Engines, distributions[d].Side, d.told) {
			total = merge(total, d.of(e))
		}
		return total
	}
	ttft, e2e := all(ttftHistogram), all(e2eHistogram)
	told := ttft
	if told == nil { // TGI
		told = e2e
	}
	if told == nil || told.Count < lifetimeNeeds {
		return l
	}
	l.ok, l.requests = true, told.Count
	tpot := all(tpotHistogram)
	step := all(stepHistogram)
	prompt := all(promptHistogram)
	output := all(outputHistogram)
	for name, h := range map[string]*probes.Histogram{"ttft": ttft, "tpot": tpot, "e2e": e2e, "step": step, "prompt": prompt, "output": output} {
		l.quantiles(name, h)
	}
	s := sums{ttft: countOf(ttft), e2e: countOf(e2e), frontend: countOf(all(frontendHistogram)),
		queue:   countOf(all(queueHistogram)),
		prefill: countOf(all(prefillHistogram)),
		decode:  countOf(all(decodeHistogram))}
	l.stages = s.split(0)
	l.stages.tpot = parts{n: countOf(tpot).n, total: countOf(tpot).sum, coarse: true}
	l.stages.tpot.sum[probes.StageDecode] = l.stages.tpot.total
	l.leaveQueueOut()
	l.means(s, countOf(prompt))
	return l
}

// leaveQueueOut makes the baseline of an engine that mostly queued: latencies without
// the queue, as means since their quantiles cannot be told apart from it.
func (l *lifetime) leaveQueueOut() {
	queue := l.stages.ttft.mean(int(probes.StageQueue)).Or(0)
	if l.stages.ttft.n == 0 || queue < waitedLeast || queue < waitedShare*l.stages.ttft.total/l.stages.ttft.n {
		return
	}
	l.waited = true
	l.stages.ttft = l.stages.ttft.without(probes.StageQueue)
	l.stages.e2e = l.stages.e2e.without(probes.StageQueue)
	for name, p := range map[string]parts{"ttft": l.stages.ttft, "e2e": l.stages.e2e} {
		for _, suffix := range []string{"p50", "p95", "p99", "mean"} {
			if i, ok := tableIndex[name+"."+suffix]; ok {
				delete(l.high, i)
				if l.signals[i] = missing(); p.n > 0 {
					l.signals[i] = probes.Some(p.total / p.n)
				}
			}
		}
	}
}

// quantiles sets the signals NAME.p50 … and NAME.mean that the table has.
func (l *lifetime) quantiles(name string, h *probes.Histogram) {
	for suffix, q := range map[string]float64{"p50": 0.50, "p95": 0.95, "p99": 0.99} {
		if i, ok := tableIndex[name+"."+suffix]; ok {
			estimate, _, high := h.Quantile(q)
			l.signals[i] = estimate
			if estimate.Seen() {
				l.high[i] = high
			}
		}
	}
	if i, ok := tableIndex[name+".mean"]; ok {
		l.signals[i] = h.Mean()
	}
}

func (l *lifetime) means(s sums, prompt count) {
	set := func(name string, v probes.Opt[float64]) { l.signals[tableIndex[name]] = v }
	set("stage.queue.mean", l.stages.ttft.mean(int(probes.StageQueue)))
	set("stage.prefill.mean", l.stages.ttft.mean(int(probes.StagePrefill)))
	set("stage.decode.mean", l.stages.e2e.mean(int(probes.StageDecode)))
	set("stage.frontend.mean", l.stages.ttft.mean(partFrontend))
	if s.prefill.sum > 0 && prompt.sum > 0 {
		set("prefill.per_token", probes.Some(s.prefill.sum/prompt.sum))
	}
}
