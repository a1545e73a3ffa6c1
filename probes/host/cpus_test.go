package host

import (
	"fmt"
	"testing"
)

// How busy the cores of the most confined member are, by whomever.
func TestAllowedCores(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 1, 10)
	m.living(101, 100, "worker", 1, 11)
	m.children(100, "101 ")
	m.children(101, "")
	m.put("100/status", "Cpus_allowed_list:\t0-255\n")
	m.put("101/status", "Cpus_allowed_list:\t1-2,200\n") // 200 is off
	stat := func(busy ...int) {
		text := "cpu  99 99 99 99 99 99 99 99 0 0\n"
		for n, b := range busy {
			text += fmt.Sprintf("cpu%d %d 1 1 1000 1000 1 1 1 7 7\n", n, b)
		}
		m.put("stat", text+"intr 5 5\nbtime 1\n")
	}
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	for _, step := range []struct {
		busy []int
		want float64
	}{
		{[]int{100, 100, 100, 100}, 0},
		{[]int{200, 150, 101, 300}, 0.51},
		{[]int{900, 150, 50, 900}, 0.51}, // a core was off and counts anew
		{[]int{900, 250, 50}, 1.51},
	} {
		stat(step.busy...)
		s := readProcess(t, p)
		if got := s.AllowedBusySecondsTotal.Or(-1); s.AllowedCPUs.Or(-1) != 2 || got < step.want-1e-9 || got > step.want+1e-9 || s.Members[1].AllowedCPUs != "1-2,200" {
			t.Errorf("%v: %v s of %v cores, want %v", step.busy, got, s.AllowedCPUs, step.want)
		}
	}
}
