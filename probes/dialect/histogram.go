package dialect

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// histogramPlan is a histogram made of the series of one or more engines.
type histogramPlan struct {
	field  *field
	bounds []float64 // those that all engines have, ascending, without +Inf
	le     [][]int   // per bound: the bucket series
	inf    []int     // the +Inf buckets: the count where _count is not exposed
	count  []int
	sum    []int
}

func compileHistogram(schema *probes.Schema, byName map[string][]int, f *field) (histogramPlan, bool) {
	h := histogramPlan{field: f}
	buckets := map[float64][]int{}
	most := 0
	for _, i := range pick(schema, byName, f) {
		s := &schema.Series[i]
		switch {
		case strings.HasSuffix(s.Name, "_bucket"):
			le, err := strconv.ParseFloat(s.Label("le"), 64)
			if err != nil || math.IsNaN(le) {
				continue
			}
			buckets[le] = append(buckets[le], i)
			most = max(most, len(buckets[le]))
		case strings.HasSuffix(s.Name, "_count"):
			h.count = append(h.count, i)
		case strings.HasSuffix(s.Name, "_sum"):
			h.sum = append(h.sum, i)
		}
	}
	for le, series := range buckets {
		switch {
		case math.IsInf(le, 1):
			h.inf = series
		case len(series) == most: // engines with other buckets share only these
			h.bounds = append(h.bounds, le)
		}
	}
	slices.Sort(h.bounds)
	for _, le := range h.bounds {
		h.le = append(h.le, buckets[le])
	}
	return h, len(h.sum) > 0 && (len(h.count) > 0 || len(h.inf) > 0)
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
