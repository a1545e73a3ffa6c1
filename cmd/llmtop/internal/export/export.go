// Package export writes what a recording says in formats that other tools read: JSON lines,
// CSV, OpenMetrics text and Chrome traces. What flows in is a record.Reader and a stretch of
// time; signals are computed as on the screen (package rules). Memory does not grow with the
// length of the recording. What cannot be seen is left out or null, never 0.
package export

import (
	"context"
	"iter"
	"time"

	"llmtop/probes/record"
	"llmtop/rules"
)

// Options say what is exported.
type Options struct {
	From, To time.Time      // both included
	Signals  []rules.Signal // in this order
	Raw      bool           // the engines' own series too (JSON, OpenMetrics)
	Progress func(done, all int)
}

// keep is how far back the window of a Diagnoser reaches: signals of a moment depend on
// nothing before that.
const keep = 10 * time.Minute

// row is an entry of a recording; a sample comes with what it means.
type row struct {
	record.Entry
	tick *rules.Tick // nil when it is no sample, or was not wanted
}

// stretch are the numbers of the samples from o.From to o.To, the last one not included,
// by the times of a clock that may have jumped.
func (o *Options) stretch(r *record.Reader) (from, to int) {
	if r.Len() == 0 {
		return 0, 0
	}
	return record.Between(r, o.From, o.To)
}

// rows gives back what lies in the wanted stretch. With meaning, the samples of the ten
// minutes before are folded too, so that the first signals have a past.
func (o *Options) rows(ctx context.Context, r *record.Reader, meaning bool) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		from, to := o.stretch(r)
		var fold *rules.Diagnoser
		if meaning {
			book, err := rules.DefaultBook()
			if err != nil {
				yield(row{}, err)
				return
			}
			fold = rules.NewDiagnoser(book, rules.Options{Keep: keep})
			for e, err := range r.Entries(ctx, r.Index(o.From.Add(-keep)), from) {
				if err != nil {
					yield(row{}, err)
					return
				}
				if e.Sample != nil {
					fold.Observe(e.Sample)
				}
			}
		}
		for e, err := range r.Entries(ctx, from, to) {
			w := row{Entry: e}
			if err == nil && e.Sample != nil {
				if fold != nil {
					w.tick = fold.Observe(e.Sample)
				}
				o.progress(e.Number-from+1, to-from)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
	}
}

func (o *Options) progress(done, all int) {
	if o.Progress != nil {
		o.Progress(done, all)
	}
}
