// Package panes draws llmtop's screen. A Frame (ticks of package rules and what
// the person at the keys has asked for) flows in; rows of styled text flow out,
// to a terminal (App) or as plain text (Plain). Each pane is a pure function of
// the frame and a width, one pane a file; tview and tcell are met only in
// app.go, keys.go, terminal.go and theme.go. Where samples come from, what is
// recorded and how replay moves is left to the caller behind Controls.
package panes

import (
	"strings"
	"time"

	"llmtop/rules"
)

// Mode says what the screen follows.
type Mode int

const (
	Live   Mode = iota // the newest sample, as it comes
	Paused             // live collection goes on, the screen stands still
	Replay             // a recording
)

func (m Mode) String() string { return [...]string{"live", "PAUSED", "REPLAY"}[m] }

// Frame is all that one picture needs. It is a value: once shown, the caller
// does not change what it points to.
type Frame struct {
	Ticks         []*rules.Tick // oldest first; the last is shown, the others are the history behind sparklines
	Mode          Mode
	Title         string        // engine, model, endpoint
	Recording     string        // file being written, "" for none
	Ring          string        // how much of the past is kept in memory, e.g. "15m"; "" for none
	RecordingLeft time.Duration // how long the file goes on; 0: until the end
	Unrecorded    string        // why it does not grow now, e.g. a full disk; "" while it does
	Position      Position      // where the screen stands when paused or replaying
	Waiting       string        // before the first tick: what was tried, lines separated by \n
	Message       string        // one line for the person at the keys, e.g. "marked"
	Selected      Stretch       // what the keys a and b chose
	Against       Stretch       // what the keys A and B chose, to hold the first against
	Marks         []Mark        // of the recording, oldest first
	Comparing     *Comparing
	Look          Look
}

// Stretch is a stretch of time; an end that is not set is zero.
type Stretch struct{ From, To time.Time }

// Mark is a moment that somebody noted.
type Mark struct {
	At   time.Time
	Text string
}

// Comparing is the pane that holds two stretches against each other: the result, or
// how far it is computed.
type Comparing struct {
	Done   float64 // 0 to 1
	Result *rules.Comparison
}

// Position is a place in a stretch of time. A zero Start or End is unknown.
type Position struct {
	Start, End, At time.Time
	Speed          float64 // 1 is real time, 0 is unknown
	Playing        bool
}

// Look is what the terminal can show.
type Look struct {
	ASCII bool // nothing beyond ASCII
	Mono  bool // no colours; bold, dim, underline and reverse remain
}

// LookOf reads NO_COLOR (any value, see no-color.org), TERM and the locale (the
// first set of LC_ALL, LC_CTYPE, LANG) by getenv. No locale at all means ASCII:
// the C locale is what POSIX gives then.
func LookOf(getenv func(string) string) Look {
	var locale string
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = getenv(name); locale != "" {
			break
		}
	}
	locale = strings.ToUpper(locale)
	utf8 := strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
	return Look{ASCII: !utf8, Mono: getenv("NO_COLOR") != "" || getenv("TERM") == "vt100"}
}
