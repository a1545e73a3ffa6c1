package main

import (
	"context"
	"fmt"
	"time"

	"llmtop/panes"
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
	app   *panes.App
	line  timeline
	frame panes.Frame // what stays the same: title, mode, recording, look
	live  bool

	at      int     // number of the tick shown
	running bool    // live: follows the newest; replay: plays
	speed   float64 // of a replay
	mark    func() error
	wishes  chan func()
}

func newViewer(line timeline, frame panes.Frame, live bool) *viewer {
	return &viewer{line: line, frame: frame, live: live, running: live, speed: 1, wishes: make(chan func(), 64)}
}

// run serves wishes, arrivals (live; nil otherwise) and the replay's clock until ctx ends.
func (v *viewer) run(ctx context.Context, arrivals <-chan func()) {
	v.show("")
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
				v.at = v.line.last()
				v.show("")
			}
		case <-timer:
			v.move(v.at + 1)
		}
	}
}

// untilNext fires when a playing replay is due to show its next sample.
func (v *viewer) untilNext() <-chan time.Time {
	if v.live || !v.running {
		return nil
	}
	if v.at >= v.line.last() {
		v.running = false
		v.show("end of the recording")
		return nil
	}
	ticks, err := v.line.upTo(v.at + 1)
	if err != nil || len(ticks) < 2 {
		return time.After(time.Second)
	}
	gap := ticks[len(ticks)-1].Point.At.Sub(ticks[len(ticks)-2].Point.At)
	return time.After(time.Duration(float64(min(max(gap, 0), longestAt)) / v.speed))
}

// move shows tick i, or the nearest there is.
func (v *viewer) move(i int) {
	v.at = min(max(i, 0), max(0, v.line.last()))
	v.show("")
}

func (v *viewer) show(message string) {
	f := v.frame
	f.Message = message
	if v.line.last() >= 0 {
		ticks, err := v.line.upTo(v.at)
		if err != nil {
			f.Message = oneLine(err.Error())
		}
		f.Ticks = ticks
	}
	start, end := v.line.ends()
	f.Position = panes.Position{Start: start, End: end, Speed: v.speed, Playing: v.running}
	if n := len(f.Ticks); n > 0 {
		f.Position.At = f.Ticks[n-1].Point.At
	}
	switch {
	case !v.live:
		f.Mode = panes.Replay
	case !v.running:
		f.Mode = panes.Paused
	}
	v.app.Show(f)
}

// wish queues what a key asked for; with 64 keys unserved the rest is dropped.
func (v *viewer) wish(do func()) {
	select {
	case v.wishes <- do:
	default:
	}
}

// TogglePause holds the screen still or lets it run on.
func (v *viewer) TogglePause() {
	v.wish(func() {
		v.running = !v.running
		if v.live && v.running {
			v.at = v.line.last()
		}
		if !v.live && v.running && v.at >= v.line.last() {
			v.at = 0
		}
		v.show("")
	})
}

// Step goes n samples on, or back; a live screen pauses.
func (v *viewer) Step(n int) {
	v.wish(func() {
		v.running = false
		v.move(v.at + n)
	})
}

// Seek moves by a time, or to an end.
func (v *viewer) Seek(by time.Duration) {
	v.wish(func() {
		if v.live {
			v.running = by == panes.ToEnd
		}
		switch ticks, err := v.line.upTo(v.at); {
		case by == panes.ToStart:
			v.move(0)
		case by == panes.ToEnd:
			v.move(v.line.last())
		case err == nil && len(ticks) > 0:
			v.move(v.line.index(ticks[len(ticks)-1].Point.At.Add(by)))
		}
	})
}

// Speed multiplies the speed of a replay.
func (v *viewer) Speed(factor float64) {
	v.wish(func() {
		if v.live {
			v.show("speed is for replays")
			return
		}
		v.speed = min(max(v.speed*factor, slowest), fastest)
		v.show(fmt.Sprintf("speed %gx", v.speed))
	})
}

// NextFinding goes on to the next sample whose verdict differs from the one shown.
func (v *viewer) NextFinding() {
	v.wish(func() {
		from := v.verdictAt(v.at)
		for i := v.at + 1; i <= v.line.last(); i++ {
			if v.verdictAt(i) != from {
				v.running = false
				v.move(i)
				return
			}
		}
		v.show("no other verdict after this")
	})
}

func (v *viewer) verdictAt(i int) string {
	ticks, err := v.line.upTo(i)
	if err != nil || len(ticks) == 0 {
		return ""
	}
	return verdictKey(&ticks[len(ticks)-1].Diagnosis)
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
