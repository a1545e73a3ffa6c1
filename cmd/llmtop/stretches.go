package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"llmtop/panes"
	"llmtop/rules"
)

// end is an end of a stretch of time that was chosen; the zero end is none.
type end struct {
	set bool
	at  int // number of the tick
	day time.Time
}

// leastCompared is how many samples a stretch needs to be compared.
const leastCompared = 3

// SetEnd makes the moment shown an end of a stretch. The other end of it is forgotten
// when it is on the wrong side.
func (v *viewer) SetEnd(e panes.End) {
	v.wish(func() {
		at, ok := v.line.when(v.at)
		if !ok {
			v.show("no sample here")
			return
		}
		v.ends[e] = end{true, v.at, at}
		if other := &v.ends[e^1]; other.set && (other.at == v.at || (other.at < v.at) != (e&1 == 1)) {
			*other = end{}
		}
		v.show("")
	})
}

// ClearEnds forgets the stretches.
func (v *viewer) ClearEnds() {
	v.wish(func() {
		v.ends, v.comparing = [4]end{}, nil
		v.show("")
	})
}

// chosen is a stretch as the screen shows it, by its first end.
func (v *viewer) chosen(from panes.End) (s panes.Stretch) {
	if e := v.ends[from]; e.set {
		s.From = e.day
	}
	if e := v.ends[from^1]; e.set {
		s.To = e.day
	}
	return s
}

// Compare holds the chosen stretch against the other, or against the time before it.
func (v *viewer) Compare(open bool) {
	v.wish(func() {
		v.comparing = nil
		if !open {
			v.show("")
			return
		}
		after, err := v.stretch(panes.SelectedFrom, "a–b")
		var before *sum
		if err == nil {
			before, err = v.before(after)
		}
		if err != nil {
			v.show(err.Error())
			return
		}
		if !v.live {
			v.running = false
		}
		v.comparing = &comparing{before: before, after: after}
		v.show("")
	})
}

// stretch is what was chosen; the moment shown stands for an end that is not set.
func (v *viewer) stretch(from panes.End, name string) (*sum, error) {
	a, b := v.ends[from], v.ends[from^1]
	keys := strings.Split(name, "–")
	switch {
	case !a.set && !b.set:
		return nil, fmt.Errorf("set %s (from) and %s (to) first", keys[0], keys[1])
	case !a.set:
		a.at = v.at
	case !b.set:
		b.at = v.at
	}
	s := &sum{name: name, from: max(a.at, v.line.first()), to: b.at, stretch: rules.NewStretch()}
	s.next = s.from
	if s.to-s.from+1 < leastCompared {
		return nil, fmt.Errorf("%s holds fewer than %d samples", name, leastCompared)
	}
	return s, nil
}

// before is what to hold a stretch against: A–B, or as many samples before it as it has.
func (v *viewer) before(after *sum) (*sum, error) {
	if v.ends[panes.AgainstFrom].set || v.ends[panes.AgainstTo].set {
		return v.stretch(panes.AgainstFrom, "A–B")
	}
	s := &sum{name: "before a", from: max(v.line.first(), 2*after.from-after.to-1), to: after.from - 1, stretch: rules.NewStretch()}
	s.next = s.from
	if s.to-s.from+1 < leastCompared {
		return nil, errors.New("too little before a: set A and B")
	}
	return s, nil
}

// sum is a stretch of a timeline on its way to be summed up.
type sum struct {
	name     string
	from, to int // numbers of ticks
	next     int
	stretch  *rules.Stretch
}

// slice takes in some samples and reports whether it has all.
func (s *sum) slice(line timeline) bool {
	for n := 0; n < slice && s.next <= s.to; n++ {
		if x := line.sample(s.next); x != nil {
			s.stretch.Observe(x)
			if key, ok := line.verdict(s.next); ok {
				s.stretch.Judge(judged(key))
			}
		}
		s.next++
	}
	return s.next > s.to
}

// judged is the state and the first cause in a verdictKey.
func judged(key string) (state rules.State, cause string) {
	words := strings.Fields(key)
	if len(words) == 0 {
		return rules.Unmeasurable, ""
	}
	if len(words) > 1 {
		cause = words[1]
	}
	return rules.State(words[0]), cause
}

// comparing is a comparison on its way, or done.
type comparing struct {
	before, after *sum
	result        *rules.Comparison
}

func (c *comparing) underway() bool { return c != nil && c.result == nil }

// slice does as much as a key may wait for.
func (c *comparing) slice(line timeline) {
	if c.before.slice(line) && c.after.slice(line) {
		r := rules.Compare(c.before.stretch, c.after.stretch)
		r.Before.Name, r.After.Name = c.before.name, c.after.name
		c.result = &r
	}
}

// pane is what the screen shows of it.
func (c *comparing) pane() *panes.Comparing {
	if c == nil {
		return nil
	}
	todo := c.before.to - c.before.from + c.after.to - c.after.from + 2
	done := c.before.next - c.before.from + c.after.next - c.after.from
	return &panes.Comparing{Done: float64(done) / float64(todo), Result: c.result}
}
