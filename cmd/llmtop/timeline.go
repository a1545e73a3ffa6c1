package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"sort"
	"time"

	"llmtop/probes/record"
	"llmtop/rules"
)

// shownTicks is how much history a screen gets for its sparklines: ten minutes at 1 Hz.
const shownTicks = 600

// timeline is a stretch of ticks that a screen can move in, numbered from 0 without
// gaps. Live it grows at the end; of a recording it is computed as far as needed.
type timeline interface {
	// last is the number of the newest tick there is, -1 for none.
	last() int
	// upTo returns the ticks that end with number i, oldest first; they never change.
	upTo(i int) ([]*rules.Tick, error)
	// index returns the number of the last tick not after t; 0 when all are.
	index(t time.Time) int
	// ends are the times of the first and the newest tick.
	ends() (start, end time.Time)
}

// history keeps the newest ticks; what it hands out never changes.
type history struct {
	ticks   []*rules.Tick
	dropped int // how many came before ticks[0]
}

func (h *history) push(t *rules.Tick) {
	if len(h.ticks) >= 2*shownTicks {
		cut := len(h.ticks) - shownTicks
		h.ticks = slices.Clone(h.ticks[cut:])
		h.dropped += cut
	}
	h.ticks = append(h.ticks, t)
}

func (h *history) last() int { return h.dropped + len(h.ticks) - 1 }

func (h *history) upTo(i int) ([]*rules.Tick, error) {
	n := min(max(i-h.dropped+1, 1), len(h.ticks))
	return h.ticks[max(0, n-shownTicks):n:n], nil
}

func (h *history) index(t time.Time) int {
	n := sort.Search(len(h.ticks), func(i int) bool { return h.ticks[i].Point.At.After(t) })
	return h.dropped + max(0, n-1)
}

func (h *history) ends() (start, end time.Time) {
	if len(h.ticks) == 0 {
		return
	}
	return h.ticks[0].Point.At, h.ticks[len(h.ticks)-1].Point.At
}

// recorded is the timeline of a recording. A diagnosis depends on all samples
// before it, so the recording is folded from its start, once, as far as anybody
// looked; going back beyond the history folds it again.
type recorded struct {
	reader  *record.Reader
	session *session
	done    history
}

func newRecorded(r *record.Reader) (*recorded, error) {
	t := &recorded{reader: r}
	return t, t.rewind()
}

func (t *recorded) rewind() (err error) {
	t.reader.Seek(0)
	t.done = history{}
	t.session, err = newSession(t.reader)
	return err
}

func (t *recorded) last() int { return t.reader.Len() - 1 }

func (t *recorded) upTo(i int) ([]*rules.Tick, error) {
	if i < t.done.dropped || (t.done.dropped > 0 && i-shownTicks/2 < t.done.dropped) {
		if err := t.rewind(); err != nil {
			return nil, err
		}
	}
	for t.done.last() < i {
		tick, err := t.session.next(context.Background())
		if errors.Is(err, io.EOF) {
			break // a damaged tail: show the last good one
		}
		if err != nil {
			return nil, err
		}
		t.done.push(tick)
	}
	if len(t.done.ticks) == 0 {
		return nil, errors.New("the recording holds no sample")
	}
	return t.done.upTo(i)
}

func (t *recorded) index(at time.Time) int { return t.reader.Index(at) }

func (t *recorded) ends() (start, end time.Time) {
	info := t.reader.Info()
	return info.Start, info.End
}
