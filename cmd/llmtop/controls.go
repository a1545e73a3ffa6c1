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

// leave is wish for keys that go elsewhere: a comparison closes.
func (v *viewer) leave(do func()) {
	v.wish(func() {
		v.comparing = nil
		v.pace.begin()
		do()
	})
}

// TogglePause holds the screen still or lets it run on.
func (v *viewer) TogglePause() {
	v.leave(func() {
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
	v.leave(func() {
		v.running = false
		v.move(v.wanted() + n)
	})
}

// Seek moves by a time, or to an end.
func (v *viewer) Seek(by time.Duration) {
	v.leave(func() {
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
		v.pace.speed = min(max(v.pace.speed*factor, slowest), fastest)
		v.pace.begin()
		v.show(fmt.Sprintf("speed %gx", v.pace.speed))
	})
}

// Finding goes on to the next sample whose verdict differs from the one shown, or back
// to where the verdict before began.
func (v *viewer) Finding(n int) {
	if n < 0 {
		v.leave(v.previousFinding)
		return
	}
	v.leave(func() {
		shown, _ := v.line.verdict(v.at)
		differs := func(i int) bool {
			key, known := v.line.verdict(i)
			return known && key != shown
		}
		v.chase = &chase{from: v.at + 1, to: v.line.last(), stop: differs, none: "no other verdict after this"}
		v.pursue()
	})
}

// previousFinding goes to the last sample before this one at which the verdict changed.
// All there were folded on the way here, so their verdicts are known.
func (v *viewer) previousFinding() {
	for i := v.wanted() - 1; i > v.line.first(); i-- {
		key, known := v.line.verdict(i)
		if before, known2 := v.line.verdict(i - 1); known && known2 && key != before {
			v.running = false
			v.move(i)
			return
		}
	}
	v.show("no other verdict before this")
}

// ToMark goes to the next mark, or to the one before.
func (v *viewer) ToMark(n int) {
	v.leave(func() {
		to, text := -1, ""
		for _, m := range v.marks {
			i := v.markedAt(m.At)
			if n > 0 && i > v.wanted() {
				to, text = i, m.Text
				break
			}
			if n < 0 && i < v.wanted() {
				to, text = i, m.Text
			}
		}
		switch {
		case to >= 0:
			v.running = false
			v.move(to)
			if v.live { // a replay says it by itself
				v.show(oneLine("mark: " + text))
			}
		case len(v.marks) == 0:
			v.show("there is no mark")
		case n > 0:
			v.show("no mark after this")
		default:
			v.show("no mark before this")
		}
	})
}

// markedAt is the number of the tick that a mark stands at: the first not before it.
func (v *viewer) markedAt(at time.Time) int {
	i := v.line.index(at)
	if t, ok := v.line.when(i); ok && t.Before(at) && i < v.line.last() {
		return i + 1
	}
	return i
}

// JumpTo goes to the mark set at that time.
func (v *viewer) JumpTo(at time.Time) {
	v.leave(func() {
		v.running = false
		v.move(v.markedAt(at))
	})
}

// nearest is the number of the tick nearest to a time.
func nearest(line timeline, at time.Time) int {
	i := line.index(at)
	t, ok := line.when(i)
	next, ok2 := line.when(i + 1)
	if ok && ok2 && next.Sub(at) < at.Sub(t) {
		return i + 1
	}
	return i
}

// GoTo goes to a time that was typed, where p was shown.
func (v *viewer) GoTo(text string, p panes.Position) error {
	at, err := typedMoment(text, p)
	if err != nil {
		return err
	}
	v.leave(func() {
		if v.live {
			v.running = false
		}
		v.move(nearest(v.line, at))
	})
	return nil
}

// Mark notes the moment shown, and what the verdict was, in the recording or the ring.
func (v *viewer) Mark() {
	v.wish(func() {
		at, ok := v.line.when(v.at)
		switch {
		case !v.live:
			v.show("to mark a recording: llmtop mark add FILE TEXT --at TIME")
		case v.recorder == nil && v.ring == nil:
			v.show("not marked: start with --record, or llmtop mark add FILE TEXT")
		case !ok:
			v.show("nothing to mark yet")
		default:
			verdict, _ := v.line.verdict(v.at)
			if err := v.marker().Mark(at, verdict); err != nil {
				v.show(oneLine("not marked: " + err.Error()))
				return
			}
			v.marks = append(v.marks, panes.Mark{At: at, Text: verdict})
			v.show("marked " + at.UTC().Format("15:04:05Z") + ": " + verdict)
		}
	})
}
