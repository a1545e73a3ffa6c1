package rules

import "llmtop/probes"

// engineOf finds the engine of an endpoint in a point.
func engineOf(p *probes.Point, endpoint string) *probes.Engine {
	for _, e := range p.Engines {
		if e.Endpoint == endpoint {
			return e
		}
	}
	return nil
}

// increase adds up how much a counter grew at every engine; seconds is the longest stretch.
func (n *now) increase(v probes.View, counter engineReading) (sum probes.Opt[float64], seconds float64) {
	total, seen := 0.0, false
	for _, from := range n.tellersOf(v, counter.side, counter.told) {
		inc, secs := v.Increase(from.reading(counter))
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
	for _, e := range n.speakers(reading.side, reading.told) {
		x, ok := reading.of(e).Get()
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
// Engines that count tokens when a request ends may be silent that long and well.
func (n *now) frozen() bool {
	running, waiting, span := 0.0, 0.0, &n.span
	for _, e := range n.point.Engines {
		running += e.Running.Or(0)
		waiting += e.Waiting.Or(0)
		if e.AtFinish {
			span = &n.wide
		}
	}
	if running == 0 || waiting > 0 || span.Len() < 6 {
		return false
	}
	for _, counter := range []engineReading{generationTokens, promptTokens, finishedRequests} {
		inc, seconds := n.increase(span.View, counter)
		x, ok := inc.Get()
		if !ok || seconds < recentSpan.Seconds() || x > 0 {
			return false
		}
	}
	if span == &n.wide {
		_, seconds := n.increase(span.View, generationTokens)
		return seconds >= wideSpan.Seconds()*2/3
	}
	return true
}
