package rules

import (
	"time"

	"llmtop/probes"
)

// breaks finds when the engines behind an endpoint did not go on as they were: one came,
// went or restarted, or told something else than before. It remembers what it compared,
// so that a tick costs its newest readings; what it says depends on the view alone.
type breaks struct {
	known map[pair]bool
	room  map[pair]bool
}

// pair are two readings of an endpoint that follow each other.
type pair struct{ older, newer *probes.Engine }

// in returns for the endpoints of p that have several engines, or had, when they last broke
// within the view.
func (b *breaks) in(p *probes.Point, v probes.View) map[string]time.Time {
	var out map[string]time.Time
	now := b.room
	if now == nil {
		now = map[pair]bool{}
	}
	clear(now)
	for _, newest := range p.Engines {
		var last *probes.Engine
		for _, point := range v.Points() {
			e := engineOf(point, newest.Endpoint)
			if e == nil || e == last {
				continue
			}
			if last != nil && (len(last.Parts) > 0 || len(e.Parts) > 0) {
				at := pair{last, e}
				broke, known := b.known[at]
				if !known {
					broke = brokeBetween(last, e)
				}
				if now[at] = broke; broke {
					if out == nil {
						out = map[string]time.Time{}
					}
					out[newest.Endpoint] = point.At
				}
			}
			last = e
		}
	}
	b.known, b.room = now, b.known
	return out
}

// brokeBetween compares the parts of an endpoint one by one.
func brokeBetween(older, newer *probes.Engine) bool {
	if len(older.Parts) != len(newer.Parts) {
		return true
	}
	for i, was := range older.Parts {
		is := newer.Parts[i]
		if was.Instance != is.Instance {
			return true
		}
		for _, r := range probes.EngineReadings {
			if r.Number != nil {
				a, told := r.Number(was).Get()
				b, tells := r.Number(is).Get()
				if told != tells || r.Counts() && b < a {
					return true
				}
				continue
			}
			a, b := *r.Histogram(was), *r.Histogram(is)
			if (a == nil) != (b == nil) || a != nil && (b.Count < a.Count || b.Sum < a.Sum) {
				return true
			}
		}
	}
	return false
}

// brokeIn reports that the engines behind an endpoint did not go on as they were during a view.
func (n *now) brokeIn(v probes.View, endpoint string) bool {
	at, broke := n.broke[endpoint]
	return broke && v.Len() > 0 && v.Points()[0].At.Before(at)
}
