package host

import (
	"bytes"
	"os"
	"strconv"

	"llmtop/probes"
)

// userHZ is the unit of the times in stat: hundredths of a second for every program,
// whatever the kernel counts in.
const userHZ = 100

// stat is what /proc/PID/stat says of a process, and task/TID/stat of a thread.
type stat struct {
	name        string
	state       byte
	parent      int
	majorFaults float64
	cpu         float64 // seconds, user and system
	threads     int
	start       uint64  // clock ticks after boot
	rss         float64 // bytes
}

// The places of fields after the name, which is the second: proc(5) counts from 1.
const (
	statState, statParent, statMajorFaults = 3 - 3, 4 - 3, 12 - 3
	statUser, statSystem, statThreads      = 14 - 3, 15 - 3, 20 - 3
	statStart, statRSS                     = 22 - 3, 24 - 3
	statFieldCount                         = statRSS + 1
)

// statFields cuts a line of stat: the name, which may hold anything, brackets too, and the
// fields after it, as many as there are.
func statFields(text []byte) (name []byte, fields [statFieldCount][]byte) {
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return nil, fields
	}
	rest := bytes.TrimRight(text[to+1:], "\n")
	for i := range fields {
		rest = bytes.TrimLeft(rest, " ")
		fields[i], rest, _ = bytes.Cut(rest, []byte(" "))
	}
	return text[from+1 : to], fields
}

// parseStat reads a line of stat; false when it is none.
func parseStat(text []byte) (stat, bool) {
	name, f := statFields(text)
	if len(f[statState]) != 1 || len(f[statRSS]) == 0 {
		return stat{}, false
	}
	ok := true
	number := func(i int) float64 {
		n, err := strconv.ParseInt(string(f[i]), 10, 64)
		ok = ok && err == nil && n >= 0
		return float64(n)
	}
	s := stat{name: probes.Printable(string(name), 64), state: f[statState][0], parent: int(number(statParent)), majorFaults: number(statMajorFaults),
		cpu: (number(statUser) + number(statSystem)) / userHZ, threads: int(number(statThreads)), rss: number(statRSS) * float64(os.Getpagesize())}
	start, err := strconv.ParseUint(string(f[statStart]), 10, 64)
	s.start = start
	return s, ok && err == nil
}

// dead reports a process that has ended and is only not yet waited for.
func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }
