package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"llmtop/panes"
	"llmtop/probes/record"
	"llmtop/rules"
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
	marks    []panes.Mark   // of a replay, and those set live; oldest first
	gaps     []record.Gap   // that a recording tells of

	at      int    // number of the tick shown
	chase   *chase // on the way to another one; nil: there
	running bool   // live: follows the newest; replay: plays
	pace    pace   // of a replay
	wishes  chan func()

	ends      [4]end // of the stretches chosen, by panes.End
	comparing *comparing

	said     string // the last message, and the tick it was said at: the newest live, the one shown else
	saidAt   int
	remarked int    // the tick up to which remarks were made
	catching string // says how far a screen that follows a recording is behind it
}

func newViewer(line timeline, frame panes.Frame, live bool) *viewer {
	return &viewer{line: line, frame: frame, live: live, running: live, pace: pace{speed: 1}, wishes: make(chan func(), 64)}
}

// run serves wishes, arrivals (live; nil otherwise), the way to where the screen is
// wanted, and the replay's clock, until ctx ends.
func (v *viewer) run(ctx context.Context, arrivals <-chan func()) {
	v.move(v.at)
	if v.frame.Message != "" {
		v.show(v.frame.Message)
	}
	for ctx.Err() == nil {
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
			v.work()
		}
	}
}

// work does a slice of what is under way, the way to another tick first.
func (v *viewer) work() {
	switch {
	case v.chase != nil:
		v.pursue()
	case v.comparing.underway():
		v.comparing.slice(v.line)
		v.show("")
	default:
		v.play()
	}
}

// untilNext fires when there is more of the way to go or to compare, or a playing
// replay is due to show its next sample.
func (v *viewer) untilNext() <-chan time.Time {
	switch {
	case v.chase != nil || v.comparing.underway():
		return time.After(0)
	case v.live || !v.running:
		return nil
	case v.at >= v.line.last():
		v.running = false
		v.show("end of the recording")
		return nil
	}
	return time.After(v.pace.until(time.Now(), v.stretchAfter(v.at)))
}

// saidFor is how many samples a message stays on a live screen.
const saidFor = 4

// keepSaid lets a message outlast the next samples while the screen runs on.
func (v *viewer) keepSaid(message string) string {
	now, most := v.at, int(saidFor*max(1, v.pace.speed))
	if v.live {
		now, most = v.line.last(), saidFor
	}
	if message == "" && (v.live || v.running) && now >= v.saidAt && now-v.saidAt < most {
		return v.said
	}
	v.said, v.saidAt = message, now
	return message
}

func (v *viewer) show(message string) {
	f := v.frame
	if message == "" && !v.live && v.chase == nil {
		message = v.remark()
	}
	message = v.keepSaid(message)
	if f.Message = message; message == "" && v.chase != nil {
		f.Message = fmt.Sprintf("reading the recording … %d %%", 100*v.chase.from/max(1, v.chase.to))
	}
	if v.catching != "" {
		f.Message = v.catching
	}
	if v.line.last() >= 0 && v.chase == nil {
		ticks, err := v.line.upTo(v.at)
		if err != nil {
			f.Message = oneLine(err.Error())
		}
		v.frame.Ticks, f.Ticks = ticks, ticks
	}
	start, end := v.line.ends()
	f.Position = panes.Position{Start: start, End: end, Speed: v.pace.speed, Playing: v.running}
	f.Selected, f.Against, f.Marks, f.Comparing = v.chosen(panes.SelectedFrom), v.chosen(panes.AgainstFrom), v.marks, v.comparing.pane()
	if n := len(f.Ticks); n > 0 {
		f.Position.At = f.Ticks[n-1].Point.At
		if !v.live {
			f.Title = titleIn(f.Title, f.Ticks[n-1])
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

// titleOf names what a tick's engine section is about: engine, model, address; of
// several the first, and how many there are besides.
func titleOf(t *rules.Tick) string {
	if len(t.Point.Engines) == 0 {
		return ""
	}
	e := t.Point.Engines[0]
	parts := []string{e.Dialect}
	if more := len(t.Point.Engines) - 1; more > 0 {
		parts = append(parts, fmt.Sprintf("+%d", more)) // not at the end: that is what a narrow screen cuts off
	}
	if e.Model != "" {
		parts = append(parts, e.Model)
	}
	return strings.Join(append(parts, e.Endpoint), " ")
}
