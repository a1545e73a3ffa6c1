package truth

import (
	"slices"
	"time"

	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/frames"
)

// Spans that the signals are documented for.
const (
	nowSpan  = 10 * time.Second
	wideSpan = 30 * time.Second // in place of it where that holds fewer than enough observations
	lookSpan = 31 * time.Second // no signal looks at older samples
	enough   = 5
)

// moment is a sample, what it says in canonical terms and what the diagnosis said of it.
type moment struct {
	*probes.Sample
	engines []*probes.Engine
	facts   *probes.ProfileFacts
	said    said

	values   []known // by row of the table, as they were asked for
	measured *measured
	devices  *devices
	fresh    *freshParts
}

// known is a number once worked out.
type known struct {
	value      float64
	done, told bool
}

// past are the samples so far, oldest first.
type past struct {
	moments  []*moment
	dialects *dialect.Decoder
	first    *moment // with an engine, of the whole recording
	trimmed  time.Time
}

// keep bounds what is held: the ten minutes that a baseline may reach back, and what its
// first sample looks back at.
const keep = 15 * time.Minute

func newPast() *past { return &past{dialects: dialect.NewDecoder()} }

// jumpMost is how much the wall clock may differ from the monotonic one between two samples
// without having been set.
const jumpMost = 2 * time.Second

// add takes a sample in. After a jump of the clock times before do not compare.
func (p *past) add(s *probes.Sample) *moment {
	m := &moment{Sample: s, values: make([]known, len(table))}
	var last *moment
	if n := len(p.moments); n > 0 {
		last = p.moments[n-1]
		wall, mono := s.At.Sub(last.At), s.Mono-last.Mono
		if wall <= 0 || mono > 0 && (wall-mono).Abs() > jumpMost {
			p.moments, p.trimmed = nil, s.At
		}
	}
	p.decode(m, last)
	if p.first == nil && len(m.engines) > 0 {
		p.first = m
	}
	p.moments = append(p.moments, m)
	old := 0
	for s.At.Sub(p.moments[old].At) > keep {
		old++
	}
	if old > 256 {
		p.trimmed = p.moments[old].At
		p.moments = slices.Clone(p.moments[old:])
	}
	return m
}

// decode reads the engines and the profile of a sample; what was not renewed is not read again.
func (p *past) decode(m, last *moment) {
	for _, scrape := range m.Scrapes {
		var e *probes.Engine
		if last != nil {
			if i := slices.Index(last.Scrapes, scrape); i >= 0 {
				e = engineAt(last, scrape.Endpoint)
			}
		}
		if e == nil {
			e = p.dialects.Decode(scrape)
		}
		if e != nil && engineAt(m, e.Endpoint) == nil {
			m.engines = append(m.engines, e)
		}
	}
	switch {
	case m.Profile == nil:
	case last != nil && last.Profile == m.Profile:
		m.facts = last.facts
	default:
		m.facts, _ = frames.Facts(m.Profile) // one that cannot be read tells nothing
	}
}

func engineAt(m *moment, endpoint string) *probes.Engine {
	for _, e := range m.engines {
		if e.Endpoint == endpoint {
			return e
		}
	}
	return nil
}

// view is the past as it was at a moment, the last of it.
type view []*moment

func (v view) now() *moment { return v[len(v)-1] }

// last are the samples of the newest d.
func (v view) last(d time.Duration) view {
	from := v.now().At.Add(-d)
	i := len(v)
	for i > 0 && !v[i-1].At.Before(from) {
		i--
	}
	return v[i:]
}

// stale is the age from which a reading does not stand for now.
func (v view) stale() time.Duration { return max(3*v.now().Interval, 5*time.Second) }

func (v view) stands(at time.Time) bool { return v.now().At.Sub(at) <= v.stale() }

// reading is a number and when it was read.
type reading struct {
	at    time.Time
	value float64
}

// readings are what some part of each sample told, each once: a section that was not renewed
// comes again with the same time. Times that go back begin anew.
func (v view) readings(of func(*moment) (reading, bool)) []reading {
	var out []reading
	for _, m := range v {
		r, ok := of(m)
		if !ok {
			continue
		}
		if n := len(out); n > 0 {
			if r.at.Equal(out[n-1].at) {
				continue
			}
			if r.at.Before(out[n-1].at) {
				out = nil
			}
		}
		out = append(out, r)
	}
	return out
}

// growth is what a counter gained over its readings; one that fell began at 0 again.
func growth(rs []reading) (gained, seconds float64, ok bool) {
	if len(rs) < 2 {
		return 0, 0, false
	}
	for i := 1; i < len(rs); i++ {
		a, b := rs[i-1].value, rs[i].value
		switch {
		case b >= a:
			gained += b - a
		case b < a*(1-1e-9): // less is the rounding of a sum
			gained += b
		}
	}
	return gained, rs[len(rs)-1].at.Sub(rs[0].at).Seconds(), true
}

func perSecond(rs []reading) (float64, bool) {
	gained, seconds, ok := growth(rs)
	if !ok || seconds <= 0 {
		return 0, false
	}
	return gained / seconds, true
}
