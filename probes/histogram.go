package probes

import (
	"math"
	"sort"
)

// Histogram is a Prometheus histogram, cumulative in time and over buckets:
// Cumulative[i] counts observations ≤ Bounds[i]; Count counts all.
type Histogram struct {
	Bounds     []float64 // ascending upper bounds without +Inf; shared, never changed
	Cumulative []float64
	Count      float64
	Sum        float64
}

// sound reports whether every bound has its count.
func (h *Histogram) sound() bool { return h != nil && len(h.Bounds) == len(h.Cumulative) }

// sameBuckets reports whether two histograms can be added and subtracted. Those of
// one page shape mostly share their bounds.
func (h *Histogram) sameBuckets(o *Histogram) bool {
	if !h.sound() || !o.sound() || len(h.Bounds) != len(o.Bounds) {
		return false
	}
	if len(h.Bounds) > 0 && &h.Bounds[0] == &o.Bounds[0] {
		return true
	}
	for i := range h.Bounds {
		if h.Bounds[i] != o.Bounds[i] {
			return false
		}
	}
	return true
}

// Sub returns what was observed since older. A reset (the engine restarted) or a
// changed bucket layout returns ok false: the window has to be dropped.
func (h *Histogram) Sub(older *Histogram) (delta *Histogram, ok bool) {
	sum, ok := h.since(older)
	if !ok {
		return nil, false
	}
	d := &Histogram{Bounds: h.Bounds, Cumulative: make([]float64, len(h.Cumulative)), Count: h.Count - older.Count, Sum: sum}
	for i := range h.Cumulative {
		d.Cumulative[i] = h.Cumulative[i] - older.Cumulative[i]
	}
	return d, true
}

// since reports whether h goes on with older, and then what its Sum gained.
func (h *Histogram) since(older *Histogram) (sum float64, ok bool) {
	if !h.sameBuckets(older) || h.Count < older.Count {
		return 0, false
	}
	sum = h.Sum - older.Sum
	if sum < 0 { // a sum of floats may fall in its last digits, a restart is more than that
		if older.Sum >= 0 && -sum > 1e-9*older.Sum {
			return 0, false
		}
		if older.Sum >= 0 {
			sum = 0
		}
	}
	before := older.Cumulative[:len(h.Cumulative)]
	for i, c := range h.Cumulative {
		if c < before[i] {
			return 0, false
		}
	}
	return sum, true
}

// gain adds to t, whose numbers are its own and whose buckets are those of h, what h
// holds beyond older; all of it when h does not go on with older.
func (t *Histogram) gain(h, older *Histogram) {
	own := t.Cumulative[:len(h.Cumulative)]
	sum, ok := h.since(older)
	if !ok {
		t.Count, t.Sum = t.Count+h.Count, t.Sum+h.Sum
		for i, c := range h.Cumulative {
			own[i] += c
		}
		return
	}
	t.Count, t.Sum = t.Count+(h.Count-older.Count), t.Sum+sum
	before := older.Cumulative[:len(h.Cumulative)]
	for i, c := range h.Cumulative {
		own[i] += c - before[i]
	}
}

// Add returns the sum of two histograms with the same buckets; ok is false when they differ.
func (h *Histogram) Add(o *Histogram) (sum *Histogram, ok bool) {
	if !h.sameBuckets(o) {
		return nil, false
	}
	s := &Histogram{Bounds: h.Bounds, Cumulative: make([]float64, len(h.Cumulative)), Count: h.Count + o.Count, Sum: h.Sum + o.Sum}
	for i := range h.Cumulative {
		s.Cumulative[i] = h.Cumulative[i] + o.Cumulative[i]
	}
	return s, true
}

// Mean is exact: Sum over Count. Missing when nothing was observed.
func (h *Histogram) Mean() Opt[float64] {
	if h == nil || h.Count <= 0 {
		return Opt[float64]{}
	}
	return Some(h.Sum / h.Count)
}

// Quantile estimates the q-quantile by linear interpolation inside the bucket
// that holds it (Prometheus histogram_quantile). low and high are the bucket's
// bounds: all that is really known. Beyond the last bound the estimate is that bound
// and high is +Inf. Missing when nothing was observed.
func (h *Histogram) Quantile(q float64) (estimate Opt[float64], low, high float64) {
	if !h.sound() || !(h.Count > 0) || len(h.Bounds) == 0 || math.IsNaN(q) {
		return Opt[float64]{}, 0, 0
	}
	rank := min(max(q, 0), 1) * h.Count
	i := sort.Search(len(h.Cumulative), func(i int) bool { return h.Cumulative[i] >= rank && h.Cumulative[i] > 0 })
	if i == len(h.Bounds) {
		return Some(h.Bounds[i-1]), h.Bounds[i-1], math.Inf(1)
	}
	high = h.Bounds[i]
	var below float64
	if i > 0 {
		low, below = h.Bounds[i-1], h.Cumulative[i-1]
	} else if high <= 0 {
		low = high // nothing is known of a lowest bucket that reaches below 0
	}
	in := h.Cumulative[i] - below
	if in <= 0 {
		return Some(high), low, high
	}
	return Some(min(max(low, low+(high-low)*(rank-below)/in), high)), low, high
}
