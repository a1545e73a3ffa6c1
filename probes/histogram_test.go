package probes

import (
	"math"
	"testing"
)

func hist(count, sum float64, cumulative ...float64) *Histogram {
	return &Histogram{Bounds: []float64{1, 2, 4}, Cumulative: cumulative, Count: count, Sum: sum}
}

func TestHistogramSub(t *testing.T) {
	older := hist(10, 20, 2, 6, 9)
	cases := []struct {
		name string
		now  *Histogram
		want *Histogram
	}{
		{"growth", hist(14, 30, 3, 8, 12), hist(4, 10, 1, 2, 3)},
		{"nothing new", hist(10, 20, 2, 6, 9), hist(0, 0, 0, 0, 0)},
		{"last digit of the sum", hist(10, 20-1e-12, 2, 6, 9), hist(0, 0, 0, 0, 0)},
		{"count fell", hist(3, 30, 3, 3, 3), nil},
		{"a bucket fell", hist(14, 30, 1, 8, 12), nil},
		{"sum fell", hist(14, 11, 3, 8, 12), nil},
		{"other bounds", &Histogram{Bounds: []float64{1, 2, 5}, Cumulative: []float64{3, 8, 12}, Count: 14, Sum: 30}, nil},
		{"fewer bounds", &Histogram{Bounds: []float64{1}, Cumulative: []float64{3}, Count: 14, Sum: 30}, nil},
		{"a count is missing", &Histogram{Bounds: []float64{1, 2, 4}, Cumulative: []float64{3}, Count: 14, Sum: 30}, nil},
		{"missing", nil, nil},
	}
	for _, c := range cases {
		got, ok := c.now.Sub(older)
		if ok != (c.want != nil) {
			t.Errorf("%s: ok %t", c.name, ok)
			continue
		}
		if c.want != nil && !alike(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if _, ok := older.Sub(nil); ok {
		t.Error("a difference to nothing")
	}
}

func TestHistogramAdd(t *testing.T) {
	got, ok := hist(10, 20, 2, 6, 9).Add(hist(4, 10, 1, 2, 3))
	if !ok || !alike(got, hist(14, 30, 3, 8, 12)) {
		t.Errorf("got %+v, %t", got, ok)
	}
	if _, ok := hist(1, 1, 1, 1, 1).Add(&Histogram{Bounds: []float64{1, 2, 8}, Cumulative: []float64{1, 1, 1}}); ok {
		t.Error("added histograms with other buckets")
	}
}

func TestHistogramMean(t *testing.T) {
	if got := hist(4, 10, 0, 0, 0).Mean().Or(-1); got != 2.5 {
		t.Errorf("got %v, want 2.5", got)
	}
	for _, h := range []*Histogram{nil, hist(0, 0, 0, 0, 0), hist(math.NaN(), 1, 0, 0, 0)} {
		if m := h.Mean(); m.Seen() {
			t.Errorf("%+v has a mean: %v", h, m)
		}
	}
}

func TestHistogramQuantile(t *testing.T) {
	h := hist(10, 0, 2, 6, 9) // 2 up to 1, 4 up to 2, 3 up to 4, 1 beyond
	cases := []struct {
		name           string
		h              *Histogram
		q              float64
		want, low, top float64
		missing        bool
	}{
		{name: "inside the first bucket", h: h, q: 0.1, want: 0.5, low: 0, top: 1},
		{name: "at a bound", h: h, q: 0.2, want: 1, low: 0, top: 1},
		{name: "inside a bucket", h: h, q: 0.4, want: 1.5, low: 1, top: 2},
		{name: "beyond the last bound", h: h, q: 0.99, want: 4, low: 4, top: math.Inf(1)},
		{name: "q below 0", h: h, q: -3, want: 0, low: 0, top: 1},
		{name: "q above 1", h: h, q: 3, want: 4, low: 4, top: math.Inf(1)},
		{name: "lowest with an empty bucket", h: hist(3, 0, 0, 3, 3), q: 0, want: 1, low: 1, top: 2},
		{name: "lowest bound 0", h: &Histogram{Bounds: []float64{0, 1}, Cumulative: []float64{5, 5}, Count: 5}, q: 0.5, want: 0, low: 0, top: 0},
		{name: "count below the buckets", h: hist(4, 0, 2, 6, 9), q: 1, want: 1.5, low: 1, top: 2},
		{name: "nothing observed", h: hist(0, 0, 0, 0, 0), q: 0.5, missing: true},
		{name: "no buckets", h: &Histogram{Count: 3, Sum: 4}, q: 0.5, missing: true},
		{name: "no number", h: h, q: math.NaN(), missing: true},
		{name: "nil", q: 0.5, missing: true},
	}
	for _, c := range cases {
		got, low, high := c.h.Quantile(c.q)
		if got.Seen() == c.missing {
			t.Errorf("%s: got %v", c.name, got)
			continue
		}
		if !c.missing && (got.Or(-1) != c.want || low != c.low || high != c.top) {
			t.Errorf("%s: got %v in [%v, %v], want %v in [%v, %v]", c.name, got.Or(-1), low, high, c.want, c.low, c.top)
		}
	}
}

// A page can be read between two increments, so that buckets contradict each
// other; whatever they are, the estimate lies in the bucket that is named.
func FuzzHistogramQuantile(f *testing.F) {
	f.Add(0.5, 10.0, 2.0, 6.0, 9.0)
	f.Add(0.9, 10.0, 9.0, 2.0, 9.0)
	f.Fuzz(func(t *testing.T, q, count, a, b, c float64) {
		got, low, high := hist(count, 1, a, b, c).Quantile(q)
		if v, ok := got.Get(); ok && !(v >= low && v <= high) {
			t.Fatalf("%v not in [%v, %v]", v, low, high)
		}
	})
}

func alike(a, b *Histogram) bool {
	if len(a.Bounds) != len(b.Bounds) || len(a.Cumulative) != len(b.Cumulative) || a.Count != b.Count || a.Sum != b.Sum {
		return false
	}
	for i := range a.Bounds {
		if a.Bounds[i] != b.Bounds[i] || a.Cumulative[i] != b.Cumulative[i] {
			return false
		}
	}
	return true
}
