package panes

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// TestKeysDriveControls types every key that goes to Controls and reads what was asked.
func TestKeysDriveControls(t *testing.T) {
	cases := []struct {
		key  tcell.Key
		char rune
		mod  tcell.ModMask
		want string
	}{
		{tcell.KeyRune, ' ', 0, "pause"},
		{tcell.KeyLeft, 0, 0, "step -1"},
		{tcell.KeyRight, 0, 0, "step 1"},
		{tcell.KeyLeft, 0, tcell.ModShift, "seek -10s"},
		{tcell.KeyRight, 0, tcell.ModShift, "seek 10s"},
		{tcell.KeyRune, '[', 0, "seek -10s"},
		{tcell.KeyRune, ']', 0, "seek 10s"},
		{tcell.KeyRune, '{', tcell.ModShift, "seek -1m0s"},
		{tcell.KeyRune, '}', 0, "seek 1m0s"},
		{tcell.KeyHome, 0, 0, "seek " + ToStart.String()},
		{tcell.KeyEnd, 0, 0, "seek " + ToEnd.String()},
		{tcell.KeyRune, '+', 0, "speed 2"},
		{tcell.KeyRune, '-', 0, "speed 0.5"},
		{tcell.KeyRune, '(', 0, "seek -10m0s"},
		{tcell.KeyRune, ')', 0, "seek 10m0s"},
		{tcell.KeyRune, 'n', 0, "finding 1"},
		{tcell.KeyRune, 'N', tcell.ModShift, "finding -1"},
		{tcell.KeyRune, '.', 0, "to mark 1"},
		{tcell.KeyRune, ',', 0, "to mark -1"},
		{tcell.KeyRune, 'a', 0, "end 0"},
		{tcell.KeyRune, 'b', 0, "end 1"},
		{tcell.KeyRune, 'A', tcell.ModShift, "end 2"},
		{tcell.KeyRune, 'B', tcell.ModShift, "end 3"},
		{tcell.KeyRune, 'c', 0, "compare true"},
		{tcell.KeyRune, 'x', 0, "clear"},
		{tcell.KeyRune, 'm', 0, "mark"},
		{tcell.KeyRune, 'w', 0, "keep"},
	}
	c := &markingRecorder{}
	r := start(t, 80, 24, c)
	r.show(replayFrame())
	for i, k := range cases {
		r.press(k.key, k.char, k.mod, func(*App) bool { return len(c.calls) > i })
		if got := c.calls[i]; got != k.want {
			t.Errorf("key %v %q: got %s, want %s", k.key, k.char, got, k.want)
		}
	}
}

func TestMarkNeedsAMarker(t *testing.T) {
	c := &recorder{}
	r := start(t, 80, 24, c)
	r.show(normalFrame())
	r.typed('m', func(*App) bool { return true })
	r.typed('n', func(*App) bool { return len(c.calls) > 0 })
	if got := strings.Join(c.calls, " "); got != "finding 1" {
		t.Errorf("got calls %q, want the finding alone", got)
	}
}

func TestKeyTableIsSound(t *testing.T) {
	seen := map[stroke]string{}
	for _, b := range keyTable() {
		if b.label == "" || b.help == "" || b.do == nil || len(b.strokes) == 0 {
			t.Errorf("binding %q lacks something", b.label)
		}
		for _, s := range b.strokes {
			s.n = 0
			if other, taken := seen[s]; taken {
				t.Errorf("%q and %q share a key", b.label, other)
			}
			seen[s] = b.label
		}
	}
}

func TestHelpShowsEveryKey(t *testing.T) {
	c := &recorder{}
	r := start(t, 80, 24, c)
	r.show(firingFrame())
	help := r.typed('?', func(a *App) bool { return a.help })
	for _, b := range keyTable() {
		if !strings.Contains(help, b.label) || !strings.Contains(help, b.help) {
			t.Errorf("the help lacks %q %q", b.label, b.help)
		}
	}
	if !strings.Contains(help, "DEGRADED") {
		t.Error("the help hides the verdict")
	}
	golden(t, "help.80x24.screen", help)
	back := r.typed('?', func(a *App) bool { return !a.help })
	if !strings.Contains(back, "diagnosis") {
		t.Errorf("the second ? does not bring the panes back:\n%s", back)
	}
	r.typed('?', func(a *App) bool { return a.help })
	r.typed('z', func(a *App) bool { return !a.help })
	if len(c.calls) > 0 {
		t.Errorf("closing the help did %v", c.calls)
	}
}

func TestScrollStaysInside(t *testing.T) {
	r := start(t, 80, 24, &recorder{})
	top := r.show(firingFrame())
	for range 10 {
		r.press(tcell.KeyPgDn, 0, 0, func(*App) bool { return true })
	}
	end := r.press(tcell.KeyDown, 0, 0, func(*App) bool { return true })
	if !strings.Contains(end, "baseline:") || strings.Contains(end, "Answer 429") {
		t.Errorf("not at the end:\n%s", end)
	}
	oneUp := r.press(tcell.KeyUp, 0, 0, func(*App) bool { return true })
	if oneUp == end {
		t.Error("one line up after many beyond the end changes nothing")
	}
	for range 10 {
		r.press(tcell.KeyPgUp, 0, 0, func(*App) bool { return true })
	}
	if again := r.press(tcell.KeyUp, 0, 0, func(*App) bool { return true }); again != top {
		t.Errorf("not at the top again:\n%s", again)
	}
}

func TestQuitKeys(t *testing.T) {
	for _, k := range [...]struct {
		name string
		key  tcell.Key
		char rune
	}{{"q", tcell.KeyRune, 'q'}, {"Ctrl-C", tcell.KeyCtrlC, 0}} {
		t.Run(k.name, func(t *testing.T) {
			r := start(t, 80, 24, &recorder{})
			r.show(normalFrame())
			r.screen.InjectKey(k.key, k.char, 0)
			<-r.done
			if r.err != nil {
				t.Errorf("quitting returned %v", r.err)
			}
		})
	}
}
