package host

import (
	"bytes"
	"os"

	"llmtop/probes"
)

// userHZ is the unit of the times in stat: hundredths of a second for every program,
// whatever the kernel counts in.
const userHZ = 100

// stat is what /proc/PID/stat says of a process, and task/TID/stat of a thread.
type stat struct {
	state       byte
	parent      int
	majorFaults float64
	cpu         float64 // seconds, user and system
	reaped      float64 // seconds, of the processes it started and waited for after they ended, and of theirs
	threads     int
	start       uint64  // clock ticks after boot
	rss         float64 // bytes
}

// The places of fields after the name, which is the second: proc(5) counts from 1.
const (
	statState, statParent, statMajorFaults = 3 - 3, 4 - 3, 12 - 3
	statUser, statSystem, statThreads      = 14 - 3, 15 - 3, 20 - 3
	statReapedUser, statReapedSystem       = 16 - 3, 17 - 3
	statStart, statRSS                     = 22 - 3, 24 - 3
	statFieldCount                         = statRSS + 1
)

// statFields cuts a line of stat into the fields after the name, which may hold anything,
// brackets too; as many as there are.
func statFields(text []byte) (fields [statFieldCount][]byte) {
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from >= 0 && to >= from {
		words(bytes.TrimRight(text[to+1:], "\n"), fields[:0])
	}
	return fields
}

// statName is the name in a line of stat.
func statName(text []byte) string {
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return ""
	}
	return probes.Printable(string(text[from+1:to]), 64)
}

// parseStat reads a line of stat; false when it is none.
func parseStat(text []byte) (stat, bool) {
	f := statFields(text)
	if len(f[statState]) != 1 || len(f[statRSS]) == 0 {
		return stat{}, false
	}
	ok := true
	number := func(i int) uint64 {
		n, is := unsigned(f[i])
		ok = ok && is
		return n
	}
	s := stat{state: f[statState][0], parent: int(number(statParent)), majorFaults: float64(number(statMajorFaults)),
		cpu: float64(number(statUser)+number(statSystem)) / userHZ, threads: int(number(statThreads)),
		reaped: float64(orNone(f[statReapedUser])+orNone(f[statReapedSystem])) / userHZ, start: number(statStart), rss: float64(number(statRSS)) * float64(os.Getpagesize())}
	return s, ok && s.parent >= 0 && s.threads >= 0
}

// orNone is a number, 0 where the kernel writes a negative one.
func orNone(word []byte) uint64 {
	n, _ := unsigned(word)
	return n
}

// dead reports a process that has ended and is only not yet waited for.
func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }
