package machine

import (
	"math"
	"strconv"
)

// want is what is asked of the cores in a span, in threads that are ready to run, means.
type want struct {
	cores  float64 // that the engines may use
	engine float64
	varies float64 // variance of that over periods of the quota
	others float64 // on those cores
	quota  float64 // of the engines, in cores; 0: none
}

// share is how the cores were divided.
type share struct {
	core      float64 // times as long as it runs that a thread of the engines takes for want of a core
	wait      float64 // the quota included
	given     float64 // cores that the engines had
	others    float64 // cores that others had
	throttled float64 // share of periods in which the quota was used up
	stopped   float64 // seconds a second for which it stopped the cores of the engines
	pause     float64 // share of the time in which it did
}

// divide shares the cores: threads that are ready take turns, each gets the same. Work that
// comes at random waits at times even where there are cores enough on average (Sakasegawa's
// approximation for several servers). A quota gives what it has in each period, and stops
// all threads when that is used up.
func divide(w want, wake, burst float64) share {
	ready := w.engine + w.others
	load := min(ready/w.cores, 0.7)
	s := share{core: max(1, ready/w.cores) + burst*math.Pow(load, math.Sqrt(2*(w.cores+1))-1)/(w.cores*(1-load)) + wake}
	s.wait = s.core
	s.given = w.engine / s.core
	if w.quota > 0 && s.given > 0 {
		throttle(&s, w)
	}
	s.others = max(0, min(w.others, w.cores-s.given))
	return s
}

// throttle lowers what the engines get to their quota: in each period they want an amount
// that is distributed normally about its mean.
func throttle(s *share, w want) {
	deviation := max(math.Sqrt(w.varies)/s.core, 0.05*s.given)
	z := (s.given - w.quota) / deviation
	above := 0.5 * math.Erfc(-z/math.Sqrt2)
	s.stopped = deviation * (math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) + z*above)
	wanted := s.given
	// What is never less than nothing and seldom more than three deviations above its mean keeps
	// at least this part of it.
	least := wanted * min(1, w.quota/(wanted+3*deviation))
	s.given = max(min(wanted-s.stopped, w.quota), least)
	s.throttled, s.stopped = above, wanted-s.given
	s.pause = s.stopped / wanted
	s.wait = w.engine / s.given
}

// node is a NUMA node.
type node struct {
	cpus string
	list []int
}

// nodesOf are two on a host of more than two GPUs, each with half of the cores, as package
// device has them.
func nodesOf(cores, gpus int) []node {
	if gpus <= 2 || cores < 2 {
		return []node{{cpuList(0, cores), numbers(nil, 0, cores)}}
	}
	half := cores / 2
	return []node{{cpuList(0, half), numbers(nil, 0, half)}, {cpuList(half, cores), numbers(nil, half, cores)}}
}

func numbers(list []int, from, to int) []int {
	for n := from; n < to; n++ {
		list = append(list, n)
	}
	return list
}

// cpuList writes cores as the kernel does: "0-31".
func cpuList(from, to int) string {
	if to-from == 1 {
		return strconv.Itoa(from)
	}
	return strconv.Itoa(from) + "-" + strconv.Itoa(to-1)
}

// nodeOf is the node that a GPU is at.
func (h *Host) nodeOf(gpu int) int { return gpu * len(h.nodes) / h.GPUs }

// Near is the NUMA node that a GPU is at, and its cores.
func (h *Host) Near(gpu int) (node int, cpus string) {
	n := h.nodeOf(gpu)
	return n, h.nodes[n].cpus
}

// cores are how busy each core was, in seconds since boot.
type cores struct {
	busy []float64
	used []float64 // of the last span: 0–1
	free []int     // scratch
}

func newCores(n int, uptime float64) cores {
	c := cores{busy: make([]float64, n), used: make([]float64, n), free: make([]int, 0, n)}
	for i := range c.busy {
		c.busy[i] = (0.08 + 0.04*float64(i%5)) * uptime
	}
	return c
}

// heavy is the part of a core from which a thread counts as one that stays on its core.
const heavy = 0.5

// put gives a thread a core of its own, the first free one from a place on.
func (c *cores) put(list []int, from int, amount float64) bool {
	for i := range list {
		if core := list[(from+i)%len(list)]; c.used[core]+amount <= 1 {
			c.used[core] += amount
			return true
		}
	}
	return false
}

// spread divides work of many threads over cores, the least busy first.
func (c *cores) spread(list []int, amount float64) {
	c.free = append(c.free[:0], list...)
	for range 64 {
		level, rest := amount, c.free[:0]
		for _, core := range c.free {
			level += c.used[core]
		}
		level /= float64(max(1, len(c.free)))
		for _, core := range c.free {
			if c.used[core] < level {
				rest = append(rest, core)
			}
		}
		if all := len(rest) == len(c.free); all || len(rest) == 0 {
			for _, core := range c.free {
				c.used[core] = min(1, max(level, c.used[core]))
			}
			return
		}
		c.free = rest
	}
}

// sum of the last span, in cores.
func (c *cores) sum() (total float64) {
	for _, u := range c.used {
		total += u
	}
	return total
}
