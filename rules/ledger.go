package rules

import (
	"slices"
	"time"

	"llmtop/probes"
)

// told is a section of the wide span with what it tells, and how long ago it was read.
type told struct {
	section *probes.Requests
	ago     float64 // seconds
	*digest
}

// agoOf is how long ago an entry came about.
func (t *told) agoOf(e *entry) float64 {
	if e.lag == always {
		return 0
	}
	return t.ago + e.lag
}

// ledger is what the requests that finished in the wide span tell, and the values of
// those in the now span in order. It is carried from tick to tick, so that a tick
// costs what came and what went and not all that is there. What it holds depends on
// the sections of the span alone.
type ledger struct {
	at     time.Time
	told   []told                 // oldest first
	values [numMeasures][]float64 // of the now span, ascending
	odd    bool                   // some of told is
	breaks breaks                 // of the engines behind an endpoint
	gpus   gpus                   // of the newest point

	// what was used and may be used again
	spare   []told
	spent   []float64
	out, in []float64
	last    map[string]time.Time
	sets    [numMeasures]scratch
	few     []float64
}

func newLedger() *ledger { return &ledger{last: map[string]time.Time{}} }

// scratch holds the parts of a spanSet, valid for a tick.
type scratch struct {
	values, merged  []float64
	flying, waiting []observation
}

// take makes sections the content: those of the wide span at a moment, oldest first.
func (l *ledger) take(at time.Time, sections []told) {
	dropped, kept := overlap(l.told, sections)
	odd := false
	for i := range sections {
		if i < kept {
			sections[i].digest = l.told[dropped+i].digest
		} else {
			sections[i].digest = digestOf(sections[i].section)
		}
		odd = odd || sections[i].odd
	}
	for m := range l.values {
		if kept == 0 || odd || l.odd || at.Before(l.at) {
			l.values[m] = inOrder(l.values[m][:0], sections, measure(m), nowSpan.Seconds())
		} else {
			l.move(measure(m), sections, dropped, kept)
		}
	}
	clear(l.told)
	l.at, l.odd, l.told, l.spare = at, odd, sections, l.told[:0]
}

// overlap says how many sections of old are gone and how many of now go on with it:
// the usual case is that some left at the front and some came at the end. None go on
// in any other case.
func overlap(old, now []told) (dropped, kept int) {
	if len(now) == 0 {
		return len(old), 0
	}
	for dropped < len(old) && old[dropped].section != now[0].section {
		dropped++
	}
	kept = len(old) - dropped
	if kept > len(now) {
		return len(old), 0
	}
	for i := range kept {
		if old[dropped+i].section != now[i].section {
			return len(old), 0
		}
	}
	return dropped, kept
}

// inOrder appends the values of a span to an empty slice, ascending.
func inOrder(values []float64, sections []told, m measure, last float64) []float64 {
	for i := range sections {
		t := &sections[i]
		for j := range t.entries[m] {
			if e := &t.entries[m][j]; t.agoOf(e) <= last {
				values = append(values, e.value)
			}
		}
	}
	slices.Sort(values)
	return values
}

// move takes out of the ordered values what left the now span and puts in what came.
func (l *ledger) move(m measure, sections []told, dropped, kept int) {
	last := nowSpan.Seconds()
	out, in := l.out[:0], l.in[:0]
	for i := range l.told {
		t := &l.told[i]
		if t.ago > last || (i >= dropped && sections[i-dropped].ago+t.longest[m] <= last) {
			continue // none of it was in, or all of it still is
		}
		for j := range t.entries[m] {
			e := &t.entries[m][j]
			if t.agoOf(e) <= last && !(i >= dropped && sections[i-dropped].agoOf(e) <= last) {
				out = append(out, e.value)
			}
		}
	}
	in = inOrder(in, sections[kept:], m, last)
	slices.Sort(out)
	if len(out)+len(in) > 0 {
		l.values[m], l.spent = exchange(l.spent[:0], l.values[m], out, in), l.values[m]
	}
	l.out, l.in = out, in
}

// exchange appends to dst the ordered values without out and with in, all ascending; out is
// part of values.
func exchange(dst, values, out, in []float64) []float64 {
	for _, v := range values {
		if len(out) > 0 && out[0] == v {
			out = out[1:]
			continue
		}
		for len(in) > 0 && in[0] < v {
			dst, in = append(dst, in[0]), in[1:]
		}
		dst = append(dst, v)
	}
	return append(dst, in...)
}
