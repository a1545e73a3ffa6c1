package rules

import "llmtop/probes"

// hitRatio is the share of prompt tokens that were not computed here. Prompt tokens by
// source say it best: hit counters count a request that is tried again each time
// (vLLM before 2026-07), which shows as more lookups than prompt tokens.
func hitRatio(n *now) probes.Opt[float64] {
	found, computed, ok := n.bySource()
	if ok && found+computed > 0 {
		return probes.Some(found / (found + computed))
	}
	hits, _ := n.increase(n.span.View, prefixHits)
	queries, _ := n.increase(n.span.View, prefixQueries)
	prompts, _ := n.increase(n.span.View, promptTokens)
	h, ok := hits.Get()
	q, ok2 := queries.Get()
	switch p, told := prompts.Get(); {
	case ok && ok2 && told && p > 0 && q > recounted*p:
		return missing()
	case ok && ok2 && q > 0 && h <= q:
		return probes.Some(h / q)
	case ok && ok2:
		return missing()
	}
	return n.gauge(prefixHitGauge, func(a, b float64) float64 { return min(a, b) })
}

// recounted is how many times as many tokens may be looked up as prompts have before
// the lookups are not believed: waiting requests were looked up again at each try
// (vllm #43736). Lookups come before the prompt counts, so some more is usual [proposal].
const recounted = 1.5

// bySource is how many prompt tokens of the now span were found or received, and how
// many computed, as the engine counts them by source.
func (n *now) bySource() (found, computed float64, ok bool) {
	c, _ := n.increase(n.span.View, promptComputed)
	cached, _ := n.increase(n.span.View, promptCached)
	received, _ := n.increase(n.span.View, promptReceived)
	computed, ok = c.Get()
	return cached.Or(0) + received.Or(0), computed, ok && (cached.Seen() || received.Seen())
}

// cachedTokens is how many prompt tokens of the now span needed no computing.
func (n *now) cachedTokens() float64 {
	if found, _, ok := n.bySource(); ok {
		return found
	}
	hits, _ := n.increase(n.span.View, prefixHits)
	return hits.Or(0)
}
