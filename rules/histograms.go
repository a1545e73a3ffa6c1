package rules

import "llmtop/probes"

// fromHistograms fills the latencies and stage means from what the engine's
// histograms gathered, for engines without per-request records.
func (n *now) fromHistograms() {
	n.ttft, n.ttftNow = n.histogram(ttftHistogram)
	n.tpot, n.tpotNow = n.histogram(tpotHistogram)
	n.e2e, n.e2eNow = n.histogram(e2eHistogram)
	n.prompt, _ = n.histogram(promptHistogram)
	n.output, _ = n.histogram(outputHistogram)
	view := &n.span
	h := sumsOver(n, view)
	if h.ttft.n < enough {
		view = &n.wide
		h = sumsOver(n, view)
	}
	area, _ := n.area(view.View, waitingRequests).Get()
	n.stages = h.split(area)
	if h.ttft.n == 0 && n.stages.ttft.n > 0 { // no engine tells it: an estimated mean, no quantiles
		n.ttft = latency{hist: &probes.Histogram{Count: n.stages.ttft.n, Sum: n.stages.ttft.total}, wide: view == &n.wide}
	}
	n.stages.tpot = parts{n: n.tpot.count(), coarse: true}
	if mean, ok := n.tpot.mean().Get(); ok {
		n.stages.tpot.total = mean * n.stages.tpot.n
		n.stages.tpot.sum[probes.StageDecode] = n.stages.tpot.total
	}
}

// histogram is one distribution over the now span, the wide span when that holds too few.
func (n *now) histogram(of distribution) (latency, quick) {
	h := n.observed(&n.span, of)
	few := h == nil || h.Count < enough
	if few {
		if wide := n.observed(&n.wide, of); wide != nil {
			h = wide
		}
	}
	if h == nil || h.Count <= 0 {
		return latency{}, quick{}
	}
	l := latency{hist: h, wide: few}
	q := quick{median: l.quantile(0.5), n: h.Count}
	if newest := n.observed(&n.recent, of); newest != nil && newest.Count >= 3 {
		q.median, _, _ = newest.Quantile(0.5)
		q.n = newest.Count
	}
	return l, q
}

// sums are the counts and seconds of the engine's stage histograms over a view.
type sums struct {
	ttft, frontend, queue, prefill, decode, e2e count
}

type count struct{ n, sum float64 }

func countOf(h *probes.Histogram) count {
	if h == nil {
		return count{}
	}
	return count{h.Count, h.Sum}
}

func (c count) mean() float64 {
	if c.n <= 0 {
		return 0
	}
	return c.sum / c.n
}

func sumsOver(n *now, s *lookback) sums {
	at := func(of distribution) count { return countOf(n.observed(s, of)) }
	return sums{
		ttft:     at(ttftHistogram),
		frontend: at(frontendHistogram),
		queue:    at(queueHistogram),
		prefill:  at(prefillHistogram),
		decode:   at(decodeHistogram),
		e2e:      at(e2eHistogram),
	}
}

// requests is how many requests there are latencies of: by their first tokens, or by
// their ends where an engine tells no TTFT (TGI).
func (s *sums) requests() float64 {
	if s.ttft.n > 0 {
		return s.ttft.n
	}
	return s.e2e.n
}

// area is a gauge over time at all engines: gauge-seconds, by trapezes.
func (n *now) area(v probes.View, gauge engineReading) probes.Opt[float64] {
	total, ok := 0.0, false
	for _, from := range n.tellersOf(v, gauge.side, gauge.told) {
		values, times := v.Values(from.reading(gauge))
		for i := 1; i < len(values); i++ {
			total, ok = total+(values[i]+values[i-1])/2*times[i].Sub(times[i-1]).Seconds(), true
		}
	}
	if !ok {
		return missing()
	}
	return probes.Some(total)
}
