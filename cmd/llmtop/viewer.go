package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"llmtop/panes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// Speeds of a replay, and the longest pause between two of its samples: a gap in a
// recording is shown, not waited for.
const (
	slowest   = 0.25
	fastest   = 64
	longestAt = 3 * time.Second
)

// viewer moves a screen along a timeline: newest tick as it comes (live), or at a
// chosen speed (replay). All of it happens on the goroutine of run; Controls only
// queue what was asked for.
type viewer struct {
	app      *panes.App
	line     timeline
	frame    panes.Frame // what stays the same: title, mode, recording, look
	live     bool
	recorder *record.Writer // nil: not recording
	ring     *incidents     // nil: the past is not kept
	marks    []record.Mark  // of a replay

	at      int     // number of the tick shown
	chase   *chase  // on the way to another one; nil: there
	running bool    // live: follows the newest; replay: plays
	speed   float64 // of a replay
	wishes  chan func()

	said   string // the last message, and the newest tick when it was said
	saidAt int
}

func newViewer(line timeline, frame panes.Frame, live bool) *viewer {
	return &viewer{line: line, frame: frame, live: live, running: live, speed: 1, wishes: make(chan func(), 64)}
}

// run serves wishes, arrivals (live; nil otherwise), the way to where the screen is
// wanted, and the replay's clock, until ctx ends.
func (v *viewer) run(ctx context.Context, arrivals <-chan func()) {
	v.move(v.at)
	if v.frame.Message != "" {
		v.show(v.frame.Message)
	}
	for {
		timer := v.untilNext()
		select {
		case <-ctx.Done():
			return
		case wish := <-v.wishes:
			wish()
		case arrive, ok := <-arrivals:
			if !ok {
				arrivals = nil
				continue
			}
			arrive()
			if v.running {
				v.move(v.line.last())
			}
		case <-timer:
			if v.chase == nil {
				v.move(v.at + 1)
			} else {
				v.pursue()
			}
		}
	}
}

// untilNext fires when there is more of the way to go, or a playing replay is due to
// show its next sample.
func (v *viewer) untilNext() <-chan time.Time {
	switch {
	case v.chase != nil:
		return time.After(0)
	case v.live || !v.running:
		return nil
	case v.at >= v.line.last():
		v.running = false
		v.show("end of the recording")
		return nil
	}
	gap := time.Second
	at, ok := v.line.when(v.at)
	if next, ok2 := v.line.when(v.at + 1); ok && ok2 {
		gap = next.Sub(at)
	}
	return time.After(time.Duration(float64(min(max(gap, 0), longestAt)) / v.speed))
}

// saidFor is how many samples a message stays on a live screen.
const saidFor = 4

// keepSaid lets a message on a live screen outlast the next samples.
func (v *viewer) keepSaid(message string) string {
	if message == "" && v.live && v.line.last()-v.saidAt < saidFor {
		return v.said
	}
	v.said, v.saidAt = message, v.line.last()
	return message
}

func (v *viewer) show(message string) {
	f := v.frame
	message = v.keepSaid(message)
	if f.Message = message; message == "" && v.chase != nil {
		f.Message = fmt.Sprintf("reading the recording … %d %%", 100*v.chase.from/max(1, v.line.last()))
	}
	if v.line.last() >= 0 && v.chase == nil {
		ticks, err := v.line.upTo(v.at)
		if err != nil {
			f.Message = oneLine(err.Error())
		}
		v.frame.Ticks, f.Ticks = ticks, ticks
	}
	start, end := v.line.ends()
	f.Position = panes.Position{Start: start, End: end, Speed: v.speed, Playing: v.running}
	if n := len(f.Ticks); n > 0 {
		f.Position.At = f.Ticks[n-1].Point.At
		if !v.live {
			f.Title = titleIn(f.Title, f.Ticks[n-1])
		}
		if f.Message == "" && !v.live {
			f.Message = v.remark(f.Ticks)
		}
	}
	switch {
	case !v.live:
		f.Mode = panes.Replay
	case !v.running:
		f.Mode = panes.Paused
	}
	if v.recorder != nil {
		f.Unrecorded = whyNot(v.recorder.Err())
	}
	if v.ring != nil {
		v.ring.describe(&f)
	}
	v.app.Show(f)
}

// remark is what a replay has to say about the place shown: a damaged sample, a mark
// set since the sample before.
func (v *viewer) remark(ticks []*rules.Tick) string {
	if _, ok := v.line.when(v.at); !ok {
		return "a damaged sample: shown is the one nearest to it"
	}
	at, before := ticks[len(ticks)-1].Point.At, time.Time{}
	if len(ticks) > 1 {
		before = ticks[len(ticks)-2].Point.At
	}
	for _, m := range v.marks {
		if m.At.After(before) && !m.At.After(at) {
			return oneLine("mark: " + m.Text)
		}
	}
	return ""
}

// whyNot is why a recording does not grow, without the path: the screen has it.
func whyNot(err error) string {
	var in *fs.PathError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &in):
		err = in.Err
	}
	return oneLine(err.Error())
}

// titleIn is the title of a tick in a recording.
func titleIn(file string, t *rules.Tick) string {
	if title := titleOf(t); title != "" {
		return file + " · " + title
	}
	return file
}

// titleOf names what a tick's engine section is about: engine, model, address.
func titleOf(t *rules.Tick) string {
	for _, e := range t.Point.Engines {
		if e.Model != "" {
			return fmt.Sprintf("%s %s %s", e.Dialect, e.Model, e.Endpoint)
		}
		return fmt.Sprintf("%s %s", e.Dialect, e.Endpoint)
	}
	return ""
}
