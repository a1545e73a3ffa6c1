package rules

import "llmtop/probes"

// merge is what two engines observed together; nil is nothing. Where their buckets
// differ, the bounds they share are kept: counts at those, the whole count and the sum
// stay exact.
func merge(a, b *probes.Histogram) *probes.Histogram {
	if a == nil || b == nil {
		return either(a, b)
	}
	if sum, ok := a.Add(b); ok {
		return sum
	}
	m := &probes.Histogram{Count: a.Count + b.Count, Sum: a.Sum + b.Sum}
	for i, j := 0, 0; i < min(len(a.Bounds), len(a.Cumulative)) && j < min(len(b.Bounds), len(b.Cumulative)); {
		switch {
		case a.Bounds[i] < b.Bounds[j]:
			i++
		case a.Bounds[i] > b.Bounds[j]:
			j++
		default:
			m.Bounds = append(m.Bounds, a.Bounds[i])
			m.Cumulative = append(m.Cumulative, a.Cumulative[i]+b.Cumulative[j])
			i, j = i+1, j+1
		}
	}
	return m
}

func either(a, b *probes.Histogram) *probes.Histogram {
	if a != nil {
		return a
	}
	return b
}

// sections are the request sections of a point, one an endpoint: an engine that
// was asked twice counts once.
func sections(p *probes.Point) []*probes.Requests {
	if len(p.Requests) < 2 {
		return p.Requests
	}
	seen := map[string]bool{}
	var out []*probes.Requests
	for _, s := range p.Requests {
		if !seen[s.Endpoint] {
			seen[s.Endpoint] = true
			out = append(out, s)
		}
	}
	return out
}
