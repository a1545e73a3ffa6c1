package rules

import (
	"slices"
	"time"

	"llmtop/probes"
	"llmtop/probes/dialect"
)

// teller is one engine whose counters run on from point to point by themselves: an
// endpoint, or one of the engines behind it. What several did is what each of them did,
// added up, never what their sum did: that falls when one of them restarts or goes, and
// jumps when one comes.
type teller struct {
	endpoint string
	name     string // which of the engines there; "" for the endpoint as a whole
	sure     bool   // the name is that of a part; else of the only engine there is now
}

// tellerOf is the teller that an engine of the newest point is a reading of.
func tellerOf(e *probes.Engine) teller {
	if e.Instance != "" {
		return teller{e.Endpoint, e.Instance, true}
	}
	return teller{e.Endpoint, e.Only, false}
}

// tellersOf are the engines whose readings add up to that of all over a view: the
// endpoints that speak, or the engines behind one where these tell it. While these went on
// as they were their sum did, too, and costs less to look at.
func (n *now) tellersOf(v probes.View, side probes.Side, told func(*probes.Engine) bool) []teller {
	var out []teller
	for _, e := range n.speakers(side, told) {
		if !partsTell(e, told) || told(e) && !n.brokeIn(v, e.Endpoint) {
			out = append(out, tellerOf(e))
			continue
		}
		for _, part := range e.Parts {
			out = append(out, tellerOf(part))
		}
	}
	return out
}

// partsTell reports that the parts of an engine tell a reading, all of them that there are.
func partsTell(e *probes.Engine, told func(*probes.Engine) bool) bool {
	return len(e.Parts) > 0 && len(e.Parts) < dialect.MaxInstances && slices.ContainsFunc(e.Parts, told)
}

// speakers are those of the newest point. One that fell silent leaves its place to
// others that tell the reading.
func (n *now) speakers(side probes.Side, told func(*probes.Engine) bool) []*probes.Engine {
	if len(n.point.Engines) < 2 {
		return n.point.Engines
	}
	tells := func(e *probes.Engine) bool { return told(e) || partsTell(e, told) }
	now := speakers(n.point.Engines, side, func(e *probes.Engine) bool { return n.fresh(e.At) && tells(e) })
	if len(now) > 0 {
		return now
	}
	return speakers(n.point.Engines, side, tells)
}

// in finds the teller's engine in a point; nil when it is not there. Engines of one
// endpoint may be one at one time and several at another.
func (t teller) in(p *probes.Point, told func(*probes.Engine) bool) *probes.Engine {
	whole := engineOf(p, t.endpoint)
	if whole == nil || t.name == "" {
		return whole
	}
	for _, part := range whole.Parts {
		if part.Instance == t.name && (t.sure || told(part)) {
			return part
		}
	}
	if !t.sure || whole.Only == t.name {
		return whole
	}
	return nil
}

// reading finds a number of the teller.
func (t teller) reading(r engineReading) probes.Reading {
	return func(p *probes.Point) (float64, time.Time, bool) {
		e := t.in(p, r.told)
		if e == nil {
			return 0, time.Time{}, false
		}
		value, ok := r.of(e).Get()
		return value, e.At, ok
	}
}
