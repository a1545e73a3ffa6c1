package record

import (
	"context"
	"errors"
	"iter"
	"time"

	"llmtop/probes"
)

// Entry is one thing that a recording holds; one of its pointers is set.
type Entry struct {
	Number  int // of the sample, or of the first that is lost
	Sample  *probes.Sample
	Finding *Finding // said of the sample before it
	Mark    *Mark
	Gap     *Gap
	Lost    int // samples that are there and cannot be read

	after int64 // where the record of the sample ends
}

// Entries gives back samples from … to (not included) in the order of the file, with their
// findings and with the marks and gaps among, just before and just after them; last the
// marks of their time that were set later, or wait beside the file. Texts are
// safe to show. An error is the last thing it yields; a sample that is damaged is no error
// but an entry (Lost).
func (r *Reader) Entries(ctx context.Context, from, to int) iter.Seq2[Entry, error] {
	return func(each func(Entry, error) bool) {
		later := laterMarks{all: from <= 0 && to >= r.Len(), given: map[Mark]bool{}}
		yield := func(e Entry, err error) bool {
			later.note(e)
			return each(e, err)
		}
		for _, p := range r.parts {
			begin, end := max(from-p.first, 0), min(to-p.first, p.samples)
			if begin >= end {
				continue
			}
			w := walk{first: p.first, yield: yield}
			v, err := r.use(p)
			switch {
			case err == nil:
				w.volume = v
				w.samples(ctx, begin, end)
			case errors.Is(err, ErrDamaged):
				w.lost(begin, end-begin)
			default:
				w.fail(err)
			}
			if w.ended {
				return
			}
		}
		later.give(r, to, each)
	}
}

// walk is the pass of Entries over one file.
type walk struct {
	volume *volume
	first  int // number of the file's first sample
	yield  func(Entry, error) bool
	next   int // of the index's others
	ended  bool
}

// samples gives the file's samples from … to, and what lies among them.
func (w *walk) samples(ctx context.Context, from, to int) {
	v := w.volume
	if from > 0 {
		w.skip(v.afterSample(from-1), v.afterSample(from))
	}
	lost := 0
	for i := from; i < to && !w.ended; i++ {
		s, err := v.at(i)
		if ctx.Err() != nil {
			w.fail(ctx.Err())
			return
		}
		if errors.Is(err, ErrDamaged) {
			lost++
			continue
		}
		if err != nil {
			w.fail(err)
			return
		}
		after := v.afterSample(i)
		w.others(after)
		w.lost(i-lost, lost)
		lost = 0
		w.give(Entry{Number: w.first + i, Sample: s, after: after})
	}
	w.lost(to-lost, lost)
	if to < v.index.samples {
		w.others(v.afterSample(to))
		return
	}
	w.others(v.end)
}

// afterSample is where the record of sample i ends; of a lost one, where its group does.
func (r *volume) afterSample(i int) int64 {
	g, k := r.groupWith(i)
	if k < len(g.after) {
		return g.after[k]
	}
	return r.limit(g)
}

func (w *walk) fail(err error) {
	w.yield(Entry{}, err)
	w.ended = true
}

func (w *walk) give(e Entry) {
	w.ended = w.ended || !w.yield(e, nil)
}

func (w *walk) lost(first, n int) {
	if n > 0 {
		w.give(Entry{Number: w.first + first, Lost: n})
	}
}

// skip passes over what lies before the end of a sample's record, and over that sample's
// findings, which lie before the end of the next.
func (w *walk) skip(end, next int64) {
	others := w.volume.index.others
	for ; w.next < len(others); w.next++ {
		o := others[w.next]
		if o.offset >= end && (o.kind != typeFinding || o.offset >= next) {
			return
		}
	}
}

// others gives what lies before offset and is no frame.
func (w *walk) others(offset int64) {
	all := w.volume.index.others
	for ; w.next < len(all) && all[w.next].offset < offset && !w.ended; w.next++ {
		if e, ok := w.volume.entry(all[w.next]); ok {
			w.give(e)
		}
	}
}

// entry reads a finding, mark or gap; false when it is none of them or cannot be read.
func (r *volume) entry(o otherEntry) (e Entry, ok bool) {
	switch o.kind {
	case typeFinding:
		f := new(Finding)
		e.Finding, ok = f, r.json(o, f) == nil
		f.State, f.Cause, f.Line = printable(f.State), printable(f.Cause), printable(f.Line)
	case typeMark:
		m := new(Mark)
		e.Mark, ok = m, r.json(o, m) == nil
		m.Text = printable(m.Text)
	case typeGap:
		g := new(Gap)
		e.Gap, ok = g, r.json(o, g) == nil
		g.Reason = printable(g.Reason)
	}
	return e, ok
}

// Between are the numbers of the samples from … to (included) by time: the first, and one
// more than the last. Both are 0 when there is none. An end that is not within the
// recording's time is no bound, so that all there is is there although the clock was set back.
func Between(r *Reader, from, to time.Time) (first, end int) {
	if r.Len() == 0 {
		return 0, 0
	}
	begins, ends := r.span()
	if end = r.Len(); to.Before(time.Unix(0, ends)) {
		end = r.Index(to) + 1
		if s, err := r.At(end - 1); err == nil && s.At.After(to) {
			end--
		}
	}
	if from.After(time.Unix(0, begins)) {
		first = r.Index(from)
		if s, err := r.At(first); err == nil && s.At.Before(from) {
			first++
		}
		if s, err := r.At(first); err == nil && s.At.Before(from) {
			return 0, 0 // the clock never came to from
		}
	}
	if first >= end {
		return 0, 0
	}
	return first, end
}
