package rules

import (
	"time"

	"llmtop/probes"
)

// engineRows are the scheduler, the KV cache and the prefix cache.
func engineRows() []Signal {
	const metrics = "engine metrics"
	return []Signal{
		{Name: "batch.running", Title: "batch", Unit: "count", Kind: "engine", Step: 2, at: running,
			Formula: "sequences in the batch now, all engines", Source: "running gauge, else request records", Needs: metrics, Export: exportName("batch.running", "count", "")},
		{Name: "queue.depth", Title: "queue depth", Unit: "count", Kind: "engine", Step: 3, at: queueDepth,
			Formula: "requests waiting for the scheduler now, all engines", Source: "waiting gauge, else request records", Needs: metrics, Export: exportName("queue.depth", "count", "")},
		{Name: "queue.slope", Title: "queue growth", Unit: "1/s", Kind: "engine", Step: 0.2, at: queueSlope,
			Formula: "least-squares slope of the queue depth over the now span, added up over the engines that are there now", Source: "waiting gauge, else request records", Needs: metrics, Export: exportName("queue.slope", "1/s", "")},
		{Name: "queue.oldest", Title: "oldest wait", Unit: "s", Kind: "engine", Step: 0.1, at: queueOldest,
			Formula: "longest time a request now waiting has spent in the queue", Source: "request records", Needs: "requests", Export: exportName("queue.oldest", "s", "")},
		{Name: "kv.usage", Title: "KV cache", Unit: "ratio", Kind: "engine", Step: 0.1, at: func(n *now) probes.Opt[float64] {
			return n.gauge(kvUsage, func(a, b float64) float64 { return max(a, b) })
		}, Formula: "KV blocks in use over all, the fullest engine", Source: "KV usage gauge", Needs: metrics, Export: exportName("kv.usage", "ratio", "")},
		{Name: "kv.peak", Title: "KV cache peak", Unit: "ratio", Kind: "engine", Step: 0.1, at: kvPeak,
			Formula: "highest reading of kv.usage in the now span: preemption itself lowers the newest one", Source: "KV usage gauge", Needs: metrics, Export: exportName("kv.peak", "ratio", "")},
		{Name: "kv.preemption_rate", Title: "preemptions", Unit: "1/s", Kind: "engine", Step: 0.1, at: func(n *now) probes.Opt[float64] { return n.rate(preemptions) },
			Formula: "sequences thrown out of the KV cache per second", Source: "preemption counter", Needs: metrics, Export: exportName("kv.preemptions", "1/s", "")},
		{Name: "prefix.hit_ratio", Title: "prefix hits", Unit: "ratio", Kind: "engine", Step: 0.1, at: hitRatio,
			Formula: "prompt tokens that were not computed over all prompt tokens", Source: "prompt tokens by source, else prefix cache counters, else the engine's own ratio", Needs: metrics, Export: exportName("prefix.hit", "ratio", "")},
		{Name: "prefill.per_token", Title: "prefill per token", Unit: "s/token", Kind: "stage", Step: 2e-6, at: prefillPerToken,
			Formula: "prefill seconds over uncached prompt tokens, requests of the now span", Source: "request records, else histograms", Needs: "requests or engine metrics", Export: exportName("prefill.per_token", "s/token", "")},
		{Name: "step.tokens", Title: "tokens a step", Unit: "tokens", Kind: "engine", Step: 16, at: func(n *now) probes.Opt[float64] {
			v, _, _ := n.observed(&n.span, stepTokensHistogram).Quantile(0.99)
			return v
		}, Formula: "p99 of tokens scheduled in one step", Source: "step token histogram", Needs: metrics, Export: exportName("step.tokens", "tokens", `quantile="0.99"`)},
		{Name: "engine.stalled", Title: "nothing came out for", Unit: "s", Kind: "engine", Step: 2, at: (*now).stalled,
			Formula: "time since a token or request counter moved, while requests are in flight; engines that count when requests end are silent while long ones run", Source: "counters and gauges", Needs: metrics, Export: exportName("engine.stalled", "s", "")},
		{Name: "engine.age", Title: "engine age", Unit: "s", Kind: "engine", Step: 60, at: engineAge,
			Formula: "time since the youngest engine process started", Source: "process start time", Needs: metrics, Export: exportName("engine.age", "s", "")},
	}
}

func running(n *now) probes.Opt[float64] {
	v := n.gauge(runningRequests, add)
	if v.Seen() || !n.whole() {
		return v
	}
	return probes.Some(n.countIn(func(s probes.Stage) bool { return s > probes.StageQueue }))
}

func queueDepth(n *now) probes.Opt[float64] {
	v := n.gauge(waitingRequests, add)
	if v.Seen() || !n.whole() {
		return v
	}
	return probes.Some(n.countIn(func(s probes.Stage) bool { return s == probes.StageQueue }))
}

// kvPeak is missing where the newest usage is: a stale gauge has no peak.
func kvPeak(n *now) probes.Opt[float64] {
	out := n.gauge(kvUsage, func(a, b float64) float64 { return max(a, b) })
	if !out.Seen() {
		return out
	}
	for _, p := range n.span.Points() {
		for _, e := range p.Engines {
			out = probes.Some(max(out.Or(0), e.KVUsage.Or(0)))
		}
	}
	return out
}

// countIn counts requests in flight by the stage they are in.
func (n *now) countIn(match func(probes.Stage) bool) float64 {
	count := 0.0
	for _, s := range n.records.running {
		if i, ok := partIndex(s.r.State); ok && i < int(probes.NumStages) && match(probes.Stage(i)) {
			count++
		}
	}
	return count
}

func queueOldest(n *now) probes.Opt[float64] {
	if !n.whole() {
		return missing()
	}
	oldest := 0.0
	for _, s := range n.records.running {
		if s.r.State == probes.StageNames[probes.StageQueue] {
			oldest = max(oldest, s.r.Stages[probes.StageQueue])
		}
	}
	if oldest == 0 && float64(len(n.records.running)) < n.records.inFlight {
		return missing() // engines tell of so many in flight, the oldest: those that wait are beyond
	}
	return probes.Some(oldest)
}

func queueSlope(n *now) probes.Opt[float64] {
	total := missing()
	from := n.tellersOf(n.span.View, probes.Scheduler, waitingRequests.told)
	for _, s := range from {
		k := slope(n.span.Values(s.reading(waitingRequests)))
		if x, ok := k.Get(); ok {
			total = probes.Some(total.Or(0) + x)
		}
	}
	if len(from) > 0 {
		return total
	}
	return slope(n.span.Values(queuedIn))
}

// queuedIn is the queue of one point by its request records.
func queuedIn(p *probes.Point) (total float64, at time.Time, ok bool) {
	for _, s := range sections(p) {
		if s.FinishedOnly {
			continue
		}
		at, ok = s.At, true
		for _, r := range s.Running {
			if r.State == probes.StageNames[probes.StageQueue] {
				total++
			}
		}
	}
	return total, at, ok
}

// slope is the least-squares slope per second; missing with fewer than four readings.
func slope(values []float64, times []time.Time) probes.Opt[float64] {
	if len(values) < 4 {
		return missing()
	}
	var sx, sy, sxx, sxy float64
	for i, y := range values {
		x := times[i].Sub(times[0]).Seconds()
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	k := float64(len(values))
	if d := k*sxx - sx*sx; d > 0 {
		return probes.Some((k*sxy - sx*sy) / d)
	}
	return missing()
}

func prefillPerToken(n *now) probes.Opt[float64] {
	seconds, tokens := 0.0, 0.0
	if n.exact {
		for o := range n.firsts.all() {
			if !o.censored && o.of.PromptTokens > 0 {
				seconds += o.of.Stages[probes.StagePrefill]
				tokens += float64(o.of.PromptTokens - o.of.CachedTokens)
			}
		}
	}
	if !n.whole() && tokens <= 0 {
		seconds = countOf(n.observed(&n.span, prefillHistogram)).sum
		tokens = countOf(n.observed(&n.span, promptHistogram)).sum
		tokens -= n.cachedTokens()
	}
	if tokens <= 0 || seconds <= 0 {
		return missing()
	}
	return probes.Some(seconds / tokens)
}

func engineAge(n *now) probes.Opt[float64] {
	out := missing()
	for _, e := range n.point.Engines {
		start, ok := e.StartUnixSecs.Get()
		if !ok {
			continue
		}
		if a := float64(n.at.UnixNano())/1e9 - start; a >= 0 && (!out.Seen() || a < out.Or(0)) { // below 0 another host's clock speaks
			out = probes.Some(a)
		}
	}
	return out
}
