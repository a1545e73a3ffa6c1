package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// slice is how many samples are folded before keys are looked at again: some tens
// of milliseconds.
const slice = 16

// recorded is the timeline of a recording; its numbers are the reader's. A diagnosis
// depends on all samples before it, so the recording is folded from its start, once,
// as far as anybody looked; going back beyond the history folds it again from the
// nearest checkpoint.
type recorded struct {
	reader     *record.Reader
	session    *session
	done       history
	folds      int // samples folded so far, those folded again included
	aside      checkpoints
	verdicts   []string // of every tick folded so far, also those that the history dropped
	start, end time.Time
	marks      []record.Mark
	gaps       []record.Gap
	lean       bool // only verdicts are wanted: no tick is kept
}

func newRecorded(r *record.Reader) (*recorded, error) {
	info := r.Info()
	t := &recorded{reader: r, start: info.Start, end: info.End, marks: info.Marks, gaps: info.Gaps}
	return t, t.rewind()
}

// rewind goes back to the start.
func (t *recorded) rewind() (err error) {
	t.reader.Seek(0)
	t.done = history{}
	t.session, err = newSession(t.reader)
	return err
}

func (t *recorded) first() int { return 0 }

func (t *recorded) last() int { return t.reader.Len() - 1 }

func (t *recorded) reach(i int) (int, error) {
	if err := t.approach(i); err != nil {
		return 0, err
	}
	for n := 0; t.done.last() < i; n++ {
		if n == slice {
			return t.done.last(), nil
		}
		if err := t.fold(); err != nil {
			return 0, err
		}
	}
	return i, nil
}

// approach resumes at the checkpoint from which it is least work to i, when it is
// before what is at hand, or when that is less than to go on.
func (t *recorded) approach(i int) error {
	back := i < t.done.dropped || (t.done.dropped > 0 && i-shownTicks/2 < t.done.dropped)
	c, ok := t.aside.before(i - shownTicks + 1)
	switch {
	case ok && (back || c.at > t.done.last()+1):
		t.resume(c)
		return nil
	case back:
		return t.rewind()
	}
	return nil
}

// fold takes in the next sample that can be read; those before it that cannot, and
// those of a damaged tail, leave holes, so that numbers stay the reader's.
func (t *recorded) fold() error {
	tick, err := t.session.next(context.Background())
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	t.folds++
	holes := t.reader.Position()
	if tick != nil {
		holes--
	}
	for t.done.last()+1 < holes {
		t.keep(nil)
	}
	if tick != nil {
		t.keep(tick)
	}
	t.setAside()
	return nil
}

func (t *recorded) keep(tick *rules.Tick) {
	t.done.push(tick)
	n := len(t.verdicts)
	if t.lean {
		t.done = history{dropped: t.done.last() + 1}
	}
	if t.done.last() < n {
		return // folded before
	}
	var before, key string
	if n > 0 {
		before = t.verdicts[n-1]
	}
	if key = before; tick != nil {
		if key = verdictKey(&tick.Diagnosis); key == before {
			key = before // one string for all that are equal
		}
	}
	t.verdicts = append(t.verdicts, key)
}

// judge makes the verdicts of all samples up to i known.
func (t *recorded) judge(ctx context.Context, i int, p *progress) error {
	for len(t.verdicts) <= i {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.fold(); err != nil {
			return err
		}
		p.report(len(t.verdicts), i+1)
	}
	return nil
}

// goTo reaches i, the nearest there is, and returns the ticks that end there.
func (t *recorded) goTo(ctx context.Context, i int, p *progress) ([]*rules.Tick, error) {
	defer p.end()
	i = min(max(i, 0), t.last())
	if err := t.judge(ctx, i, p); err != nil {
		return nil, err
	}
	return t.upTo(i)
}

// upTo reaches i first, however long that takes.
func (t *recorded) upTo(i int) ([]*rules.Tick, error) {
	i = min(max(i, 0), t.last())
	for got := -1; got < i; {
		var err error
		if got, err = t.reach(i); err != nil {
			return nil, err
		}
	}
	ticks, _ := t.done.upTo(i)
	if len(ticks) == 0 {
		return nil, fmt.Errorf("none of the %d samples can be read", t.reader.Len())
	}
	return ticks, nil
}

func (t *recorded) when(i int) (time.Time, bool) {
	s, err := t.reader.At(i)
	if err != nil {
		return time.Time{}, false
	}
	return s.At, true
}

func (t *recorded) verdict(i int) (string, bool) {
	if i < 0 || i >= len(t.verdicts) {
		return "", false
	}
	return t.verdicts[i], true
}

func (t *recorded) sample(i int) *probes.Sample {
	s, err := t.reader.At(i)
	if err != nil {
		return nil
	}
	return s
}

func (t *recorded) ends() (start, end time.Time) { return t.start, t.end }

// index is the number of the last sample not after at; 0 when all are.
func (t *recorded) index(at time.Time) int { return t.reader.Index(at) }
