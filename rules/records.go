package rules

import (
	"iter"
	"math"
	"slices"

	"llmtop/probes"
)

// seen is a request in flight and how long ago its section was read.
type seen struct {
	r   *probes.Request
	ago float64 // seconds between its section and now
}

// records are the per-request records of the wide span: what finished in it,
// each once, and what the newest fresh section says is in flight.
type records struct {
	seen     bool
	partial  bool    // some are of finished requests only
	ledger   *ledger // what finished
	running  []seen
	inFlight float64
	first    float64 // in flight at the start of the now span; with ok
	firstOK  bool
	begun    float64 // seconds the now span really covers
}

// gather reads the request sections of the wide span into the ledger. A section that a
// slow probe did not renew appears again with the same At and counts once.
func gather(n *now, l *ledger) records {
	out := records{ledger: l}
	clear(l.last)
	from, sect := n.at.Add(-wideSpan), l.spare
	for _, p := range n.wide.Points() {
		for _, s := range n.sections(p) {
			if !s.At.After(l.last[s.Endpoint]) || !s.At.After(from) {
				continue
			}
			l.last[s.Endpoint] = s.At
			sect = append(sect, told{section: s, ago: n.at.Sub(s.At).Seconds()})
		}
	}
	l.take(n.at, sect)
	for _, s := range n.sections(n.point) {
		if !n.stands(s) {
			continue
		}
		out.partial = out.partial || s.FinishedOnly
		out.seen = true
		out.inFlight += float64(s.InFlight)
		out.running = slices.Grow(out.running, len(s.Running))
		for _, r := range s.Running {
			out.running = append(out.running, seen{r, n.at.Sub(s.At).Seconds()})
		}
	}
	out.start(n)
	return out
}

// stands reports a section that tells of now. Traces come seconds late and in batches: one
// of finished requests stands for the wide span.
func (n *now) stands(s *probes.Requests) bool {
	return n.fresh(s.At) || (s.FinishedOnly && n.at.Sub(s.At) <= wideSpan)
}

// sections are the request sections of a point that tell of its engines. Traces may be of
// something else than what is attached.
func (n *now) sections(p *probes.Point) []*probes.Requests {
	all := sections(p)
	foreign := func(s *probes.Requests) bool {
		return s.FinishedOnly && len(n.ends) > 0 && !slices.Contains(n.ends, s.Endpoint)
	}
	if !slices.ContainsFunc(all, foreign) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), foreign)
}

// since are the requests that got their first token and finished in sections read less
// than so many seconds ago.
func (r *records) since(seconds float64) iter.Seq[observation] {
	return func(yield func(observation) bool) {
		for i := range r.ledger.told {
			t := &r.ledger.told[i]
			if t.ago >= seconds {
				continue
			}
			for _, e := range t.entries[ofTTFT] {
				if !yield(observation{value: e.value, of: e.of}) {
					return
				}
			}
		}
	}
}

// start finds how many were in flight at the start of the now span: at each engine
// what it first told of in it.
func (r *records) start(n *now) {
	first := map[string]bool{}
	for _, p := range n.span.Points() {
		for _, s := range n.sections(p) {
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

// latency is a set of observations: exact values, or a histogram of them.
type latency struct {
	values []float64 // ascending; nil with a histogram
	sum    float64
	hist   *probes.Histogram
	wide   bool // over the wide span, for want of observations in the now span
}

// exactly is the latency of values in ascending order.
func exactly(values []float64) latency {
	l := latency{values: values}
	for _, v := range values {
		l.sum += v
	}
	return l
}

// bare reports that only the mean is known: an engine that counts seconds and requests.
func (l latency) bare() bool { return l.hist != nil && len(l.hist.Bounds) == 0 }

func (l latency) count() float64 {
	if l.hist != nil {
		return l.hist.Count
	}
	return float64(len(l.values))
}

// fewerThan reports too few observations of now, where another set has enough.
func (l latency) fewerThan(other latency) bool {
	return (l.wide || l.count() < enough) && other.count() >= enough
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
