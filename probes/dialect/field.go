package dialect

import "llmtop/probes"

// field maps one canonical field to an engine's names. Exactly one of number,
// histogram and label is set.
type field struct {
	names  []string // folded, the current one first; the first that the page has is used
	only   only     // labels a series must have
	labels []string // label whose value is the number (info series); the first present

	number    func(*probes.Engine) *probes.Opt[float64]
	histogram func(*probes.Engine) **probes.Histogram
	types     []probes.MetricType // what the TYPE line may say; Untyped is always taken
	join      join
}

// join is how the series of several engines behind one endpoint become one number.
type join uint8

const (
	sum   join = iota // counts, tokens, requests
	worst             // ratios: the highest
	least             // moments: the earliest
)

// only restricts a field to series whose label, under the first of the names
// that the series has, is among the values.
type only struct {
	label  []string
	values []string
}

// admits reports whether a series passes the restriction.
func (o only) admits(s *probes.Series) bool {
	if len(o.label) == 0 {
		return true
	}
	for _, name := range o.label {
		if got := s.Label(name); got != "" {
			for _, want := range o.values {
				if got == want {
					return true
				}
			}
			return false
		}
	}
	return false
}

// admitsType reports whether a field takes series of a type.
func (f *field) admitsType(t probes.MetricType) bool {
	if t == probes.Untyped {
		return true
	}
	for _, want := range f.types {
		if t == want {
			return true
		}
	}
	return false
}

var (
	counters   = []probes.MetricType{probes.Counter}
	gauges     = []probes.MetricType{probes.Gauge}
	histograms = []probes.MetricType{probes.HistogramType}
)
