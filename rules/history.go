package rules

import (
	"math"
	"sort"
	"time"
)

// history keeps the signals of the last keep time, oldest first.
type history struct {
	keep  time.Duration
	at    []time.Time
	ticks []Signals
}

func (h *history) push(at time.Time, s Signals) {
	if n := len(h.at); n > 0 && !at.After(h.at[n-1]) {
		h.at, h.ticks = nil, nil
	}
	h.at, h.ticks = append(h.at, at), append(h.ticks, s)
	drop := sort.Search(len(h.at), func(i int) bool { return h.at[i].After(at.Add(-h.keep)) })
	if drop > 64 {
		h.at = append([]time.Time(nil), h.at[drop:]...)
		h.ticks = append([]Signals(nil), h.ticks[drop:]...)
	}
}

// since is the first index not older than d before at.
func (h *history) since(at time.Time, d time.Duration) int {
	from := at.Add(-d)
	return sort.Search(len(h.at), func(i int) bool { return !h.at[i].Before(from) })
}

// rising reports growth by at least the signal's step over the last seconds, along a
// line (correlation with time of 0.7 or more [proposal]). Unknown with fewer
// than four readings or when they cover less than half of the time.
func (h *history) rising(sig int, at time.Time, seconds float64) truth {
	var xs, ys []float64
	for i := h.since(at, time.Duration(seconds*float64(time.Second))); i < len(h.at); i++ {
		if y, ok := h.ticks[i][sig].Get(); ok {
			xs, ys = append(xs, h.at[i].Sub(at).Seconds()), append(ys, y)
		}
	}
	if len(xs) < 4 || xs[len(xs)-1]-xs[0] < seconds/2 {
		return unknown
	}
	r, ok := correlation(xs, ys)
	if !ok {
		return no
	}
	grown := (ys[len(ys)-1] + ys[len(ys)-2] - ys[0] - ys[1]) / 2
	return truthOf(r >= 0.7 && grown >= table[sig].Step)
}

// corr is Pearson's correlation of two signals; missing with fewer than ten
// pairs or when one of them never moved.
func (h *history) corr(x, y int, at time.Time, seconds float64) (float64, bool) {
	var xs, ys []float64
	for i := h.since(at, time.Duration(seconds*float64(time.Second))); i < len(h.at); i++ {
		a, ok := h.ticks[i][x].Get()
		b, ok2 := h.ticks[i][y].Get()
		if ok && ok2 {
			xs, ys = append(xs, a), append(ys, b)
		}
	}
	if len(xs) < 10 {
		return 0, false
	}
	return correlation(xs, ys)
}

func correlation(xs, ys []float64) (float64, bool) {
	n := float64(len(xs))
	var sx, sy float64
	for i := range xs {
		sx, sy = sx+xs[i], sy+ys[i]
	}
	var sxx, syy, sxy float64
	for i := range xs {
		dx, dy := xs[i]-sx/n, ys[i]-sy/n
		sxx, syy, sxy = sxx+dx*dx, syy+dy*dy, sxy+dx*dy
	}
	if sxx <= 0 || syy <= 0 {
		return 0, false
	}
	return sxy / math.Sqrt(sxx*syy), true
}
