package panes

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// ErrStalled is returned by Run when it was told to stop but the terminal takes
// no more output, so that it could not be restored in full.
var ErrStalled = errors.New("the terminal does not take output; left as it was")

// stallPatience is how long a terminal may take to swallow the last picture
// before Run gives it up.
const stallPatience = 2 * time.Second

// App is the live screen. Show may be called from any goroutine at any time; Run
// owns the terminal from its start to its return.
type App struct {
	screen   tcell.Screen
	controls Controls
	keys     []binding
	tv       *tview.Application
	frames   chan Frame    // holds the latest frame not yet drawn
	stop     chan struct{} // closed once to end Run
	stopOnce sync.Once
	patience time.Duration

	// Owned by the event loop.
	frame  Frame
	shown  bool // a frame has come
	theme  theme
	scroll int
	help   bool
	sheet  sheet   // what lies over the panes
	prompt *prompt // nil: closed
	list   *list   // of marks; nil: closed
	resync bool
	failed error // what a pane's panic left
}

// NewApp returns a screen on the terminal, or on an initialised tcell screen
// when one is given.
func NewApp(screen tcell.Screen, controls Controls) *App {
	return &App{
		screen: screen, controls: controls, keys: keyTable(),
		frames: make(chan Frame, 1), stop: make(chan struct{}), patience: stallPatience,
	}
}

// Show makes f the frame to draw. It never waits: a frame that was not drawn yet
// is replaced, so a slow terminal costs frames, not memory.
func (a *App) Show(f Frame) {
	for {
		select {
		case a.frames <- f:
			return
		default:
		}
		select {
		case <-a.frames:
		default:
		}
	}
}

// Stop ends Run. It never waits and may be called again.
func (a *App) Stop() { a.stopOnce.Do(func() { close(a.stop) }) }

// Run draws until Stop, a quitting key, SIGINT, SIGTERM or SIGHUP, and restores
// the terminal. It returns an error when there is no usable terminal, when the
// terminal fails, or when a pane panicked (with the stack in its text).
func (a *App) Run() error {
	screen := a.screen
	if screen == nil {
		var err error
		if screen, err = openTerminal("/dev/tty"); err != nil {
			return err
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	a.tv = tview.NewApplication()
	box := tview.NewBox()
	box.SetBackgroundColor(tcell.ColorDefault) // the terminal's own, light or dark
	box.SetDrawFunc(a.draw)
	a.tv.SetRoot(box, true).SetInputCapture(a.pressed)
	watched := &watchedScreen{Screen: screen, stop: a.Stop}
	a.tv.SetScreen(watched)

	done := make(chan error, 1)
	fed := make(chan struct{})
	go func() { done <- a.tv.Run() }()
	go func() { defer close(fed); a.feed() }()
	return a.wait(done, fed, signals, watched)
}

// feed is the one goroutine that talks to tview's queue, so it is also the one
// that stops the event loop: tview's QueueUpdate after its Stop blocks for ever.
func (a *App) feed() {
	a.tv.QueueUpdate(func() {}) // the loop runs: a Stop before its start would be overlooked
	for {
		select {
		case <-a.stop:
			a.tv.Stop()
			return
		case f := <-a.frames:
			a.tv.QueueUpdateDraw(func() { a.take(f) })
		}
	}
}

// wait returns when the event loop has ended, or when it does not end although
// it was told to: then the terminal does not drain and is left to itself. It is
// here that signals are heard, because the feeder may be waiting for the terminal.
func (a *App) wait(done <-chan error, fed <-chan struct{}, signals <-chan os.Signal, screen *watchedScreen) error {
	select {
	case <-signals:
		a.Stop()
	case <-a.stop:
	}
	patience := time.NewTimer(a.patience)
	defer patience.Stop()
	select {
	case err := <-done:
		<-fed
		return errors.Join(a.failed, screen.err(), err)
	case <-patience.C:
		if tty, ok := screen.Tty(); ok {
			_ = tty.Stop() // puts echo and line editing back; the write in progress keeps the rest
		}
		return ErrStalled
	}
}

func (a *App) take(f Frame) {
	a.frame, a.shown, a.theme = f, true, themeOf(f.Look)
}

// draw paints the frame cell by cell: text is never parsed for tags. A panic in
// a pane ends the program with the terminal restored.
func (a *App) draw(screen tcell.Screen, x, y, w, h int) (int, int, int, int) {
	defer func() {
		if p := recover(); p != nil && a.failed == nil {
			a.failed = fmt.Errorf("drawing the screen: %v\n%s", p, debug.Stack())
			a.Stop()
		}
	}()
	if !a.shown || a.failed != nil {
		return x, y, w, h
	}
	v := newView(a.frame, a.scroll, a.help)
	v.prompt, v.list, v.sheet = a.prompt, a.list, a.sheet
	for i, r := range compose(v, w, h) {
		paint(screen, y+i, r, &a.theme, a.frame.Look.ASCII)
	}
	a.scroll = v.scroll
	if a.resync {
		a.resync = false
		screen.Sync()
	}
	return x, y, w, h
}

// paint writes a row. The screen was cleared, so blanks are there already, except
// where a tone fills them.
func paint(screen tcell.Screen, y int, r row, t *theme, asciiOnly bool) {
	x := 0
	for _, s := range r {
		text, at := s.text, x
		x += width(text)
		if asciiOnly {
			text = toASCII(text)
		}
		if !s.tone.fills() {
			text = strings.TrimRight(text, " ")
			blanks := len(text) - len(strings.TrimLeft(text, " "))
			text, at = text[blanks:], at+blanks
		}
		if text != "" {
			screen.PutStrStyled(at, y, text, t[s.tone])
		}
	}
}
