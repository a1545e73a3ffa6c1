package main

import "time"

// chase is the way to another place in the timeline. What it takes is done in slices
// between which keys are served: a diagnosis needs all samples before it.
type chase struct {
	to   int              // where to go; of a search: the last place to look at
	stop func(i int) bool // of a search: this is the place
	from int              // how far it is done; of a search: the next to look at
	none string           // what to say when a search found nothing
}

// move shows tick i, or the nearest there is.
func (v *viewer) move(i int) {
	v.chase = &chase{to: min(max(i, v.line.first()), max(v.line.first(), v.line.last()))}
	v.pursue()
}

// pursue does a slice of the way and shows where that led.
func (v *viewer) pursue() {
	c := v.chase
	there, err := c.slice(v.line)
	if err != nil || there {
		v.chase = nil
	}
	switch {
	case err != nil:
		v.running = false
		v.show(oneLine(err.Error()))
	case there && c.stop != nil && c.from > c.to:
		v.show(c.none)
	case there && c.stop != nil:
		v.at, v.running = c.from, false
		v.move(v.at)
	case there:
		v.at = c.to
		v.show("")
	default:
		v.show("")
	}
}

// slice goes on until it is there, or for as long as a key may wait.
func (c *chase) slice(line timeline) (there bool, err error) {
	if c.stop == nil {
		c.from, err = line.reach(c.to)
		return c.from == c.to, err
	}
	for ; c.from <= c.to; c.from++ {
		if _, known := line.verdict(c.from); !known {
			if got, err := line.reach(c.from); err != nil || got < c.from {
				return false, err
			}
		}
		if c.stop(c.from) {
			return true, nil
		}
	}
	return true, nil
}

// wanted is where the screen will be once all keys so far are served.
func (v *viewer) wanted() int {
	if v.chase != nil && v.chase.stop == nil {
		return v.chase.to
	}
	return v.at
}

// travel is the number of the tick by later than tick from, or earlier: the nearest,
// but another one whenever there is one, so that a gap is crossed. A clock that went
// the wrong way counts as standing still.
func travel(line timeline, from int, by time.Duration) int {
	step, left := 1, by
	if by < 0 {
		step, left = -1, -by
	}
	to := from
	at, _ := line.when(from)
	for i := from + step; i >= line.first() && i <= line.last(); i += step {
		t, ok := line.when(i)
		if !ok {
			continue
		}
		d := max(0, time.Duration(step)*t.Sub(at))
		if at.IsZero() {
			d = 0
		}
		if to != from && 2*left < d {
			break
		}
		to, at, left = i, t, left-d
	}
	return to
}
