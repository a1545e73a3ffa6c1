package panes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

var sizes = [...]struct{ w, h int }{{40, 12}, {80, 24}, {160, 48}}

// types types text into the prompt.
func (r *robot) types(text string) (picture string) {
	for i, c := range text {
		picture = r.typed(c, func(a *App) bool { return a.prompt != nil && len(a.prompt.text) == i+1 })
	}
	return picture
}

// TestPromptScreens types what is no time: it stays, with what is wrong, at every size.
func TestPromptScreens(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			c := &recorder{}
			r := start(t, size.w, size.h, c)
			r.show(replayFrame())
			r.typed('g', func(a *App) bool { return a.prompt != nil })
			open := r.types("25:99")
			for _, want := range [...]string{"go to: 25:99", "15:04:05", "+90s", "-5m", "end-30s", "Esc"} {
				if !strings.Contains(open, want) {
					t.Errorf("no %q in\n%s", want, open)
				}
			}
			wrong := r.press(tcell.KeyEnter, 0, 0, func(a *App) bool { return a.prompt != nil && a.prompt.err != "" })
			golden(t, fmt.Sprintf("prompt.%dx%d.screen", size.w, size.h), wrong)
			r.press(tcell.KeyBackspace2, 0, 0, func(a *App) bool { return string(a.prompt.text) == "25:9" && a.prompt.err == "" })
			r.press(tcell.KeyCtrlU, 0, 0, func(a *App) bool { return len(a.prompt.text) == 0 })
			r.types("+90s")
			after := r.press(tcell.KeyEnter, 0, 0, func(a *App) bool { return a.prompt == nil })
			if strings.Contains(after, "go to:") {
				t.Errorf("still open:\n%s", after)
			}
			at := clock(replayFrame().Position.At)
			if got, want := strings.Join(c.calls, "; "), "go to 25:99 from "+at+"; go to +90s from "+at; got != want {
				t.Errorf("asked for %q, want %q", got, want)
			}
		})
	}
}

// TestPromptTakesEveryKey: while it is open, keys are text; Esc closes it and asks for nothing.
func TestPromptTakesEveryKey(t *testing.T) {
	c := &recorder{}
	r := start(t, 80, 24, c)
	r.show(replayFrame())
	r.typed('g', func(a *App) bool { return a.prompt != nil })
	r.types("qnx ?")
	r.press(tcell.KeyLeft, 0, 0, func(a *App) bool { return string(a.prompt.text) == "qnx ?" })
	r.press(tcell.KeyEscape, 0, 0, func(a *App) bool { return a.prompt == nil && !a.help })
	r.typed('g', func(a *App) bool { return a.prompt != nil && len(a.prompt.text) == 0 })
	r.press(tcell.KeyEnter, 0, 0, func(a *App) bool { return a.prompt == nil })
	if len(c.calls) != 0 {
		t.Errorf("asked for %v", c.calls)
	}
	r.typed('g', func(a *App) bool { return a.prompt != nil })
	r.types(strings.Repeat("9", longest))
	r.typed('9', func(a *App) bool { return len(a.prompt.text) == longest })
	r.screen.InjectKey(tcell.KeyCtrlC, 0, 0)
	<-r.done
}

// TestRandomKeys types nonsense over every scene: nothing breaks, and the screen still
// answers afterwards.
func TestRandomKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := []tcell.Key{tcell.KeyUp, tcell.KeyDown, tcell.KeyPgUp, tcell.KeyPgDn, tcell.KeyLeft, tcell.KeyRight, tcell.KeyHome, tcell.KeyEnd,
		tcell.KeyEnter, tcell.KeyEscape, tcell.KeyBackspace2, tcell.KeyTab, tcell.KeyCtrlL, tcell.KeyCtrlU, tcell.KeyF1, tcell.KeyF5, tcell.KeyDelete}
	runes := []rune(" ?hgnNmMabABcx.,+-[]{}()0159:é世z")
	frames := []Frame{emptyFrame(), staleFrame(), replayFrame(), stretchesFrame(), compareFrame(), marksFrame(5)}
	for _, size := range sizes {
		c := &markingRecorder{}
		r := start(t, size.w, size.h, c)
		for i := range 400 {
			if i%20 == 0 {
				r.show(frames[rng.IntN(len(frames))])
			}
			if rng.IntN(3) == 0 {
				r.press(keys[rng.IntN(len(keys))], 0, 0, func(*App) bool { return true })
			} else {
				r.typed(runes[rng.IntN(len(runes))], func(*App) bool { return true })
			}
		}
		r.show(normalFrame())
		r.press(tcell.KeyEscape, 0, 0, func(a *App) bool { return a.prompt == nil })
		r.press(tcell.KeyEscape, 0, 0, func(a *App) bool { return a.list == nil && !a.help })
		if len(c.calls) == 0 {
			t.Error("no key did anything")
		}
	}
}
