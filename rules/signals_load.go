package rules

import (
	"time"

	"llmtop/probes"
)

// loadRows are what is asked of the engine and what it gets done.
func loadRows() []Signal {
	return []Signal{
		{Name: "requests.rate", Title: "completions", Unit: "1/s", Kind: "load", Step: 0.2, at: completionRate,
			Formula: "requests that ended per second, refused ones left out", Source: "request records, else the engine's counters", Needs: "requests or engine metrics", Export: exportName("requests", "1/s", "")},
		{Name: "arrivals.rate", Title: "arrivals", Unit: "1/s", Kind: "load", Step: 0.2, at: arrivalRate,
			Formula: "completions, refusals and growth of requests in flight, per second", Source: "request records, else counters and gauges", Needs: "requests or engine metrics", Export: exportName("arrivals", "1/s", "")},
		{Name: "tokens.out.rate", Title: "output tokens", Unit: "1/s", Kind: "load", Step: 5, at: func(n *now) probes.Opt[float64] { return n.rate(generationTokens) },
			Formula: "generated tokens per second", Source: "generation token counter", Needs: "engine metrics", Export: exportName("tokens.out", "1/s", "")},
		{Name: "tokens.in.rate", Title: "prompt tokens", Unit: "1/s", Kind: "load", Step: 20, at: func(n *now) probes.Opt[float64] { return n.rate(promptTokens) },
			Formula: "prompt tokens per second, cached ones included", Source: "prompt token counter", Needs: "engine metrics", Export: exportName("tokens.in", "1/s", "")},
		{Name: "prompt.p50", Title: "prompt p50", Unit: "tokens", Kind: "load", Step: 8, at: func(n *now) probes.Opt[float64] { return n.prompt.quantile(0.5) },
			Formula: "median prompt length, waiting requests included" + newest, Source: "request records, else the length histogram", Needs: "requests or engine metrics", Export: exportName("prompt", "tokens", `quantile="0.5"`)},
		{Name: "prompt.p95", Title: "prompt p95", Unit: "tokens", Kind: "load", Step: 16, at: func(n *now) probes.Opt[float64] { return n.prompt.quantile(0.95) },
			Formula: "p95 of prompt lengths" + newest, Source: "request records, else the length histogram", Needs: "requests or engine metrics", Export: exportName("prompt", "tokens", `quantile="0.95"`)},
		{Name: "output.p50", Title: "output p50", Unit: "tokens", Kind: "load", Step: 8, at: func(n *now) probes.Opt[float64] { return n.output.quantile(0.5) },
			Formula: "median output length of finished requests" + newest, Source: "request records, else the length histogram", Needs: "requests or engine metrics", Export: exportName("output", "tokens", `quantile="0.5"`)},
		{Name: "refused.share", Title: "refused requests", Unit: "ratio", Kind: "load", Step: 0.01, at: refusedShare,
			Formula: "requests answered 429 over all that ended", Source: "request records, else the engine's rejection counter", Needs: "requests or engine metrics", Export: exportName("refused", "ratio", "")},
		{Name: "errors.rate", Title: "errors", Unit: "1/s", Kind: "load", Step: 0.1, at: func(n *now) probes.Opt[float64] { return n.rate(badRequests) },
			Formula: "aborted, failed and rejected requests per second", Source: "the engine's counters", Needs: "engine metrics", Export: exportName("errors", "1/s", "")},
	}
}

// ended is how many requests ended and how many were refused in the now span,
// and how many seconds that covers.
func (n *now) ended() (requests, refused, seconds float64, ok bool) {
	if n.whole() && n.records.firstOK && n.records.begun > 0 {
		for i := range n.records.ledger.told {
			if t := &n.records.ledger.told[i]; t.ago < n.records.begun {
				refused += t.refused
				requests += float64(len(t.section.Finished)) - t.refused
			}
		}
		return requests, refused, n.records.begun, true
	}
	good, seconds := n.increase(n.span.View, finishedRequests)
	bad, _ := n.increase(n.span.View, failedRequests)
	rejected, _ := n.increase(n.span.View, rejectedRequests)
	x, ok := good.Get()
	return x + bad.Or(0), rejected.Or(0), seconds, ok && seconds > 0
}

// refusedShare is missing while fewer than enough requests ended.
func refusedShare(n *now) probes.Opt[float64] {
	requests, refused, _, ok := n.ended()
	if !ok || requests+refused < enough {
		return missing()
	}
	return probes.Some(refused / (requests + refused))
}

func completionRate(n *now) probes.Opt[float64] {
	requests, _, seconds, ok := n.ended()
	if !ok {
		return missing()
	}
	return probes.Some(requests / seconds)
}

func arrivalRate(n *now) probes.Opt[float64] {
	requests, refused, seconds, ok := n.ended()
	growth, known := n.growth()
	if !ok || !known {
		return missing()
	}
	return probes.Some(max(0, requests+refused+growth) / seconds)
}

// growth is how much the number of requests in flight rose over the now span.
func (n *now) growth() (float64, bool) {
	if n.whole() {
		return n.records.inFlight - n.records.first, n.records.firstOK
	}
	growth, seen := 0.0, false
	for _, from := range n.tellersOf(n.span.View, probes.Scheduler, runningRequests.told) {
		values, _ := n.span.Values(func(p *probes.Point) (float64, time.Time, bool) {
			e := from.in(p, runningRequests.told)
			if e == nil || !e.Running.Seen() || !e.Waiting.Seen() {
				return 0, time.Time{}, false
			}
			return e.Running.Or(0) + e.Waiting.Or(0), e.At, true
		})
		if len(values) > 1 {
			growth, seen = growth+values[len(values)-1]-values[0], true
		}
	}
	return growth, seen
}
