package host

import (
	"fmt"
	"strings"
	"testing"

	"llmtop/probes"
)

// statOf is a /proc/stat of cores that were so long busy, stolen and idle.
func statOf(cores map[int][3]int) string {
	var b strings.Builder
	b.WriteString("cpu 1 1 1 1 1 1 1 1\n")
	for n, t := range cores {
		fmt.Fprintf(&b, "cpu%d %d 0 0 %d 0 0 0 %d 0 0\n", n, t[0], t[2], t[1])
	}
	return b.String()
}

func TestCores(t *testing.T) {
	steps := []struct {
		name    string
		cores   map[int][3]int // busy, stolen, idle
		busiest float64
		full    probes.Opt[float64]
	}{
		{"since boot", map[int][3]int{0: {500, 0, 100}, 1: {200, 0, 400}}, 5, probes.Opt[float64]{}},
		{"one full, one idle", map[int][3]int{0: {500, 0, 200}, 1: {300, 0, 400}}, 6, made(1)},
		{"half of it stolen is full too", map[int][3]int{0: {505, 0, 295}, 1: {350, 50, 400}}, 7, made(1)},
		{"nearly full is not", map[int][3]int{0: {599, 0, 301}, 1: {444, 50, 406}}, 7.94, made(0)},
		{"two reads at once say nothing of full", map[int][3]int{0: {602, 0, 301}, 1: {444, 50, 409}}, 7.97, probes.Opt[float64]{}},
		{"a core switched on does not bring its past", map[int][3]int{0: {652, 0, 351}, 1: {454, 50, 499}, 7: {9000, 0, 10}}, 8.47, made(0)},
		{"a core switched off", map[int][3]int{1: {464, 50, 589}, 7: {9100, 0, 10}}, 9.47, made(1)},
		{"idle time that falls", map[int][3]int{1: {464, 50, 500}, 7: {9110, 0, 100}}, 9.57, made(0)},
	}
	var c coreTimes
	for _, step := range steps {
		s := &probes.Host{}
		if err := c.fill([]byte(statOf(step.cores)), s); err != nil {
			t.Fatal(err)
		}
		if s.BusiestCoreSecs != made(step.busiest) || s.FullCores != step.full || s.CPUs != len(step.cores) {
			t.Errorf("%s: busiest %v, full %v of %d; want %v, %v", step.name, s.BusiestCoreSecs, s.FullCores, s.CPUs, step.busiest, step.full)
		}
	}
}

// A line of a core that no kernel has must not make room for it.
func TestCoreNumbersAreBounded(t *testing.T) {
	var c coreTimes
	s := &probes.Host{}
	if err := c.fill([]byte("cpu 1 2 3 4 5\ncpu4000000000 1 2 3 4 5\ncpux 1 2 3 4 5\ncpu3 1 2 3 4 5\n"), s); err != nil || s.CPUs != 1 || len(c.last) != 4 {
		t.Errorf("%v, %d cores, room for %d", err, s.CPUs, len(c.last))
	}
}
