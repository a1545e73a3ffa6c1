package probes

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// plainObserved is what View.Observed means, one step after the other.
func plainObserved(v View, d Distribution) *Histogram {
	var total, prev *Histogram
	var last time.Time
	for _, p := range v.points {
		h, at := d(p)
		if h == nil || !v.floor.IsZero() && at.Before(v.floor) {
			continue
		}
		switch {
		case last.IsZero() || at.Before(last):
			total = nil
		case at.Equal(last):
			continue
		default:
			delta, ok := plainSub(h, prev)
			if !ok {
				delta = h
			}
			if total == nil {
				total = delta
			} else if total, ok = total.Add(delta); !ok {
				return nil
			}
		}
		prev, last = h, at
	}
	return total
}

// plainSub is what Histogram.Sub means.
func plainSub(h, older *Histogram) (*Histogram, bool) {
	if !slices.Equal(h.Bounds, older.Bounds) || len(h.Cumulative) != len(h.Bounds) || len(older.Cumulative) != len(h.Bounds) {
		return nil, false
	}
	d := &Histogram{Bounds: h.Bounds, Count: h.Count - older.Count, Sum: h.Sum - older.Sum}
	for i := range h.Cumulative {
		d.Cumulative = append(d.Cumulative, h.Cumulative[i]-older.Cumulative[i])
	}
	fell := d.Sum < 0 && older.Sum >= 0
	if h.Count < older.Count || slices.ContainsFunc(d.Cumulative, func(x float64) bool { return x < 0 }) || fell && -d.Sum > 1e-9*older.Sum {
		return nil, false
	}
	if fell {
		d.Sum = 0
	}
	return d, true
}

// plainIncrease is what View.Increase means: the readings that count, then the sum of their steps.
func plainIncrease(v View, counter Reading) (Opt[float64], float64) {
	var values []float64
	var times []time.Time
	for _, p := range v.points {
		x, at, ok := counter(p)
		n := len(times)
		switch {
		case !ok || math.IsNaN(x) || !v.floor.IsZero() && at.Before(v.floor) || n > 0 && at.Equal(times[n-1]):
			continue
		case n > 0 && at.Before(times[n-1]):
			values, times = nil, nil
		}
		values, times = append(values, x), append(times, at)
	}
	if len(values) < 2 {
		return Opt[float64]{}, 0
	}
	total := 0.0
	for i := 1; i < len(values); i++ {
		switch step := values[i] - values[i-1]; {
		case step >= 0:
			total += step
		case values[i] < values[i-1]*(1-1e-9):
			total += values[i]
		}
	}
	return Some(total), times[len(times)-1].Sub(times[0]).Seconds()
}

// genEngine draws an engine's next reading: growth, a reset, sums whose last digits
// fall, another bucket layout, the same bounds elsewhere in memory, missing numbers.
func genEngine(t *rapid.T, older *Engine, at time.Time) *Engine {
	e := &Engine{At: at}
	if rapid.IntRange(0, 9).Draw(t, "missing") > 0 {
		h := &Histogram{Bounds: boundsOf(rapid.IntRange(0, 19).Draw(t, "bounds"))}
		var before Histogram
		if older != nil && older.TTFT.sound() && len(older.TTFT.Bounds) == len(h.Bounds) && rapid.IntRange(0, 9).Draw(t, "reset") > 0 {
			before = *older.TTFT
		} else {
			before.Cumulative = make([]float64, len(h.Bounds))
		}
		n := 0.0
		for i := range h.Bounds {
			n += float64(rapid.IntRange(0, 3).Draw(t, "in bucket"))
			h.Cumulative = append(h.Cumulative, before.Cumulative[i]+n)
		}
		h.Count, h.Sum = before.Count+n, before.Sum+n*rapid.Float64Range(0, 3).Draw(t, "seconds")
		if rapid.IntRange(0, 19).Draw(t, "last digits") == 0 {
			h.Sum = before.Sum * (1 - 1e-12)
		}
		if rapid.IntRange(0, 29).Draw(t, "unsound") == 0 {
			h.Cumulative = h.Cumulative[:1]
		}
		e.TTFT = h
	}
	e.Finished = Opt[float64]{value: rapid.SampledFrom([]float64{0, 1, 5, 5.25, 1e9, math.NaN()}).Draw(t, "counter"), seen: rapid.IntRange(0, 9).Draw(t, "seen") > 0}
	return e
}

var (
	twoBounds   = []float64{0.1, 1}
	threeBounds = []float64{0.1, 1, 10}
)

func boundsOf(n int) []float64 {
	switch {
	case n == 0:
		return threeBounds
	case n < 5:
		return slices.Clone(twoBounds)
	}
	return twoBounds
}

// Over any window, with sections that come again, clocks that were set and engines
// that began anew, the arithmetic gives what its definition gives, to the last bit.
func TestArithmeticIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWindow(time.Hour, func(s *Sample) *Point { return &Point{Sample: s} })
		clock, mono := 0.0, 0.0
		var e *Engine
		for range rapid.IntRange(0, 30).Draw(t, "ticks") {
			step := rapid.SampledFrom([]float64{1, 1, 1, 1, 1, 0.3, 7}).Draw(t, "step")
			mono += step
			clock += step + rapid.SampledFrom([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 500, -500}).Draw(t, "jump")
			p := w.Push(&Sample{At: sec(clock), Mono: time.Duration(mono * 1e9)})
			if e == nil || rapid.IntRange(0, 3).Draw(t, "renewed") > 0 {
				e = genEngine(t, e, sec(clock-rapid.SampledFrom([]float64{0, 0, 0.2, 4}).Draw(t, "read")))
			}
			p.Engines = []*Engine{e}
		}
		v := w.Since(time.Duration(rapid.IntRange(0, 40).Draw(t, "span")) * time.Second)
		ttft := func(p *Point) (*Histogram, time.Time) { return p.Engines[0].TTFT, p.Engines[0].At }
		if got, want := v.Observed(ttft), plainObserved(v, ttft); !sameHistogram(got, want) {
			t.Errorf("observed %+v, want %+v", got, want)
		}
		counter := func(p *Point) (float64, time.Time, bool) {
			x, ok := p.Engines[0].Finished.Get()
			return x, p.Engines[0].At, ok
		}
		got, seconds := v.Increase(counter)
		if want, over := plainIncrease(v, counter); got != want || seconds != over {
			t.Errorf("increase %v in %v s, want %v in %v s", got, seconds, want, over)
		}
	})
}

func sameHistogram(a, b *Histogram) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Count == b.Count && a.Sum == b.Sum && slices.Equal(a.Cumulative, b.Cumulative) && slices.Equal(a.Bounds, b.Bounds)
}

// What a view gathered is its own: the sections it was read from stay as they were.
func TestObservedLeavesSectionsAlone(t *testing.T) {
	seen := []*Histogram{hist(10, 20, 2, 6, 9), hist(1, 1, 1, 1, 1), hist(3, 4, 1, 2, 2)}
	var v View
	for i, h := range seen {
		v.points = append(v.points, &Point{Sample: &Sample{At: sec(float64(i))}, Engines: []*Engine{{At: sec(float64(i)), TTFT: h}}})
	}
	got := v.Observed(func(p *Point) (*Histogram, time.Time) { return p.Engines[0].TTFT, p.Engines[0].At })
	if !sameHistogram(got, hist(3, 4, 1, 2, 2)) || !sameHistogram(seen[1], hist(1, 1, 1, 1, 1)) {
		t.Errorf("gathered %+v; the section after the reset is now %+v", got, seen[1])
	}
}
