package rules

import (
	"iter"
	"math"
	"slices"
)

// spanSet is what all requests of a span tell of one measure: those that finished, those in
// flight and, of TTFT, those that still wait or gave up waiting.
type spanSet struct {
	of      measure
	last    float64 // seconds of the span
	told    []told
	flying  []observation
	waiting []observation
	values  []float64 // of all, ascending
}

// set is a measure over the last seconds. It is good for this tick.
func (r *records) set(m measure, last float64) spanSet {
	room := &r.ledger.sets[m]
	s := spanSet{of: m, last: last, told: r.ledger.told, values: r.ledger.values[m]}
	if last != nowSpan.Seconds() {
		room.values = inOrder(room.values[:0], s.told, m, last)
		s.values = room.values
	}
	room.flying, room.waiting = r.inFlightOf(m, last, room.flying[:0]), room.waiting[:0]
	s.flying = room.flying
	more := valuesOf(r.ledger.few[:0], s.flying)
	if m == ofTTFT {
		p95, _ := latency{values: s.with(room, more)}.quantile(0.95).Get()
		room.waiting = r.waitingOver(p95, last, room.waiting)
		s.waiting = room.waiting
		more = valuesOf(more, s.waiting)
	}
	s.values, r.ledger.few = s.with(room, more), more
	return s
}

// with is the values of what finished and of more, ascending.
func (s *spanSet) with(room *scratch, more []float64) []float64 {
	if len(more) == 0 {
		return s.values
	}
	slices.Sort(more)
	room.merged = exchange(room.merged[:0], s.values, nil, more)
	if math.IsNaN(more[0]) || (len(s.values) > 0 && math.IsNaN(s.values[0])) {
		slices.Sort(room.merged) // what is no number comes first
	}
	return room.merged
}

// within are the observations of the set that are no older than so many seconds: what
// finished, oldest section first, then what is in flight, then what waits.
func (s *spanSet) within(last float64) iter.Seq[observation] {
	return func(yield func(observation) bool) {
		for i := range s.told {
			t := &s.told[i]
			if t.ago > last && !t.odd {
				continue
			}
			for j := range t.entries[s.of] {
				e := &t.entries[s.of][j]
				if ago := t.agoOf(e); ago <= last && !yield(observation{value: e.value, ago: ago, of: e.of}) {
					return
				}
			}
		}
		for _, list := range [2][]observation{s.flying, s.waiting} {
			for _, o := range list {
				if o.ago <= last && !yield(o) {
					return
				}
			}
		}
	}
}

func (s *spanSet) all() iter.Seq[observation] { return s.within(s.last) }

// newest is the median of the last recentSpan, of the three newest when it holds fewer.
func (s *spanSet) newest(room []float64) (quick, []float64) {
	values := room[:0]
	for o := range s.within(recentSpan.Seconds()) {
		values = append(values, o.value)
	}
	if len(values) < 3 {
		values = threeNewest(values[:0], s.all())
	}
	slices.Sort(values)
	l := latency{values: values}
	return quick{median: l.quantile(0.5), n: float64(len(values))}, values
}

// threeNewest appends the values of the three that came about last; of equals the first.
func threeNewest(values []float64, all iter.Seq[observation]) []float64 {
	var newest []observation
	for o := range all {
		i := len(newest)
		for i > 0 && o.ago < newest[i-1].ago {
			i--
		}
		if i < 3 {
			newest = slices.Insert(newest, i, o)
			newest = newest[:min(len(newest), 3)]
		}
	}
	return valuesOf(values, newest)
}

func valuesOf(values []float64, all []observation) []float64 {
	for _, o := range all {
		values = append(values, o.value)
	}
	return values
}
