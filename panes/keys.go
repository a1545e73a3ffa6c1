package panes

import (
	"math"
	"time"

	"github.com/gdamore/tcell/v2"
)

// Controls is what the keys drive; the caller implements it. Calls come from the
// screen's event loop one at a time and must return soon. They answer with a new
// Show, not with a value.
type Controls interface {
	TogglePause()          // hold the screen still, or let it run on
	Step(n int)            // n samples on, back when negative; live screens pause
	Seek(by time.Duration) // in the samples' time; ToStart and ToEnd go to the ends
	Speed(factor float64)  // multiplies the speed of a replay
	Finding(n int)         // to the next change of the verdict, to the one before when n < 0
	ToMark(n int)          // to the next mark, to the one before when n < 0
	JumpTo(at time.Time)   // to the sample at that time
	// GoTo goes to a moment as typed; shown is the place on the screen, from which
	// +90s counts. The error says in a few words why it is none.
	GoTo(text string, shown Position) error
	SetEnd(e End)      // the moment shown becomes an end of a stretch
	ClearEnds()        // forgets the stretches
	Compare(open bool) // holds the stretches against each other, or closes that pane
}

// End is an end of one of the two stretches that can be chosen.
type End int

const (
	SelectedFrom End = iota
	SelectedTo
	AgainstFrom
	AgainstTo
)

// Marker is implemented by Controls that can note a moment in the recording.
type Marker interface{ Mark() }

// Keeper is implemented by Controls that can write the past, kept in memory, to a file.
type Keeper interface{ Keep() }

// The ends of what can be shown, for Controls.Seek.
const (
	ToStart = time.Duration(math.MinInt64)
	ToEnd   = time.Duration(math.MaxInt64)
)

// stroke is a key as typed, and which way it goes.
type stroke struct {
	key tcell.Key // KeyRune for a character
	r   rune
	mod tcell.ModMask // of a key that is no character: Shift or none
	n   int
}

func (s stroke) matches(e *tcell.EventKey) bool {
	if s.key != tcell.KeyRune {
		return e.Key() == s.key && e.Modifiers()&tcell.ModShift == s.mod
	}
	return e.Key() == tcell.KeyRune && e.Rune() == s.r && e.Modifiers()&(tcell.ModCtrl|tcell.ModAlt|tcell.ModMeta) == 0
}

// binding is a row of the key table: what the help shows, the strokes, what they do.
type binding struct {
	label, help string
	do          func(a *App, n int)
	strokes     []stroke
	scrollsHelp bool // works while the help is open; any other key closes it
	opensHelp   bool // and so does no more than close it
}

func bind(label, help string, do func(*App, int), strokes ...stroke) binding {
	return binding{label: label, help: help, do: do, strokes: strokes}
}

func char(r rune, n int) stroke       { return stroke{key: tcell.KeyRune, r: r, n: n} }
func press(k tcell.Key, n int) stroke { return stroke{key: k, n: n} }
func shift(k tcell.Key, n int) stroke { return stroke{key: k, mod: tcell.ModShift, n: n} }

// keyTable is every key there is; the help is made from it.
func keyTable() []binding {
	help := bind("?", "this help", openHelp, char('?', 0), char('h', 0), press(tcell.KeyF1, 0))
	help.opensHelp = true
	updown := bind("↑ ↓ PgUp PgDn", "scroll the diagnosis, this help, a comparison, a sheet", scroll,
		press(tcell.KeyUp, -1), press(tcell.KeyDown, 1), press(tcell.KeyPgUp, -8), press(tcell.KeyPgDn, 8))
	updown.scrollsHelp = true
	return append(append([]binding{
		bind("q Ctrl-C", "quit", func(a *App, _ int) { a.Stop() }, char('q', 0), press(tcell.KeyCtrlC, 0)),
		help,
		bind("space", "pause, go on", func(a *App, _ int) { a.controls.TogglePause() }, char(' ', 0)),
	}, append(travelKeys(), stretchKeys()...)...),
		updown,
		bind("e G H", "all that engines, GPUs, host tell, and how it is known", openSheet, char('e', int(engineSheet)), char('G', int(gpuSheet)), char('H', int(hostSheet))),
		bind("Esc", "close what lies over the panes", closeAll, press(tcell.KeyEscape, 0)),
		bind("Ctrl-L", "draw the screen afresh", func(a *App, _ int) { a.resync = true }, press(tcell.KeyCtrlL, 0)),
	)
}

// travelKeys move in time.
func travelKeys() []binding {
	return []binding{
		bind("← →", "one sample back, on", func(a *App, n int) { a.controls.Step(n) }, press(tcell.KeyLeft, -1), press(tcell.KeyRight, 1)),
		bind("[ ] or Shift-← →", "10 s back, on", seek(10*time.Second), char('[', -1), char(']', 1), shift(tcell.KeyLeft, -1), shift(tcell.KeyRight, 1)),
		bind("{ }  ( )", "1 min, 10 min back, on", seek(time.Minute), char('{', -1), char('}', 1), char('(', -10), char(')', 10)),
		bind("Home End", "first, last sample", seekEnd, press(tcell.KeyHome, -1), press(tcell.KeyEnd, 1)),
		bind("g", "type a time to go to", openPrompt, char('g', 0)),
		bind("n N", "next, previous finding", func(a *App, n int) { a.controls.Finding(n) }, char('n', 1), char('N', -1)),
		bind(". ,", "next, previous mark", func(a *App, n int) { a.controls.ToMark(n) }, char('.', 1), char(',', -1)),
		bind("m M", "mark this moment; list the marks", mark, char('m', 0), char('M', 1)),
		bind("w", "write what the ring keeps to a file (--ring)", keep, char('w', 0)),
		bind("+ −", "replay twice, half as fast", changeSpeed, char('+', 1), char('=', 1), char('-', -1)),
	}
}

// stretchKeys choose two stretches of time and compare them.
func stretchKeys() []binding {
	end := func(a *App, n int) { a.controls.SetEnd(End(n)) }
	return []binding{
		bind("a b", "a stretch of time begins, ends here", end, char('a', int(SelectedFrom)), char('b', int(SelectedTo))),
		bind("A B", "another one, to hold it against", end, char('A', int(AgainstFrom)), char('B', int(AgainstTo))),
		bind("c", "compare a–b with A–B, else with the time before", toggleCompare, char('c', 0)),
		bind("x", "forget a, b, A, B", func(a *App, _ int) { a.controls.ClearEnds() }, char('x', 0)),
	}
}

func toggleCompare(a *App, _ int) {
	a.scroll = 0
	a.controls.Compare(a.frame.Comparing == nil)
}

// closeAll closes a comparison; the help, the prompt and the list close before it is asked.
func closeAll(a *App, _ int) {
	if a.sheet != noSheet {
		a.sheet, a.scroll = noSheet, 0
		return
	}
	if a.frame.Comparing != nil {
		a.scroll = 0
		a.controls.Compare(false)
	}
}

func openHelp(a *App, _ int) { a.help, a.scroll = true, 0 }

// openSheet opens a sheet, or closes it.
func openSheet(a *App, n int) {
	a.scroll = 0
	if a.sheet == sheet(n) {
		a.sheet = noSheet
	} else {
		a.sheet = sheet(n)
	}
}

func seek(unit time.Duration) func(*App, int) {
	return func(a *App, n int) { a.controls.Seek(time.Duration(n) * unit) }
}

func seekEnd(a *App, n int) {
	if n < 0 {
		a.controls.Seek(ToStart)
	} else {
		a.controls.Seek(ToEnd)
	}
}

func changeSpeed(a *App, n int) {
	if n < 0 {
		a.controls.Speed(0.5)
	} else {
		a.controls.Speed(2)
	}
}

func mark(a *App, n int) {
	if n > 0 {
		a.openList()
	} else if m, ok := a.controls.(Marker); ok {
		m.Mark()
	}
}

func keep(a *App, _ int) {
	if k, ok := a.controls.(Keeper); ok {
		k.Keep()
	}
}

func scroll(a *App, n int) { a.scroll = max(0, a.scroll+n) }

// pressed handles a key; every key is ours, none goes on to tview.
func (a *App) pressed(e *tcell.EventKey) *tcell.EventKey {
	if a.prompt != nil {
		a.typed(e)
		return nil
	}
	if a.list != nil && a.choose(e) {
		return nil
	}
	b, n := a.bound(e)
	closing := a.help && (b == nil || !b.scrollsHelp)
	if closing {
		a.help, a.scroll = false, 0
	}
	if b != nil && !(closing && b.opensHelp) {
		b.do(a, n)
	}
	return nil
}

// bound finds what a key does, nil for nothing, and which way it goes.
func (a *App) bound(e *tcell.EventKey) (*binding, int) {
	for i := range a.keys {
		for _, s := range a.keys[i].strokes {
			if s.matches(e) {
				return &a.keys[i], s.n
			}
		}
	}
	return nil, 0
}
