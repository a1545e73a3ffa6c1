package main

import (
	"slices"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// shownTicks is how much history a screen gets for its sparklines: ten minutes at 1 Hz.
const shownTicks = 600

// timeline is a stretch of ticks that a screen can move in, numbered without gaps.
// Live it grows at the end; of a recording it is computed as far as needed.
type timeline interface {
	// first and last are the numbers of the oldest and the newest tick there are; last is -1 for none.
	first() int
	last() int
	// reach does a slice of the work that upTo(i) needs, short enough for a key to wait
	// for, and says how far that got: to i when none is left. There must be a tick i.
	reach(i int) (got int, err error)
	// upTo returns the ticks that end with number i, oldest first; they never change.
	upTo(i int) ([]*rules.Tick, error)
	// when is the time of tick i; false when its sample is damaged.
	when(i int) (time.Time, bool)
	// verdict is verdictKey of tick i; unknown when nobody reached it yet.
	verdict(i int) (key string, known bool)
	// sample is tick i's; nil when it is damaged, or kept no longer.
	sample(i int) *probes.Sample
	// index is the number of the last tick not after at, of the first when all are.
	index(at time.Time) int
	// ends are the earliest and the latest time.
	ends() (start, end time.Time)
}

// history keeps the newest ticks; what it hands out never changes. A nil tick holds
// the place of a sample that could not be read.
type history struct {
	ticks   []*rules.Tick
	dropped int // how many came before ticks[0]
	holes   int // nil ticks among all
}

func (h *history) push(t *rules.Tick) {
	if len(h.ticks) >= 2*shownTicks {
		cut := len(h.ticks) - shownTicks
		h.ticks = slices.Clone(h.ticks[cut:])
		h.dropped += cut
	}
	if h.ticks = append(h.ticks, t); t == nil {
		h.holes++
	}
}

func (h *history) first() int { return h.dropped }

func (h *history) last() int { return h.dropped + len(h.ticks) - 1 }

func (h *history) reach(i int) (int, error) { return i, nil }

// upTo leaves holes out; with nothing else up to i it is the first tick after them.
func (h *history) upTo(i int) ([]*rules.Tick, error) {
	n := min(max(i-h.dropped+1, 1), len(h.ticks))
	ticks := h.ticks[max(0, n-shownTicks):n:n]
	if h.holes == 0 {
		return ticks, nil
	}
	hole := func(t *rules.Tick) bool { return t == nil }
	if whole := slices.DeleteFunc(slices.Clone(ticks), hole); len(whole) > 0 {
		return whole, nil
	}
	for ; n < len(h.ticks); n++ {
		if h.ticks[n] != nil {
			return h.ticks[n : n+1 : n+1], nil
		}
	}
	return nil, nil
}

func (h *history) tick(i int) *rules.Tick {
	if i < h.dropped || i > h.last() {
		return nil
	}
	return h.ticks[i-h.dropped]
}

func (h *history) when(i int) (time.Time, bool) {
	t := h.tick(i)
	if t == nil {
		return time.Time{}, false
	}
	return t.Point.At, true
}

func (h *history) verdict(i int) (string, bool) {
	t := h.tick(i)
	if t == nil {
		return "", false
	}
	return verdictKey(&t.Diagnosis), true
}

func (h *history) sample(i int) *probes.Sample {
	if t := h.tick(i); t != nil {
		return t.Point.Sample
	}
	return nil
}

func (h *history) index(at time.Time) int {
	for i := h.last(); i > h.first(); i-- {
		if t := h.tick(i); t != nil && !t.Point.At.After(at) {
			return i
		}
	}
	return h.first()
}

func (h *history) ends() (start, end time.Time) {
	if len(h.ticks) == 0 {
		return
	}
	return h.ticks[0].Point.At, h.ticks[len(h.ticks)-1].Point.At
}
