package rules

import (
	"math"
	"sort"

	"llmtop/probes"
)

// freshStages are the parts of the requests that ended since the previous tick,
// each request once: what the baseline adds up, and how many requests they are.
func freshStages(n *now, previous *probes.Point) (m stageMeans, requests float64) {
	if n.whole() || (n.exact && len(n.ends) == 0) {
		seconds := math.Inf(1)
		if previous != nil {
			seconds = n.at.Sub(previous.At).Seconds()
		}
		done := n.records.since(seconds)
		for o := range done {
			requests++
			m.tpot.n += math.Max(float64(o.of.OutputTokens-1), 0)
			m.tpot.sum[probes.StageDecode] += o.of.Stages[probes.StageDecode]
		}
		m.tpot.total = m.tpot.sum[probes.StageDecode]
		m.ttft, m.e2e = beforeFirstToken(done), whole(done)
		return m, requests
	}
	if previous == nil {
		return m, 0
	}
	last := &lookback{View: n.span.Between(previous.At, n.at)}
	s := sumsOver(n, last)
	waiting, _ := n.area(last.View, waitingRequests).Get()
	m = s.split(waiting)
	tpot := countOf(n.observed(last, tpotHistogram))
	m.tpot = parts{n: tpot.n, total: tpot.sum, coarse: true}
	m.tpot.sum[probes.StageDecode] = tpot.sum
	return m, s.requests()
}

// attribute splits an added latency: mean seconds per request of each part now,
// less what it was. The parts add up to the added mean exactly, so the shares add
// up to 1; a part that got faster has a negative share. Empty when the mean did not
// rise. Without a baseline the whole latency is split.
func attribute(of string, now, base parts) []Attribution {
	if now.n <= 0 {
		return nil
	}
	if base.n > 0 && now.coarse != base.coarse {
		now, base = now.coarsened(), base.coarsened()
	}
	var delta [numParts]float64
	added := 0.0
	for i := range delta {
		delta[i] = now.sum[i] / now.n
		if base.n > 0 {
			delta[i] -= base.sum[i] / base.n
		}
		added += delta[i]
	}
	if added <= 0 {
		return nil
	}
	var out []Attribution
	for i, d := range delta {
		if d != 0 {
			out = append(out, Attribution{Of: of, Stage: partName(i), DeltaSeconds: d, Share: d / added})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].DeltaSeconds > out[j].DeltaSeconds })
	return out
}

// attributions splits every latency that has a symptom.
func attributions(families map[string]bool, now, base stageMeans) (out []Attribution, coarse bool) {
	out = []Attribution{}
	for _, f := range []struct {
		of        string
		now, base parts
	}{{"ttft", now.ttft, base.ttft}, {"tpot", now.tpot, base.tpot}, {"e2e", now.e2e, base.e2e}} {
		if families[f.of] {
			out = append(out, attribute(f.of, f.now, f.base)...)
			coarse = coarse || (f.of != "tpot" && (f.now.coarse || f.base.coarse))
		}
	}
	return out, coarse
}
