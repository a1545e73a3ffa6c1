package workload

import (
	"math"
	"time"
)

// clock knows when the next request of a stream comes. The gap to it is measured by the
// rate integrated over time: when the rate changes, what is left of it is gone through
// faster or slower, whatever the gaps are like.
type clock struct {
	pace   pace
	rate   float64 // requests per second, mean
	factor float64 // that a knob has set

	from float64 // the second of the run up to which
	left float64 // of the gap is left
	next float64 // when nothing is left
}

func (c *clock) start(gap float64) {
	c.left = gap
	c.plan()
}

// plan finds when the gap is over.
func (c *clock) plan() {
	c.next = math.Inf(1)
	if speed := c.rate * c.factor; speed > 0 {
		c.next = c.pace.after(c.from, c.left/speed)
	}
}

// due is never when no request comes within 285 years: a Duration ends soon after.
func (c *clock) due() time.Duration {
	if !(c.next < 9e9) {
		return never
	}
	return time.Duration(c.next * 1e9)
}

// took begins the next gap.
func (c *clock) took(gap float64) {
	c.from, c.left = c.next, gap
	c.plan()
}

// turned changes the factor. A request that is due stays due.
func (c *clock) turned(now time.Duration, factor float64) {
	if factor == c.factor {
		return
	}
	if at := now.Seconds(); c.next > at && at > c.from {
		c.left = max(0, c.left-c.rate*c.factor*c.pace.between(c.from, at))
		c.from = at
	} else if c.next <= at {
		c.from, c.left = c.next, 0
	}
	if c.factor = factor; c.left > 0 {
		c.plan()
	}
}
