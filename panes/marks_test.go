package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
)

func marksFrame(n int) Frame {
	f := replayFrame()
	for i := range n {
		f.Marks = append(f.Marks, Mark{At: f.Position.At.Add(time.Duration(i-n/2) * time.Minute), Text: fmt.Sprintf("deploy %d\x1b[2J", i)})
	}
	return f
}

// TestMarksScreens lists marks at three sizes; the newest before the moment shown is chosen.
func TestMarksScreens(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			r := start(t, size.w, size.h, &recorder{})
			r.show(marksFrame(9))
			open := r.typed('M', func(a *App) bool { return a.list != nil })
			if strings.Contains(open, "\x1b") || !strings.Contains(open, "→ ") {
				t.Errorf("got\n%s", open)
			}
			golden(t, fmt.Sprintf("marks.%dx%d.screen", size.w, size.h), open)
		})
	}
}

// TestMarksAreChosen goes through a list longer than the screen.
func TestMarksAreChosen(t *testing.T) {
	c := &recorder{}
	f := marksFrame(100)
	r := start(t, 40, 12, c)
	r.show(f)
	r.typed('M', func(a *App) bool { return a.list != nil && a.list.chosen == 50 })
	r.press(tcell.KeyUp, 0, 0, func(a *App) bool { return a.list.chosen == 49 })
	r.press(tcell.KeyPgDn, 0, 0, func(a *App) bool { return a.list.chosen == 57 })
	for range 9 {
		r.press(tcell.KeyPgDn, 0, 0, func(*App) bool { return true })
	}
	last := r.press(tcell.KeyDown, 0, 0, func(a *App) bool { return a.list.chosen == 99 })
	if !strings.Contains(last, "deploy 99") {
		t.Errorf("the chosen mark is out of sight:\n%s", last)
	}
	r.press(tcell.KeyEnter, 0, 0, func(a *App) bool { return a.list == nil })
	if want := "jump " + clock(f.Marks[99].At); len(c.calls) != 1 || c.calls[0] != want {
		t.Errorf("got %v, want %s", c.calls, want)
	}
	r.typed('M', func(a *App) bool { return a.list != nil })
	r.press(tcell.KeyEscape, 0, 0, func(a *App) bool { return a.list == nil })
	r.typed('M', func(a *App) bool { return a.list != nil })
	r.typed('n', func(a *App) bool { return a.list == nil && len(c.calls) == 2 })
	r.show(normalFrame())
	none := r.typed('M', func(a *App) bool { return a.list != nil })
	if !strings.Contains(none, "No mark") {
		t.Errorf("got\n%s", none)
	}
	r.press(tcell.KeyEnter, 0, 0, func(a *App) bool { return a.list == nil })
	if len(c.calls) != 2 {
		t.Errorf("asked for %v", c.calls)
	}
}
