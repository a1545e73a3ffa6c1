package knob

import (
	"fmt"
	"strconv"
	"strings"
)

// String writes the change as ParseChange reads it.
func (c Change) String() string {
	k := &Table[c.Knob]
	words := k.Name
	if c.Target != All {
		words = scopeWords[k.Scope] + strconv.Itoa(c.Target) + " " + words
	}
	switch {
	case c.Reset:
		return words + " reset"
	case k.bare():
		return words
	case k.Kind == Switch && c.Value != 0:
		return words + " on"
	case k.Kind == Switch:
		return words + " off"
	}
	return words + " " + k.text(c.Value)
}

// text writes one value.
func (k *Knob) text(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if k.Kind == Factor {
		return "×" + s
	}
	return s + k.Unit
}

// Takes says in words what values the knob takes.
func (k *Knob) Takes() string {
	switch {
	case k.Kind == Switch:
		return "on or off"
	case k.bare():
		return "no value"
	}
	return k.text(k.Min) + " to " + k.text(k.Max)
}

// Starts says in words what the knob is before it is turned.
func (k *Knob) Starts() string {
	switch {
	case k.Kind == Moment:
		return ""
	case k.Default != k.Default: // NaN
		return "the model's own"
	case k.Kind == Switch && k.Default != 0:
		return "on"
	case k.Kind == Switch:
		return "off"
	}
	return k.text(k.Default)
}

// Unknown is the error of a name that is not among those there are: it suggests the nearest, or lists them
// when they are few.
func Unknown(what, name string, names []string) error {
	if len(name) > 40 {
		name = name[:40]
	}
	if near := nearest(name, names); len(near) > 0 && len(near) <= 3 {
		return fmt.Errorf("there is no %s %q: did you mean %s?", what, name, strings.Join(near, " or "))
	}
	if len(names) > 12 {
		return fmt.Errorf("there is no %s %q; llmtop twin list %ss lists them", what, name, what)
	}
	return fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// nearest are the names with the fewest letters changed, none when more than a third of them would have to be.
func nearest(name string, names []string) []string {
	var best []string
	least := len(name)/3 + 1
	for _, n := range names {
		switch d := distance(name, n); {
		case d < least:
			best, least = []string{n}, d
		case d == least:
			best = append(best, n)
		}
	}
	return best
}

// distance is how many bytes have to be changed, added or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// Of says in a word what there is one of.
func (k *Knob) Of() string {
	if k.Scope == Whole {
		return "all"
	}
	return scopeWords[k.Scope]
}
