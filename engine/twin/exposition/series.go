package exposition

import (
	"slices"

	"llmtop/probes"
)

// series is one time series, or a histogram with all of its.
type series struct {
	labels  []probes.Label
	kind    probes.MetricType
	bounds  []float64
	told    bool    // it is on the page
	created float64 // when it was put there, Unix seconds

	value   float64   // of a counter or gauge; the sum of the others
	count   float64   // of a histogram or summary
	last    int       // bucket that an observation fell into
	buckets []float64 // observations in each bucket alone; what is above the last bound is only in count
}

func newSeries(r *row, created float64) *series {
	return &series{labels: r.labels, kind: r.kind, bounds: r.bounds, told: !r.late, created: created, buckets: make([]float64, len(r.bounds))}
}

// move changes the series as its kind demands.
func (s *series) move(amount float64, n int) {
	switch s.kind {
	case probes.Gauge:
		s.value = amount
	case probes.Counter:
		s.value += amount
	default:
		s.observe(amount, float64(n))
	}
}

// observe counts n values of the same size.
func (s *series) observe(v, n float64) {
	s.value += float64(v * n) // rounded before it is added, on every machine
	s.count += n
	if s.last = s.bucket(v); s.last < len(s.buckets) {
		s.buckets[s.last] += n
	}
}

// bucket is the first whose bound is not below v; mostly that of the value before.
func (s *series) bucket(v float64) int {
	if i := s.last; i < len(s.bounds) && v <= s.bounds[i] && (i == 0 || v > s.bounds[i-1]) {
		return i
	}
	low, high := 0, len(s.bounds)
	for low < high {
		if mid := (low + high) / 2; s.bounds[mid] < v {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// family is the series of one name, in the order of the table.
type family struct {
	name   string
	kind   probes.MetricType
	series []*series
}

func (f *family) find(labels []probes.Label) *series {
	for _, s := range f.series {
		if slices.Equal(s.labels, labels) {
			return s
		}
	}
	return nil
}
