package probes

import (
	"math"
	"time"
)

// Reading finds a number in a point and when it was read; ok is false where it is missing.
type Reading func(*Point) (value float64, at time.Time, ok bool)

// Distribution finds a cumulative histogram in a point; nil where it is missing.
type Distribution func(*Point) (h *Histogram, at time.Time)

// order tells what a reading made at is to the one before it: a section that was
// not renewed comes again with the same time and counts once; one that is older
// than its predecessor was dated by a clock that has since been set back, and
// arithmetic starts afresh with it.
type order uint8

const (
	next   order = iota
	again        // nothing new
	afresh       // forget what came before
)

// place compares a reading's time with the one before (zero: none).
func (v View) place(at, last time.Time) order {
	switch {
	case !v.floor.IsZero() && at.Before(v.floor):
		return again
	case last.IsZero() || at.Before(last):
		return afresh
	case at.Equal(last):
		return again
	}
	return next
}

// Increase is how much a counter grew over the view, and over how many seconds
// by the readings' own times. A reset counts what came after it. Repeated
// sections (same time) are skipped. Missing with fewer than two readings.
func (v View) Increase(counter Reading) (increase Opt[float64], seconds float64) {
	var total, prev float64
	var first, last time.Time
	n := 0
	for _, p := range v.points {
		value, at, ok := counter(p)
		if !ok || math.IsNaN(value) {
			continue
		}
		switch v.place(at, last) {
		case again:
			continue
		case afresh:
			n, total, first = 0, 0, at
		default:
			total += grown(prev, value)
		}
		prev, last = value, at
		n++
	}
	if n < 2 {
		return Opt[float64]{}, 0
	}
	return Some(total), last.Sub(first).Seconds()
}

// grown is what a counter gained; after a reset it began again at 0. Counters
// that are sums of floats may fall in their last digits: that is no reset.
func grown(before, now float64) float64 {
	switch {
	case now >= before:
		return now - before
	case now >= before*(1-1e-9):
		return 0
	}
	return now
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
	var last time.Time
	for _, p := range v.points {
		value, at, ok := reading(p)
		if !ok {
			continue
		}
		switch v.place(at, last) {
		case again:
			continue
		case afresh:
			values, times = nil, nil
		}
		values, times, last = append(values, value), append(times, at), at
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
		if h == nil {
			continue
		}
		switch v.place(at, last) {
		case again:
			continue
		case afresh:
			total = nil
		default:
			if total == nil {
				total = &Histogram{Bounds: h.Bounds, Cumulative: make([]float64, len(h.Cumulative))}
			} else if !total.sameBuckets(h) {
				return nil
			}
			total.gain(h, prev)
		}
		prev, last = h, at
	}
	return total
}
