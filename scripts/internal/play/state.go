package play

import (
	"fmt"
	"slices"
	"strings"
)

// State is how the engine behind a page fares; see the package comment.
type State string

const (
	Idle      State = "idle"
	Loaded    State = "loaded"
	Saturated State = "saturated"
	Restarted State = "restarted"
	Stale     State = "stale"
)

// States lists all of them.
func States() []State { return []State{Idle, Loaded, Saturated, Restarted, Stale} }

// ParseState reads a state's name.
func ParseState(s string) (State, error) {
	if state := State(s); slices.Contains(States(), state) {
		return state, nil
	}
	var names []string
	for _, s := range States() {
		names = append(names, string(s))
	}
	return "", fmt.Errorf("state %q is none of %s", s, strings.Join(names, ", "))
}

// Turn is a state that begins at a second.
type Turn struct {
	Seconds float64
	State   State
}

// Timeline is the states of a play in the order of their seconds. Before the first
// turn the engine is loaded. A turn to Restarted is a restart at that moment.
type Timeline []Turn

// restartSecond is when At restarts, so that pages of second 0 and 10 lie on both sides.
const restartSecond = 5

// timeline is a play that is in one state all the time.
func (s State) timeline() Timeline {
	if s == Restarted {
		return Timeline{{restartSecond, Restarted}}
	}
	return Timeline{{0, s}}
}

// moment is what a timeline comes to at one second.
type moment struct {
	gauges    State      // whose column the gauges have: all but Stale
	grew      [2]float64 // seconds loaded and saturated, since the last restart
	restarted bool       // at least once
	began     float64    // second of the last restart
}

func (t Timeline) at(seconds float64) moment {
	m := moment{gauges: Loaded}
	moving := Loaded
	from := 0.0
	pass := func(to float64) {
		switch moving {
		case Loaded, Restarted:
			m.grew[0] += to - from
		case Saturated:
			m.grew[1] += to - from
		}
		from = to
	}
	for _, turn := range t {
		if turn.Seconds > seconds {
			break
		}
		pass(max(from, turn.Seconds))
		moving = turn.State
		if turn.State != Stale {
			m.gauges = turn.State
		}
		if turn.State == Restarted {
			m.restarted, m.began, m.grew = true, turn.Seconds, [2]float64{}
		}
	}
	pass(max(from, seconds))
	return m
}
