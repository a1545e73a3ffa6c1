package panes

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
)

// observedScreen tells a robot of every picture, from within the event loop.
type observedScreen struct {
	tcell.SimulationScreen
	mu    sync.Mutex
	after func() // called after each Show, when set
}

func (o *observedScreen) Show() {
	o.SimulationScreen.Show()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.after != nil {
		o.after()
	}
}

func (o *observedScreen) watch(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.after = f
}

// robot is a user at a running App.
type robot struct {
	t      *testing.T
	app    *App
	screen *observedScreen
	done   chan struct{}
	err    error // of Run, once done is closed
}

// start runs an App on a screen of w by h; it is stopped and waited for when the test ends.
func start(t *testing.T, w, h int, c Controls) *robot {
	t.Helper()
	screen := &observedScreen{SimulationScreen: newScreen(t, w, h)}
	r := &robot{t: t, app: NewApp(screen, c), screen: screen, done: make(chan struct{})}
	go func() { defer close(r.done); r.err = r.app.Run() }()
	t.Cleanup(func() { r.app.Stop(); <-r.done })
	return r
}

// until does something and returns the first picture after it for which the
// condition holds; the condition runs in the event loop and may look at the App.
func (r *robot) until(do func(), holds func(*App) bool) string {
	r.t.Helper()
	pictures := make(chan string, 1)
	r.screen.watch(func() {
		if holds(r.app) {
			select {
			case pictures <- picture(r.screen.SimulationScreen, themeOf(r.app.frame.Look)):
			default:
			}
		}
	})
	defer r.screen.watch(nil)
	do()
	select {
	case p := <-pictures:
		return p
	case <-r.done:
		r.t.Fatalf("the screen ended: %v", r.err)
		return ""
	}
}

// show shows a frame and returns its picture.
func (r *robot) show(f Frame) string {
	return r.until(func() { r.app.Show(f) }, func(a *App) bool { return reflect.DeepEqual(a.frame, f) })
}

// press types a key and returns the picture once holds.
func (r *robot) press(k tcell.Key, char rune, mod tcell.ModMask, holds func(*App) bool) string {
	return r.until(func() { r.screen.InjectKey(k, char, mod) }, holds)
}

func (r *robot) typed(char rune, holds func(*App) bool) string {
	return r.press(tcell.KeyRune, char, tcell.ModNone, holds)
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

// recorder is Controls that notes what was asked; the event loop alone calls it.
type recorder struct{ calls []string }

func (c *recorder) note(format string, a ...any) {
	c.calls = append(c.calls, fmt.Sprintf(format, a...))
}
func (c *recorder) TogglePause()          { c.note("pause") }
func (c *recorder) Step(n int)            { c.note("step %d", n) }
func (c *recorder) Seek(by time.Duration) { c.note("seek %v", by) }
func (c *recorder) Speed(factor float64)  { c.note("speed %g", factor) }
func (c *recorder) Finding(n int)         { c.note("finding %d", n) }
func (c *recorder) ToMark(n int)          { c.note("to mark %d", n) }
func (c *recorder) JumpTo(at time.Time)   { c.note("jump %s", clock(at)) }
func (c *recorder) SetEnd(e End)          { c.note("end %d", e) }
func (c *recorder) ClearEnds()            { c.note("clear") }
func (c *recorder) Compare(open bool)     { c.note("compare %t", open) }

func (c *recorder) GoTo(text string, p Position) error {
	c.note("go to %s from %s", text, clock(p.At))
	if text == "25:99" {
		return errors.New("no time: try 15:04:05 +90s end-30s")
	}
	return nil
}

// markingRecorder can mark as well.
type markingRecorder struct{ recorder }

func (c *markingRecorder) Mark() { c.note("mark") }
func (c *markingRecorder) Keep() { c.note("keep") }
