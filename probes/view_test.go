package probes

import (
	"math"
	"testing"
	"time"
)

// view makes a view of host sections (when read, counter); a negative counter is missing.
func view(readings ...[2]float64) View {
	var v View
	for i, r := range readings {
		s := &Sample{At: sec(float64(i))}
		if r[1] >= 0 || math.IsNaN(r[1]) {
			s.Host = &Host{At: sec(r[0]), CPUBusySecondsTotal: Opt[float64]{value: r[1], seen: true}}
		}
		v.points = append(v.points, bare(s))
	}
	return v
}

func TestIncrease(t *testing.T) {
	cases := []struct {
		name    string
		v       View
		want    float64
		seconds float64
		missing bool
	}{
		{name: "empty", v: view(), missing: true},
		{name: "one reading", v: view([2]float64{0, 5}), missing: true},
		{name: "one reading, repeated", v: view([2]float64{0, 5}, [2]float64{0, 5}, [2]float64{0, 5}), missing: true},
		{name: "growth", v: view([2]float64{0, 5}, [2]float64{1, 7}, [2]float64{2, 12}), want: 7, seconds: 2},
		{name: "flat", v: view([2]float64{0, 5}, [2]float64{1, 5}), want: 0, seconds: 1},
		{name: "by the readings' own times", v: view([2]float64{-3, 5}, [2]float64{-3, 5}, [2]float64{1, 13}), want: 8, seconds: 4},
		{name: "a gap", v: view([2]float64{0, 5}, [2]float64{1, -1}, [2]float64{2, 9}), want: 4, seconds: 2},
		{name: "no number", v: view([2]float64{0, 5}, [2]float64{1, math.NaN()}, [2]float64{2, 9}), want: 4, seconds: 2},
		{name: "reset", v: view([2]float64{0, 100}, [2]float64{1, 104}, [2]float64{2, 3}, [2]float64{3, 5}), want: 9, seconds: 3},
		{name: "two resets", v: view([2]float64{0, 100}, [2]float64{1, 3}, [2]float64{2, 1}), want: 4, seconds: 2},
		{name: "last digits", v: view([2]float64{0, 1000}, [2]float64{1, 1000 - 1e-10}), want: 0, seconds: 1},
		{name: "clock set back", v: view([2]float64{50, 5}, [2]float64{1, 7}, [2]float64{2, 12}), want: 5, seconds: 1},
	}
	for _, c := range cases {
		got, seconds := c.v.Increase(busy)
		if got.Seen() == c.missing || math.Abs(got.Or(0)-c.want) > 1e-9 || math.Abs(seconds-c.seconds) > 1e-9 {
			t.Errorf("%s: got %v in %v s, want %v in %v s", c.name, got, seconds, c.want, c.seconds)
		}
		if rate := c.v.Rate(busy); rate.Seen() == c.missing || !c.missing && math.Abs(rate.Or(0)-c.want/c.seconds) > 1e-9 {
			t.Errorf("%s: rate %v", c.name, rate)
		}
	}
}

func TestObserved(t *testing.T) {
	other := &Histogram{Bounds: []float64{1, 8}, Cumulative: []float64{1, 2}, Count: 2, Sum: 3}
	cases := []struct {
		name string
		seen []*Histogram
		read []float64
		want *Histogram
	}{
		{"empty", nil, nil, nil},
		{"one", []*Histogram{hist(1, 1, 1, 1, 1)}, []float64{0}, nil},
		{"growth", []*Histogram{hist(10, 20, 2, 6, 9), hist(12, 25, 3, 7, 10), hist(14, 30, 3, 8, 12)}, []float64{0, 1, 2}, hist(4, 10, 1, 2, 3)},
		{"repeated", []*Histogram{hist(10, 20, 2, 6, 9), hist(10, 20, 2, 6, 9)}, []float64{0, 0}, nil},
		{"a gap", []*Histogram{hist(10, 20, 2, 6, 9), nil, hist(14, 30, 3, 8, 12)}, []float64{0, 1, 2}, hist(4, 10, 1, 2, 3)},
		{"reset", []*Histogram{hist(10, 20, 2, 6, 9), hist(12, 25, 3, 7, 10), hist(1, 1, 1, 1, 1)}, []float64{0, 1, 2}, hist(3, 6, 2, 2, 2)},
		{"other buckets after growth", []*Histogram{hist(10, 20, 2, 6, 9), hist(12, 25, 3, 7, 10), other}, []float64{0, 1, 2}, nil},
		{"clock set back", []*Histogram{hist(10, 20, 2, 6, 9), hist(11, 21, 3, 7, 10), hist(13, 30, 3, 8, 12)}, []float64{90, 1, 2}, hist(2, 9, 0, 1, 2)},
	}
	for _, c := range cases {
		var v View
		for i := range c.seen {
			v.points = append(v.points, &Point{Sample: &Sample{At: sec(float64(i))}, Engines: []*Engine{{At: sec(c.read[i]), TTFT: c.seen[i]}}})
		}
		got := v.Observed(func(p *Point) (*Histogram, time.Time) { return p.Engines[0].TTFT, p.Engines[0].At })
		if (got == nil) != (c.want == nil) || got != nil && !alike(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}
