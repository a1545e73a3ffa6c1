package dialect

import (
	"math"
	"slices"
	"strconv"

	"llmtop/probes"
)

// row maps one canonical reading to an engine's names. A table may have several rows of
// one reading: the first that the page can fill is taken, so the best source comes first.
type row struct {
	of    string   // canonical name (probes.EngineReadings)
	names []string // folded families, the current one first; the first that the page has is used
	plus  []string // families whose values are added, where the page has them
	over  []string // families by whose value the number is divided,
	times []string // or multiplied,
	per   where    // and the labels that those, and what count names, must have (count: where, when there is none)
	less  []string // families whose value is taken off, the first that the page has; never below 0
	gate  []string // told only while the value of these, the first that the page has, is above 0
	label []string // the number stands in a label ("a*b": a product); the first present
	count []string // makes a histogram without bounds: names' counter is the sum, this counter the count
	minus []string // with count: counters taken off the sum, all of them

	where where    // labels a series must have
	needs []string // the row counts only on a page with one of these families,
	lacks []string // and without any of these

	types []probes.MetricType // what the TYPE line may say; nil: what suits the reading. Untyped is always taken
	scale float64             // to base units; 0: 1
	how   probes.Origin       // 0: exact
	pids  copies
}

// copies says what series are to each other that differ in their pid alone, as
// exporters of several processes leave them behind.
type copies uint8

const (
	sameThing copies = iota // copies of one gauge: the highest
	eachOwn                 // each process tells of its own: added up
)

// where restricts a row to series by label. In each of its conditions the first of the
// labels that a series has decides.
type where []condition

type condition struct {
	labels []string
	values []string // one of these; nil: any but none
	not    bool     // none of these; a series without the label passes
	prefer bool     // only if the page has a series that passes, else the condition falls away
}

// is demands a label's value.
func is(label string, values ...string) where {
	return where{{labels: []string{label}, values: values}}
}

// isNot refuses a label's values.
func isNot(label string, values ...string) where {
	return where{{labels: []string{label}, values: values, not: true}}
}

// prefers takes the series with a label's value alone when there are some. The value
// "" is that of a series without the label.
func prefers(label string, values ...string) where {
	return where{{labels: []string{label}, values: values, prefer: true}}
}

// both demands all of several restrictions.
func both(of ...where) where { return slices.Concat(of...) }

// admits reports whether a series passes one condition.
func (c *condition) admits(s *probes.Series) bool {
	got := ""
	for _, name := range c.labels {
		if got = s.Label(name); got != "" {
			break
		}
	}
	if len(c.values) == 0 {
		return got != ""
	}
	for _, want := range c.values {
		if got == want {
			return !c.not
		}
	}
	return c.not
}

// filter keeps the series that pass all conditions.
func (w where) filter(schema *probes.Schema, series []int) []int {
	for i := range w {
		var out []int
		for _, s := range series {
			if w[i].admits(&schema.Series[s]) {
				out = append(out, s)
			}
		}
		if len(out) > 0 || !w[i].prefer {
			series = out
		}
	}
	return series
}

// admitsType reports whether a row takes series of a type.
func (r *row) admitsType(t probes.MetricType, usual []probes.MetricType) bool {
	if t == probes.Untyped {
		return true
	}
	if r.types != nil {
		usual = r.types
	}
	for _, want := range usual {
		if t == want {
			return true
		}
	}
	return false
}

func (r *row) factor() float64 {
	if r.scale == 0 {
		return 1
	}
	return r.scale
}

func (r *row) origin() probes.Origin {
	if r.how == probes.NotTold {
		return probes.Exact
	}
	return r.how
}

var (
	counters   = []probes.MetricType{probes.Counter}
	gauges     = []probes.MetricType{probes.Gauge}
	anyNumber  = []probes.MetricType{probes.Counter, probes.Gauge}
	histograms = []probes.MetricType{probes.HistogramType}
)

// usualTypes is what a TYPE line says of a canonical reading: counters end in _total.
func usualTypes(of probes.EngineReading, r *row) []probes.MetricType {
	switch {
	case of.Histogram != nil && r.count != nil:
		return counters
	case of.Histogram != nil:
		return histograms
	case len(of.Name) > 6 && of.Name[len(of.Name)-6:] == "_total":
		return counters
	}
	return gauges
}

// labelValue multiplies the labels named in "a*b".
func labelValue(s *probes.Series, names string) (float64, bool) {
	out := 1.0
	for name := range splitStars(names) {
		v, err := strconv.ParseFloat(s.Label(name), 64)
		if err != nil || !(v >= 0) {
			return 0, false
		}
		out *= v
	}
	return out, !math.IsInf(out, 0)
}
