package rules

import (
	"math"
	"slices"
	"time"

	"llmtop/probes"
)

// seen is a request and how long ago its section was read.
type seen struct {
	r   *probes.Request
	ago float64 // seconds between its section and now
}

// records are the per-request records of the wide span: what finished in it,
// each once, and what the newest fresh section says is in flight.
type records struct {
	seen     bool
	finished []seen
	running  []seen
	inFlight float64
	first    float64 // in flight at the start of the now span; with ok
	firstOK  bool
	begun    float64 // seconds the now span really covers
}

// gather reads the request sections of the wide span. A section that a slow
// probe did not renew appears again with the same At and counts once.
func gather(n *now) records {
	var out records
	last := map[string]time.Time{}
	from := n.at.Add(-wideSpan)
	size := 0
	for _, p := range n.wide.Points() {
		for _, s := range p.Requests {
			size += len(s.Finished)
		}
	}
	out.finished = make([]seen, 0, size)
	for _, p := range n.wide.Points() {
		for _, s := range sections(p) {
			if !s.At.After(last[s.Endpoint]) || !s.At.After(from) {
				continue
			}
			last[s.Endpoint] = s.At
			ago := n.at.Sub(s.At).Seconds()
			for _, r := range s.Finished {
				out.finished = append(out.finished, seen{r, ago})
			}
		}
	}
	for _, s := range sections(n.point) {
		if !n.fresh(s.At) {
			continue
		}
		out.seen = true
		out.inFlight += float64(s.InFlight)
		for _, r := range s.Running {
			out.running = append(out.running, seen{r, n.at.Sub(s.At).Seconds()})
		}
	}
	out.start(n)
	return out
}

// start finds how many were in flight at the start of the now span: at each engine
// what it first told of in it.
func (r *records) start(n *now) {
	first := map[string]bool{}
	for _, p := range n.span.Points() {
		for _, s := range sections(p) {
			if first[s.Endpoint] {
				continue
			}
			first[s.Endpoint] = true
			r.first += float64(s.InFlight)
			if !r.firstOK {
				r.firstOK, r.begun = true, n.at.Sub(p.At).Seconds()
			}
		}
	}
}

// age is how long a request has been with the engine, by the engine's own stamps.
func age(r *probes.Request) float64 {
	total := 0.0
	for _, s := range r.Stages {
		total += s
	}
	return total
}

// firstToken says whether the first token was written and how long ago.
func (s seen) firstToken() (ttft, ago float64, ok bool) {
	ttft, ok = s.r.TTFTSeconds.Get()
	if !ok {
		return 0, 0, false
	}
	return ttft, s.ago + max(0, s.r.E2ESeconds.Or(age(s.r))-ttft), true
}

// waited is a request without its first token, in flight or given up by its
// client: its age is a lower bound of its TTFT. A refused one never waited.
func (s seen) waited() (seconds float64, ok bool) {
	if s.r.TTFTSeconds.Seen() || s.r.Finish == "rejected" || s.r.Finish == "error" {
		return 0, false
	}
	return age(s.r), true
}

// latency is a set of observations: exact values, or a histogram of them.
type latency struct {
	values []float64 // ascending; nil with a histogram
	sum    float64
	hist   *probes.Histogram
	wide   bool // over the wide span, for want of observations in the now span
}

func exactly(values []float64) latency {
	slices.Sort(values)
	l := latency{values: values}
	for _, v := range values {
		l.sum += v
	}
	return l
}

func (l latency) count() float64 {
	if l.hist != nil {
		return l.hist.Count
	}
	return float64(len(l.values))
}

// exactlyOf is the latency of a set of observations.
func exactlyOf(all []observation, wide bool) latency {
	l := exactly(valuesOf(all))
	l.wide = wide
	return l
}

// quantile is the nearest-rank quantile of exact values, or the histogram's estimate.
func (l latency) quantile(q float64) probes.Opt[float64] {
	if l.hist != nil {
		estimate, _, _ := l.hist.Quantile(q)
		return estimate
	}
	if len(l.values) == 0 {
		return missing()
	}
	return probes.Some(l.values[max(0, int(math.Ceil(q*float64(len(l.values))))-1)])
}

func (l latency) mean() probes.Opt[float64] {
	if l.hist != nil {
		return l.hist.Mean()
	}
	if len(l.values) == 0 {
		return missing()
	}
	return probes.Some(l.sum / float64(len(l.values)))
}
