package load

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every quantile is within half a bucket of the exact nearest-rank one.
func TestDistributionAgainstExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1e-5, 9e4), 1, 300).Draw(t, "values")
		var d distribution
		for _, v := range values {
			d.add(v)
		}
		slices.Sort(values)
		for _, q := range []float64{0, .01, .5, .9, .95, .99, 1} {
			want := values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
			if got := d.quantile(q); math.Abs(got-want) > 0.0051*want {
				t.Fatalf("quantile %v = %v, want %v", q, got, want)
			}
		}
	})
}

func TestDistributionEnds(t *testing.T) {
	var d distribution
	if d.summary() != nil || d.quantile(.5) != 0 {
		t.Error("an empty distribution has a summary")
	}
	d.add(0)
	d.add(1e9)
	s := d.summary()
	if s.Count != 2 || s.Mean != 5e8 || s.Max != 1e9 || s.P50 > smallest*growth || s.P99 < largest/growth {
		t.Errorf("values beyond both ends: %+v", s)
	}
}

func TestArrivalsArePoisson(t *testing.T) {
	const rate, n = 50.0, 20000
	a := newArrivals(9, rate)
	var last, sum, squares float64
	for range n {
		at := a.next().Seconds()
		gap := at - last
		last, sum, squares = at, sum+gap, squares+gap*gap
	}
	mean := sum / n
	variation := math.Sqrt(squares/n-mean*mean) / mean
	if math.Abs(mean*rate-1) > .03 || math.Abs(variation-1) > .03 {
		t.Errorf("mean gap %v, coefficient of variation %v, want %v and 1", mean, variation, 1/rate)
	}
}
