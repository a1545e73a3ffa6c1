package play

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// motion is what the directives before a line or a family say.
type motion struct {
	number  int // line of the first directive
	grows   bool
	rates   [2]float64 // per second, loaded and saturated
	observe bool
	pattern [2]pattern // of a histogram, likewise
	follows *selector
	factor  float64
	started bool
	values  map[State]string // of a gauge, as written; or "absent"
}

const absent = "absent"

// selector names series: all of a name whose labels include those given.
type selector struct {
	name   string
	labels []label
}

// page-wide words, which belong to no series.
const (
	wordUp      = "up"
	wordNumbers = "numbers"
	wordNote    = "note"
)

// words walks over a directive.
type words struct {
	list []string
	at   int
}

func (w *words) next() string {
	if w.at >= len(w.list) {
		return ""
	}
	w.at++
	return w.list[w.at-1]
}

func (w *words) peek() string {
	if w.at >= len(w.list) {
		return ""
	}
	return w.list[w.at]
}

// parseMotion reads the words of a directive, or of several.
func parseMotion(number int, list []string) (*motion, error) {
	m := &motion{number: number, values: map[State]string{}}
	w := &words{list: list}
	saturated := false
	for w.at < len(w.list) {
		word := w.next()
		var err error
		switch {
		case word == string(Saturated) && strings.HasSuffix(w.peek(), "/s"):
			if saturated {
				return nil, errors.New("saturated is said twice")
			}
			saturated = true
			err = m.saturated(w)
		case word == string(Idle) || word == string(Saturated) || word == string(Restarted):
			err = m.value(State(word), w.next())
		case strings.HasPrefix(word, "+"):
			if m.grows {
				return nil, errors.New("a second rate")
			}
			m.grows = true
			m.rates[0], err = rate(word)
			m.rates[1] = m.rates[0]
		case word == "histogram":
			if m.observe {
				return nil, errors.New("histogram is said twice")
			}
			m.observe = true
			m.pattern[0], err = parsePattern(w)
			m.pattern[1] = m.pattern[0]
		case word == "follows":
			err = m.follow(w)
		case word == "started":
			m.started = true
		default:
			err = fmt.Errorf("%q is not understood", word)
		}
		if err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// saturated reads the second rate of a counter, or the second pattern of a histogram.
func (m *motion) saturated(w *words) (err error) {
	switch {
	case m.grows && strings.HasPrefix(w.peek(), "+"):
		m.rates[1], err = rate(w.next())
	case m.observe && !strings.HasPrefix(w.peek(), "+"):
		m.pattern[1], err = parsePattern(w)
	default:
		return fmt.Errorf("saturated %s without a rate of the same kind before it", w.peek())
	}
	return err
}

func (m *motion) value(s State, text string) error {
	if _, twice := m.values[s]; twice {
		return fmt.Errorf("%s is said twice", s)
	}
	if _, err := strconv.ParseFloat(strings.TrimLeft(text, "+-"), 64); err != nil && text != absent {
		return fmt.Errorf("%s %q is neither a number nor %s", s, text, absent)
	}
	m.values[s] = text
	return nil
}

func (m *motion) follow(w *words) (err error) {
	if m.follows != nil {
		return errors.New("follows is said twice")
	}
	text := w.next()
	name, labels, braces := strings.Cut(text, "{")
	m.follows = &selector{name: name}
	if braces {
		var ok bool
		var rest string
		if m.follows.labels, rest, ok = readLabels(labels); !ok || rest != "" {
			return fmt.Errorf("follows %s: the labels cannot be read (no blanks in them)", text)
		}
	}
	if name == "" || w.next() != "x" {
		return errors.New("follows wants NAME x FACTOR")
	}
	m.factor, err = positive(w.next())
	return err
}

// check refuses what contradicts itself.
func (m *motion) check() error {
	kinds := 0
	for _, is := range []bool{m.grows, m.observe, m.follows != nil, m.started} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return errors.New("one of +R/s, histogram, follows and started can be said of a series")
	case kinds == 0 && len(m.values) == 0:
		return errors.New("nothing is said")
	case kinds == 1:
		for s, v := range m.values {
			if v != absent {
				return fmt.Errorf("%s %s: what counts has no value of a state, it can only be %s", s, v, absent)
			}
		}
	}
	return nil
}

// rate reads "+12.5/s".
func rate(word string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimPrefix(word, "+"), "/s")
	if !ok {
		return 0, fmt.Errorf("%q is no rate like +12.5/s", word)
	}
	return positive(number)
}

// positive reads a finite number that has no sign.
func positive(word string) (float64, error) {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || strings.HasPrefix(word, "+") {
		return 0, fmt.Errorf("%q is no number without a sign", word)
	}
	return v, nil
}

// parsePattern reads "3/s around 0.25 [spread 0.8] [whole]".
func parsePattern(w *words) (p pattern, err error) {
	if p.rate, err = rate(w.next()); err != nil {
		return p, err
	}
	if w.next() != "around" {
		return p, errors.New("a histogram wants R/s around MEAN")
	}
	if p.mean, err = positive(w.next()); err != nil {
		return p, err
	}
	p.spread = usualSpread
	for {
		switch w.peek() {
		case "spread":
			w.next()
			if p.spread, err = positive(w.next()); err != nil {
				return p, err
			}
		case "whole":
			w.next()
			p.whole = true
		default:
			return p, nil
		}
	}
}

// parseUp reads "up 3h" as seconds.
func parseUp(list []string) (float64, error) {
	if len(list) == 2 {
		if d, err := time.ParseDuration(list[1]); err == nil && d >= 0 {
			return d.Seconds(), nil
		}
	}
	return 0, errors.New("up wants a duration, as in up 3h")
}
