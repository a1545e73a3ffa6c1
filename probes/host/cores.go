package host

import (
	"bytes"
	"errors"
	"time"

	"llmtop/probes"
)

const (
	maxCores  = 8192 // what Linux can be built for
	fullRatio = 0.95 // of its time a core is busy that counts as full
	minTicks  = 10   // in an interval, below which a ratio says little
)

// coreTimes follows what the cores do from one read to the next.
type coreTimes struct {
	last    []coreTicks // by the core's number
	busiest uint64      // ticks; see probes.Host.BusiestCoreSecs
}

// coreTicks is a line of /proc/stat. Steal, time in which the hypervisor ran another
// guest, counts as busy: the core could not do more.
type coreTicks struct{ busy, all uint64 }

// fill takes /proc/stat apart (man 5 proc_stat). Guest time is inside user time.
func (c *coreTimes) fill(text []byte, s *probes.Host) error {
	var field [16][]byte
	found, began := false, len(c.last) > 0
	var busiest uint64
	full, measured := 0, 0
	s.Runnable, s.Blocked = probes.None[float64](probes.NotExposed), probes.None[float64](probes.NotExposed)
	for len(text) > 0 {
		var line []byte
		line, text = nextLine(text)
		if !bytes.HasPrefix(line, []byte("cpu")) {
			restOfStat(line, s)
			continue
		}
		f := words(line, field[:0])
		t, ok := ticksOf(f)
		if !ok {
			continue
		}
		if len(f[0]) == len("cpu") {
			fillTotals(f, t, s)
			found = true
			continue
		}
		n, ok := coreOf(f)
		if !ok {
			continue
		}
		s.CPUs++
		gain, known := c.gain(n, t)
		if known && gain.all >= minTicks {
			measured++
			if float64(gain.busy) >= fullRatio*float64(gain.all) {
				full++
			}
		}
		if known || !began { // a core that is switched on later brings its past along
			busiest = max(busiest, gain.busy)
		}
	}
	if !found {
		return errors.New("no cpu line in /proc/stat")
	}
	c.busiest += busiest
	if s.BusiestCoreSecs = probes.None[float64](probes.NotExposed); s.CPUs > 0 {
		s.BusiestCoreSecs = probes.Some(float64(c.busiest) / userHZ)
	}
	if measured > 0 {
		s.FullCores = probes.Some(float64(full))
	}
	return nil
}

// gain is what a core's times grew by, since boot when it is new; known when there is
// something to compare with.
func (c *coreTimes) gain(n int, now coreTicks) (gain coreTicks, known bool) {
	for len(c.last) <= n {
		c.last = append(c.last, coreTicks{})
	}
	was := c.last[n]
	c.last[n] = now
	if now.busy < was.busy || now.all < was.all { // the kernel's idle time may fall by a little
		return coreTicks{}, false
	}
	return coreTicks{now.busy - was.busy, now.all - was.all}, was.all > 0
}

// coreOf is the number of the core that a line is of.
func coreOf(f [][]byte) (int, bool) {
	if len(f) == 0 {
		return 0, false
	}
	n, ok := unsigned(bytes.TrimPrefix(f[0], []byte("cpu")))
	return int(n), ok && n < maxCores
}

// ticksOf adds up user, nice, system, idle, iowait, irq, softirq and steal.
func ticksOf(f [][]byte) (t coreTicks, ok bool) {
	if len(f) < 5 {
		return t, false
	}
	for i, word := range f[1:min(len(f), 9)] {
		n, ok := unsigned(word)
		if !ok {
			return t, false
		}
		t.all += n
		if i != 3 && i != 4 {
			t.busy += n
		}
	}
	return t, true
}

// fillTotals is for the line of all cores together.
func fillTotals(f [][]byte, t coreTicks, s *probes.Host) {
	seconds := func(i int) probes.Opt[float64] {
		if i >= len(f) {
			return probes.None[float64](probes.NotExposed)
		}
		n, _ := unsigned(f[i])
		return probes.Some(float64(n) / userHZ)
	}
	s.CPUBusySecondsTotal = probes.Some(float64(t.busy) / userHZ)
	s.CPUWaitSecondsTotal, s.CPUStealSecondsTotal = seconds(5), seconds(8)
}

// restOfStat reads what /proc/stat tells beside CPU times.
func restOfStat(line []byte, s *probes.Host) {
	var field [2][]byte
	f := words(line, field[:0]) // two, of the many that the line of the interrupts has
	if len(f) < 2 {
		return
	}
	switch string(f[0]) {
	case "btime":
		if n, ok := unsigned(f[1]); ok && n < 1<<40 {
			s.BootedAt = time.Unix(int64(n), 0).UTC()
		}
	case "procs_running":
		s.Runnable = reading(f[1], 1)
	case "procs_blocked":
		s.Blocked = reading(f[1], 1)
	}
}
