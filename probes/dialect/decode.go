package dialect

import "llmtop/probes"

// engine fills the canonical readings from a page's values. A reading that the page
// does not have is NotExposed: absent is never 0.
func (p *plan) engine(s *probes.Scrape) *probes.Engine {
	e := p.read(s)
	for _, part := range p.parts {
		e.Parts = append(e.Parts, part.read(s))
	}
	return e
}

func (p *plan) read(s *probes.Scrape) *probes.Engine {
	e := &probes.Engine{At: s.At, Endpoint: s.Endpoint, Dialect: p.table.name, Model: p.model,
		Role: p.role, Instance: p.instance, Only: p.only, AtFinish: p.atFinish, Origins: p.origins}
	for i := range probes.EngineReadings {
		if number := probes.EngineReadings[i].Number; number != nil {
			*number(e) = probes.None[float64](probes.NotExposed)
		}
	}
	for i := range p.numbers {
		n := &p.numbers[i]
		*n.reading.Number(e) = n.read(s.Values)
	}
	for _, f := range p.fixed {
		*f.reading.Number(e) = probes.Some(f.value)
	}
	for i := range p.ratios {
		*p.ratios[i].reading.Histogram(e) = p.ratios[i].read(s.Values)
	}
	p.histograms(e, s.Values)
	for i := range p.waits {
		if v, ok := p.waits[i].of.read(s.Values).Get(); ok {
			e.Waits = append(e.Waits, probes.Wait{Name: p.waits[i].name, Depth: v})
		}
	}
	return e
}

// histograms reads them all into one allocation.
func (p *plan) histograms(e *probes.Engine, values []float64) {
	cells := 0
	for i := range p.hists {
		cells += len(p.hists[i].bounds)
	}
	room := make([]float64, cells)
	for i := range p.hists {
		h := &p.hists[i]
		*h.reading.Histogram(e) = h.histogram(values, room)
		room = room[len(h.bounds):]
	}
}
