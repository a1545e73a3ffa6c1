package probes

import (
	"sort"
	"time"
)

// Point is a sample and its meaning: the canonical engines of its scrapes and
// the facts of its profile.
type Point struct {
	*Sample
	Engines []*Engine
	Facts   *ProfileFacts
}

// Decoder gives a sample its meaning. It is pure: the same sample, the same point.
type Decoder func(*Sample) *Point

// Window keeps the points of the last keep time, oldest first, by the samples' own clock.
type Window struct {
	keep   time.Duration
	decode Decoder
	points []*Point
}

// NewWindow returns an empty window over the last keep.
func NewWindow(keep time.Duration, decode Decoder) *Window {
	return &Window{keep: keep, decode: decode}
}

// Push adds a sample and drops what is older than keep. A sample that is not
// later than the newest (a clock that jumped back) starts the window afresh.
func (w *Window) Push(s *Sample) *Point {
	p := w.decode(s)
	if n := len(w.points); n > 0 && !s.At.After(w.points[n-1].At) {
		w.points = nil
	}
	w.points = append(w.points, p)
	first := s.At.Add(-w.keep)
	drop := sort.Search(len(w.points), func(i int) bool { return w.points[i].At.After(first) })
	if drop > 64 && drop > len(w.points)/4 {
		w.points = append(make([]*Point, 0, len(w.points)), w.points[drop:]...)
	} else {
		clear(w.points[:drop])
		w.points = w.points[drop:]
	}
	return p
}

// All is the whole window.
func (w *Window) All() View { return View{w.points} }

// Last returns the newest point, nil when empty.
func (w *Window) Last() *Point {
	if len(w.points) == 0 {
		return nil
	}
	return w.points[len(w.points)-1]
}

// Between is the part with from ≤ At ≤ to.
func (w *Window) Between(from, to time.Time) View { return w.All().Between(from, to) }

// Since is the part of the newest d.
func (w *Window) Since(d time.Duration) View {
	last := w.Last()
	if last == nil {
		return View{}
	}
	return w.Between(last.At.Add(-d), last.At)
}

// View is a contiguous part of a window, oldest first.
type View struct{ points []*Point }

// Points returns the points; the caller does not change them.
func (v View) Points() []*Point { return v.points }

// Len is the number of points.
func (v View) Len() int { return len(v.points) }

// Between is the part of the view with from ≤ At ≤ to.
func (v View) Between(from, to time.Time) View {
	i := sort.Search(len(v.points), func(i int) bool { return !v.points[i].At.Before(from) })
	j := sort.Search(len(v.points), func(i int) bool { return v.points[i].At.After(to) })
	if i >= j {
		return View{}
	}
	return View{v.points[i:j]}
}

// Reading finds a number in a point and when it was read; ok is false where it is missing.
type Reading func(*Point) (value float64, at time.Time, ok bool)

// Distribution finds a cumulative histogram in a point; nil where it is missing.
type Distribution func(*Point) (h *Histogram, at time.Time)

// Increase is how much a counter grew over the view, and over how many seconds
// by the readings' own times. A reset counts what came after it. Repeated
// sections (same time) are skipped. Missing with fewer than two readings.
func (v View) Increase(counter Reading) (increase Opt[float64], seconds float64) {
	var total float64
	var first, last time.Time
	var prev float64
	n := 0
	for _, p := range v.points {
		value, at, ok := counter(p)
		if !ok || (n > 0 && !at.After(last)) {
			continue
		}
		if n == 0 {
			first = at
		} else if value < prev {
			total += value
		} else {
			total += value - prev
		}
		prev, last = value, at
		n++
	}
	if n < 2 {
		return Opt[float64]{}, 0
	}
	return Some(total), last.Sub(first).Seconds()
}

// Rate is Increase per second.
func (v View) Rate(counter Reading) Opt[float64] {
	inc, seconds := v.Increase(counter)
	value, ok := inc.Get()
	if !ok || seconds <= 0 {
		return Opt[float64]{}
	}
	return Some(value / seconds)
}

// Values returns the distinct readings of the view in order.
func (v View) Values(reading Reading) (values []float64, times []time.Time) {
	for _, p := range v.points {
		value, at, ok := reading(p)
		if !ok || (len(times) > 0 && !at.After(times[len(times)-1])) {
			continue
		}
		values, times = append(values, value), append(times, at)
	}
	return values, times
}

// Observed is what a histogram gathered over the view, resets handled as in
// Increase; nil with fewer than two readings or when the buckets changed shape.
func (v View) Observed(d Distribution) *Histogram {
	var total, prev *Histogram
	var last time.Time
	for _, p := range v.points {
		h, at := d(p)
		if h == nil || (prev != nil && !at.After(last)) {
			continue
		}
		if prev != nil {
			delta, ok := h.Sub(prev)
			if !ok {
				delta = h
			}
			if total == nil {
				total = delta
			} else if sum, ok := total.Add(delta); ok {
				total = sum
			} else {
				return nil
			}
		}
		prev, last = h, at
	}
	return total
}

// Finished returns the requests of the view that finished, each once, in order.
func (v View) Finished() []*Request {
	var out []*Request
	last := map[string]time.Time{} // a section that was not renewed appears again, with the same At
	for _, p := range v.points {
		for _, section := range p.Requests {
			if section.At.After(last[section.Endpoint]) {
				last[section.Endpoint] = section.At
				out = append(out, section.Finished...)
			}
		}
	}
	return out
}
