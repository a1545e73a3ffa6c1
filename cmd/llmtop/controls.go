package main

import (
	"fmt"
	"time"

	"llmtop/panes"
)

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
		switch {
		case v.live && v.running:
			v.move(v.line.last())
		case !v.live && v.running && v.wanted() >= v.line.last():
			v.move(v.line.first())
		default:
			v.show("")
		}
	})
}

// Step goes n samples on, or back; a live screen pauses.
func (v *viewer) Step(n int) {
	v.wish(func() {
		v.running = false
		v.move(v.wanted() + n)
	})
}

// Seek moves by a time, or to an end.
func (v *viewer) Seek(by time.Duration) {
	v.wish(func() {
		if v.live {
			v.running = by == panes.ToEnd
		}
		switch by {
		case panes.ToStart:
			v.move(v.line.first())
		case panes.ToEnd:
			v.move(v.line.last())
		default:
			v.move(travel(v.line, v.wanted(), by))
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
		shown, _ := v.line.verdict(v.at)
		differs := func(i int) bool {
			key, known := v.line.verdict(i)
			return known && key != shown
		}
		v.chase = &chase{from: v.at + 1, to: v.line.last(), stop: differs, none: "no other verdict after this"}
		v.pursue()
	})
}

// Mark notes the moment shown, and what the verdict was, in the recording or the ring.
func (v *viewer) Mark() {
	v.wish(func() {
		at, ok := v.line.when(v.at)
		switch {
		case !v.live:
			v.show("marks are set while recording; a recording stays as it is")
		case v.recorder == nil && v.ring == nil:
			v.show("nothing to mark: start with --record FILE")
		case !ok:
			v.show("nothing to mark yet")
		default:
			verdict, _ := v.line.verdict(v.at)
			if err := v.marker().Mark(at, verdict); err != nil {
				v.show(oneLine("not marked: " + err.Error()))
				return
			}
			v.show("marked " + at.UTC().Format("15:04:05Z") + ": " + verdict)
		}
	})
}
