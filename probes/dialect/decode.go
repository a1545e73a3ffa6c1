package dialect

import (
	"math"

	"llmtop/probes"
)

// engine fills the canonical fields from a page's values. A field of the table
// that the page does not have is NotExposed: absent is never 0.
func (p *plan) engine(s *probes.Scrape) *probes.Engine {
	e := &probes.Engine{At: s.At, Endpoint: s.Endpoint, Dialect: p.dialect, Model: p.model}
	for _, t := range tables() {
		if t.name == p.dialect {
			notExposed(e, t)
		}
	}
	for i := range p.numbers {
		n := &p.numbers[i]
		*n.field.number(e) = n.read(s.Values)
	}
	for _, f := range p.fixed {
		*f.field.number(e) = probes.Some(f.value)
	}
	cells := 0
	for i := range p.hists {
		cells += len(p.hists[i].bounds)
	}
	room := make([]float64, cells)
	for i := range p.hists {
		h := &p.hists[i]
		*h.field.histogram(e) = h.histogram(s.Values, room)
		room = room[len(h.bounds):]
	}
	return e
}

func notExposed(e *probes.Engine, t *table) {
	for i := range t.fields {
		if number := t.fields[i].number; number != nil {
			*number(e) = probes.None[float64](probes.NotExposed)
		}
	}
}

// read joins the groups of a field; groups without a number are left out.
func (n *numberPlan) read(values []float64) probes.Opt[float64] {
	total, any := 0.0, false
	for _, group := range n.groups {
		v, ok := highest(values, group)
		if !ok {
			continue
		}
		switch {
		case !any:
			total = v
		case n.field.join == worst:
			total = max(total, v)
		case n.field.join == least:
			total = min(total, v)
		default:
			total += v
		}
		any = true
	}
	if !any {
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(total)
}

// highest of the copies of one gauge; mostly there is one.
func highest(values []float64, group []int) (v float64, ok bool) {
	for _, i := range group {
		if x := values[i]; !math.IsNaN(x) && !math.IsInf(x, 0) && (!ok || x > v) {
			v, ok = x, true
		}
	}
	return v, ok
}
