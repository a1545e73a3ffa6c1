package dialect

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// histogramPlan is a histogram made of the series of one or more engines.
type histogramPlan struct {
	reading probes.EngineReading
	bounds  []float64 // those that all engines have, ascending, without +Inf, in base units
	le      [][]int   // per bound: the bucket series
	inf     []int     // the +Inf buckets: the count where _count is not exposed
	count   []int
	sum     []int
	scale   float64
}

func compileHistogram(on *page, r *row, of probes.EngineReading, usual []probes.MetricType) (histogramPlan, bool) {
	h := histogramPlan{reading: of, scale: r.factor()}
	picked := on.pick(r, r.names, usual)
	buckets := make([]bucket, 0, len(picked))
	for _, i := range picked {
		s := &on.schema.Series[i]
		switch {
		case strings.HasSuffix(s.Name, "_bucket"):
			le, err := strconv.ParseFloat(s.Label("le"), 64)
			if err != nil || math.IsNaN(le) || math.IsInf(le, -1) {
				continue
			}
			buckets = append(buckets, bucket{le, i})
		case strings.HasSuffix(s.Name, "_count"):
			h.count = append(h.count, i)
		case strings.HasSuffix(s.Name, "_sum"):
			h.sum = append(h.sum, i)
		}
	}
	h.take(buckets)
	return h, len(h.sum) > 0 && (len(h.count) > 0 || len(h.inf) > 0)
}

// bucket is a series and its upper bound.
type bucket struct {
	le     float64
	series int
}

// take puts the buckets of all engines together, bound by bound. Engines with other
// bounds share only those that as many have as any.
func (h *histogramPlan) take(buckets []bucket) {
	slices.SortStableFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.le, b.le) })
	series := make([]int, len(buckets))
	for i, b := range buckets {
		series[i] = b.series
	}
	runs := func(visit func(le float64, of []int)) {
		for from, to := 0, 0; from < len(buckets); from = to {
			for to = from + 1; to < len(buckets) && buckets[to].le == buckets[from].le; to++ {
			}
			visit(buckets[from].le, series[from:to:to])
		}
	}
	most, bounds := 0, 0
	runs(func(_ float64, of []int) { most, bounds = max(most, len(of)), bounds+1 })
	h.bounds, h.le = make([]float64, 0, bounds), make([][]int, 0, bounds)
	runs(func(le float64, of []int) {
		switch {
		case math.IsInf(le, 1):
			h.inf = of
		case len(of) == most:
			h.bounds, h.le = append(h.bounds, le*h.scale), append(h.le, of)
		}
	})
}

// histogram reads the plan's values; nil when the page has no number where one has to be.
func (h *histogramPlan) histogram(values, room []float64) *probes.Histogram {
	out := &probes.Histogram{Bounds: h.bounds, Cumulative: room[:len(h.bounds):len(h.bounds)]}
	count := h.count
	if len(count) == 0 {
		count = h.inf
	}
	ok := true
	out.Count, ok = total(values, count, ok)
	out.Sum, ok = total(values, h.sum, ok)
	out.Sum *= h.scale
	for i, series := range h.le {
		out.Cumulative[i], ok = total(values, series, ok)
	}
	if !ok {
		return nil
	}
	return out
}

// total adds values; ok turns false when one of them is no number.
func total(values []float64, indices []int, ok bool) (float64, bool) {
	t := 0.0
	for _, i := range indices {
		t += values[i]
	}
	return t, ok && !math.IsNaN(t) && !math.IsInf(t, 0)
}

// countedPlan is a histogram without bounds, of two counters: what was spent and how
// often. Its mean is exact, it has no quantiles.
type countedPlan struct {
	reading probes.EngineReading
	sum     []int
	less    []int // taken off the sum
	count   []int
	scale   float64
}

func compileCounted(on *page, r *row, of probes.EngineReading, usual []probes.MetricType) (countedPlan, bool) {
	often := r
	if r.per != nil {
		often = &row{where: r.per, types: r.types}
	}
	c := countedPlan{reading: of, scale: r.factor(), sum: on.sums(r, r.names, usual), count: on.sums(often, r.count, usual)}
	for _, name := range r.plus {
		c.sum = append(c.sum, on.sums(r, []string{name}, usual)...)
	}
	for _, name := range r.minus {
		less := on.sums(r, []string{name}, usual)
		if len(less) == 0 {
			return c, false // a difference needs all its parts
		}
		c.less = append(c.less, less...)
	}
	return c, len(c.sum) > 0 && len(c.count) > 0
}

// sums finds counters, or the sums of histograms where a name is one's with _sum or _count.
func (p *page) sums(r *row, names []string, usual []probes.MetricType) []int {
	for _, name := range names {
		stem, ending := name, ""
		for _, end := range []string{"_sum", "_count"} {
			if s, found := strings.CutSuffix(name, end); found && len(p.byName[s]) > 0 {
				stem, ending = s, end
			}
		}
		if ending == "" {
			if out := p.pick(r, []string{name}, usual); len(out) > 0 {
				return out
			}
			continue
		}
		var out []int
		for _, i := range p.pick(r, []string{stem}, histogramsAndSummaries) {
			if strings.HasSuffix(p.schema.Series[i].Name, ending) {
				out = append(out, i)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

var histogramsAndSummaries = []probes.MetricType{probes.HistogramType, probes.Summary}

// read adds up; nil when something is no number, or more was taken off than there was.
func (c *countedPlan) read(values []float64) *probes.Histogram {
	out, ok := &probes.Histogram{}, true
	out.Count, ok = total(values, c.count, ok)
	out.Sum, ok = total(values, c.sum, ok)
	less, ok := total(values, c.less, ok)
	out.Sum = (out.Sum - less) * c.scale
	if !ok || len(c.less) > 0 && out.Sum < 0 {
		return nil
	}
	return out
}
