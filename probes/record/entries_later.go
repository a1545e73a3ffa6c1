package record

import "time"

// laterMarks finds the marks of a stretch of a recording that are not among its samples: a
// mark that is set when the recording is over stands at its end, or waits beside it.
type laterMarks struct {
	all         bool // the stretch is the whole recording
	first, last time.Time
	given       map[Mark]bool // those that were among the samples, at most maxListed
}

// note takes in what is given of the stretch.
func (l *laterMarks) note(e Entry) {
	switch {
	case e.Mark != nil && len(l.given) < maxListed:
		l.given[*e.Mark] = true
	case e.Sample != nil && (l.first.IsZero() || e.Sample.At.Before(l.first)):
		l.first = e.Sample.At
	}
	if e.Sample != nil && e.Sample.At.After(l.last) {
		l.last = e.Sample.At
	}
}

// give gives the marks of the stretch's time, up to sample end, that were not given yet. A
// stretch without a sample has none.
func (l *laterMarks) give(r *Reader, end int, yield func(Entry, error) bool) {
	if l.first.IsZero() {
		return
	}
	if s, err := r.At(end); err == nil && s.At.After(l.last) {
		l.last = s.At.Add(-1)
	}
	for _, m := range r.Info().Marks {
		within := l.all || !m.At.Before(l.first) && !m.At.After(l.last)
		if within && !l.given[m] && !yield(Entry{Mark: &m}, nil) {
			return
		}
	}
}
