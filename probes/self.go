package probes

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// selfReader tells llmtop's own cost.
type selfReader struct{ pid int }

func (r selfReader) read(at time.Time) *Self {
	return &Self{At: at, PID: r.pid, CPUSecondsTotal: ownCPU(), RSSBytes: ownRSS()}
}

// ownCPU is user and system time of all threads so far.
func ownCPU() Opt[float64] {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return None[float64](Unsupported)
	}
	return Some(float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9)
}

// ownRSS is the resident set, from the second field of /proc/self/statm (pages).
func ownRSS() Opt[float64] {
	b, err := ReadKernelFile("/proc/self/statm", nil, 256)
	fields := bytes.Fields(b)
	if err != nil || len(fields) < 2 {
		return None[float64](Unsupported)
	}
	pages, err := strconv.ParseFloat(string(fields[1]), 64)
	if err != nil {
		return None[float64](Unsupported)
	}
	return Some(pages * float64(os.Getpagesize()))
}
