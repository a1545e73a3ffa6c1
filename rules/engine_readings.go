package rules

import (
	"time"

	"llmtop/probes"
)

type engineReading func(*probes.Engine) probes.Opt[float64]

// engineOf finds the engine of an endpoint in a point.
func engineOf(p *probes.Point, endpoint string) *probes.Engine {
	for _, e := range p.Engines {
		if e.Endpoint == endpoint {
			return e
		}
	}
	return nil
}

// increase adds up how much a counter grew at every endpoint; seconds is the longest stretch.
func (n *now) increase(v probes.View, counter engineReading) (sum probes.Opt[float64], seconds float64) {
	total, seen := 0.0, false
	for _, end := range n.ends {
		inc, secs := v.Increase(func(p *probes.Point) (float64, time.Time, bool) {
			e := engineOf(p, end)
			if e == nil {
				return 0, time.Time{}, false
			}
			value, ok := counter(e).Get()
			return value, e.At, ok
		})
		if x, ok := inc.Get(); ok {
			total, seen, seconds = total+x, true, max(seconds, secs)
		}
	}
	if !seen {
		return missing(), 0
	}
	return probes.Some(total), seconds
}

// rate is increase per second over the now span.
func (n *now) rate(counter engineReading) probes.Opt[float64] {
	inc, seconds := n.increase(n.span.View, counter)
	x, ok := inc.Get()
	if !ok || seconds <= 0 {
		return missing()
	}
	return probes.Some(x / seconds)
}

// gauge combines the newest fresh reading of every endpoint.
func (n *now) gauge(reading engineReading, combine func(a, b float64) float64) probes.Opt[float64] {
	if len(n.ends) == 0 {
		return missing()
	}
	out := probes.None[float64](probes.NotExposed)
	for _, e := range n.point.Engines {
		x, ok := reading(e).Get()
		if !ok {
			continue
		}
		if !n.fresh(e.At) || n.gaugesAreDead {
			if !out.Seen() { // an engine that fell silent takes nothing from the others
				out = probes.None[float64](probes.Stale)
			}
			continue
		}
		if y, ok := out.Get(); ok {
			x = combine(x, y)
		}
		out = probes.Some(x)
	}
	return out
}

func add(a, b float64) float64 { return a + b }

// frozen reports gauges that no longer move with the engine: sequences are said
// to run, none waits, and over the span no counter moved (vLLM keeps the gauges of
// its last step after mass aborts). With requests waiting it is a stuck engine instead.
func (n *now) frozen() bool {
	running, waiting := 0.0, 0.0
	for _, e := range n.point.Engines {
		running += e.Running.Or(0)
		waiting += e.Waiting.Or(0)
	}
	if running == 0 || waiting > 0 || n.span.Len() < 6 {
		return false
	}
	for _, counter := range []engineReading{generationTokens, promptTokens, finishedRequests} {
		inc, seconds := n.increase(n.span.View, counter)
		x, ok := inc.Get()
		if !ok || seconds < recentSpan.Seconds() || x > 0 {
			return false
		}
	}
	return true
}

func generationTokens(e *probes.Engine) probes.Opt[float64] { return e.GenerationTokens }
func promptTokens(e *probes.Engine) probes.Opt[float64]     { return e.PromptTokens }
func finishedRequests(e *probes.Engine) probes.Opt[float64] { return e.Finished }
func preemptions(e *probes.Engine) probes.Opt[float64]      { return e.Preemptions }
func waitingRequests(e *probes.Engine) probes.Opt[float64]  { return e.Waiting }
func runningRequests(e *probes.Engine) probes.Opt[float64]  { return e.Running }
func kvUsage(e *probes.Engine) probes.Opt[float64]          { return e.KVUsage }
func prefixHits(e *probes.Engine) probes.Opt[float64]       { return e.PrefixHits }
func prefixQueries(e *probes.Engine) probes.Opt[float64]    { return e.PrefixQueries }

// badRequests is aborted, failed and rejected requests; missing when none of them is told.
func badRequests(e *probes.Engine) probes.Opt[float64] {
	if !e.Failed.Seen() && !e.Rejected.Seen() {
		return missing()
	}
	return probes.Some(e.Failed.Or(0) + e.Rejected.Or(0))
}
