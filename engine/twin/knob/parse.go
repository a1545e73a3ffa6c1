package knob

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseChange reads a change as scenarios write it: "kv_pool ×0.3", "gpu0 power_cap 400W",
// "replica1 graphs off", "xid 79", "kv_pool reset". An error says what would be right.
func ParseChange(text string) (Change, error) {
	words := strings.Fields(text)
	c := Change{Target: All}
	if len(words) == 0 {
		return c, fmt.Errorf("there is no knob: write for example kv_pool ×0.3")
	}
	scope, words, err := c.target(words)
	if err != nil {
		return c, err
	}
	if c.Knob, err = Lookup(words[0]); err != nil {
		return c, err
	}
	if k := &Table[c.Knob]; scope != Whole && scope != k.Scope {
		return c, fmt.Errorf("%s is %s, not of a %s", k.Name, ofWhat[k.Scope], scopeWords[scope])
	}
	for _, w := range words[1:] {
		if slices.Contains(before, w) {
			return c, fmt.Errorf("%s stands before the knob, as in at 60s for 30s kv_pool ×0.3", w)
		}
	}
	return c, c.value(strings.Join(words[1:], ""))
}

// before are words that scenarios write in front of a change.
var before = []string{"for", "every", "over", "at"}

// How a target begins, and what a knob is of.
var (
	scopeWords = [...]string{PerGPU: "gpu", PerReplica: "replica"}
	ofWhat     = [...]string{Whole: "of the whole service", PerGPU: "of a GPU", PerReplica: "of a replica"}
)

// target takes "gpu0" or "replica1" from the front.
func (c *Change) target(words []string) (Scope, []string, error) {
	for _, scope := range []Scope{PerGPU, PerReplica} {
		number, ok := strings.CutPrefix(words[0], scopeWords[scope])
		if !ok || strings.HasPrefix(number, "_") { // gpu_lost is a knob
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 9999 {
			return Whole, words, fmt.Errorf("%q is no %s: write %s0, %[2]s1 …", words[0], scopeWords[scope], scopeWords[scope])
		}
		if len(words) == 1 {
			return Whole, words, fmt.Errorf("what of %s is to change? write a knob and its value", words[0])
		}
		c.Target = n
		return scope, words[1:], nil
	}
	return Whole, words, nil
}

// Lookup is the knob of that name.
func Lookup(name string) (ID, error) {
	names := make([]string, NumKnobs)
	for id := range Table {
		if names[id] = Table[id].Name; names[id] == name {
			return ID(id), nil
		}
	}
	return 0, Unknown("knob", name, names)
}

// value reads what comes after the name.
func (c *Change) value(text string) error {
	k := &Table[c.Knob]
	switch {
	case text == "" && k.bare():
		return nil
	case text == "":
		return fmt.Errorf("%s to what? it takes %s", k.Name, k.Takes())
	case text == "reset" && k.Kind == Moment:
		return fmt.Errorf("%s happens once: there is nothing to reset", k.Name)
	case text == "reset":
		c.Reset, c.Value = true, k.Default
		return nil
	case k.Kind == Switch:
		return c.onOff(text)
	}
	v, err := k.number(text)
	if err != nil {
		return err
	}
	c.Value = v
	return k.check(v, text)
}

// bare tells moments that have no value.
func (k *Knob) bare() bool { return k.Kind == Moment && k.Max == 0 }

func (c *Change) onOff(text string) error {
	switch text {
	case "on":
		c.Value = 1
	case "off":
		c.Value = 0
	default:
		return fmt.Errorf("%s takes on or off, not %q", Table[c.Knob].Name, text)
	}
	return nil
}

// number reads a factor or an amount in its unit.
func (k *Knob) number(text string) (float64, error) {
	times, isFactor := cutTimes(text)
	digits := times
	for i, r := range times {
		if !strings.ContainsRune("0123456789.+-eE", r) {
			digits = times[:i]
			break
		}
	}
	unit := times[len(digits):]
	v, err := strconv.ParseFloat(digits, 64)
	switch {
	case k.bare():
		return 0, fmt.Errorf("%s takes no value, not %q", k.Name, text)
	case err != nil || math.IsInf(v, 0):
		return 0, fmt.Errorf("%s takes %s, not %q", k.Name, k.Takes(), text)
	case k.Kind == Factor && !isFactor:
		return 0, fmt.Errorf("%s is a factor of what it was at the start: write ×%s, not %q", k.Name, digits, text)
	case isFactor && (k.Kind == Amount || k.Integer):
		return 0, fmt.Errorf("%s is not a factor: it takes %s, not %q", k.Name, k.Takes(), text)
	}
	scale, ok := k.scale(unit)
	switch {
	case ok:
		return v*scale + 0, nil // not the zero that has a sign: things are divided by it
	case unit == "":
		return 0, fmt.Errorf("%s is in %s: write %s%[2]s, not %q", k.Name, k.Unit, digits, text)
	case k.Unit == "":
		return 0, fmt.Errorf("%s has no unit: write %s, not %q", k.Name, strings.TrimSuffix(text, unit), text)
	}
	return 0, fmt.Errorf("%s is in %s, not in %q: write for example %s%[2]s", k.Name, k.Unit, unit, digits)
}

// cutTimes takes the sign of a factor from the front.
func cutTimes(text string) (string, bool) {
	if r, n := utf8.DecodeRuneInString(text); r == '×' || r == 'x' {
		return text[n:], true
	}
	return text, false
}

// units are those that are understood beside a knob's own, and how many of its own they are.
var units = map[string]map[string]float64{
	"W":     {"W": 1, "kW": 1000},
	"C":     {"C": 1, "°C": 1},
	"MHz":   {"MHz": 1, "GHz": 1000},
	"cores": {"cores": 1, "core": 1},
	"GiB":   {"GiB": 1, "MiB": 1.0 / 1024},
	"MB/s":  {"MB/s": 1, "GB/s": 1000},
	"ms":    durations(time.Millisecond),
	"us":    durations(time.Microsecond),
}

func durations(of time.Duration) map[string]float64 {
	in := func(d time.Duration) float64 { return float64(d) / float64(of) }
	return map[string]float64{"us": in(time.Microsecond), "µs": in(time.Microsecond), "ms": in(time.Millisecond), "s": in(time.Second)}
}

// scale is what one of a unit is in the knob's own; a share may be in percent.
func (k *Knob) scale(unit string) (float64, bool) {
	if k.Unit == "" {
		if unit == "%" && k.share() {
			return 0.01, true
		}
		return 1, unit == ""
	}
	s, ok := units[k.Unit][unit]
	return s, ok
}

// share tells amounts that are a part of a whole.
func (k *Knob) share() bool { return k.Kind == Amount && k.Max <= 1 }

// check holds a value against what makes sense.
func (k *Knob) check(v float64, text string) error {
	switch {
	case v < k.Min || v > k.Max:
		return fmt.Errorf("%s takes %s, not %q", k.Name, k.Takes(), text)
	case k.Integer && v != math.Trunc(v):
		return fmt.Errorf("%s takes whole numbers, not %q", k.Name, text)
	}
	return nil
}

// Fits says whether there is what the change is for.
func (c Change) Fits(gpus, replicas int) error {
	n, what := 1, ""
	switch Table[c.Knob].Scope {
	case PerGPU:
		n, what = gpus, "gpu"
	case PerReplica:
		n, what = replicas, "replica"
	}
	switch {
	case n == 0 && c.Target == All:
		return fmt.Errorf("%s: there is no %s", Table[c.Knob].Name, what)
	case n == 0:
		return fmt.Errorf("there is no %s%d, nor any other", what, c.Target)
	case c.Target >= n:
		return fmt.Errorf("there is no %s%d: the last is %[1]s%[3]d", what, c.Target, n-1)
	}
	return nil
}
