package rules

import (
	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/frames"
)

// Point gives a sample its meaning: the engines of its scrapes and the facts of
// its profile. A page no dialect knows and a profile nobody can read are left out.
func Point(s *probes.Sample) *probes.Point { return NewDecoder()(s) }

// NewDecoder is Point with a memory: sections that were not renewed, and pages of
// a known shape, are not worked out again. What it returns depends on the sample alone.
func NewDecoder() probes.Decoder {
	d := &decoder{dialects: dialect.NewDecoder(), engines: map[*probes.Scrape]*probes.Engine{}}
	return d.point
}

type decoder struct {
	dialects *dialect.Decoder
	engines  map[*probes.Scrape]*probes.Engine // of the last sample
	profile  *probes.Profile
	facts    *probes.ProfileFacts
}

func (d *decoder) point(s *probes.Sample) *probes.Point {
	p := &probes.Point{Sample: s}
	engines := make(map[*probes.Scrape]*probes.Engine, len(s.Scrapes))
	for _, scrape := range s.Scrapes {
		e, known := d.engines[scrape]
		if !known {
			e = d.dialects.Decode(scrape)
		}
		engines[scrape] = e
		if e != nil && engineOf(p, e.Endpoint) == nil { // asked twice, it counts once
			p.Engines = append(p.Engines, e)
		}
	}
	d.engines = engines
	if s.Profile != d.profile {
		d.profile, d.facts = s.Profile, nil
		if s.Profile != nil {
			d.facts, _ = frames.Facts(s.Profile) // an unreadable profile has no facts
		}
	}
	p.Facts = d.facts
	return p
}
