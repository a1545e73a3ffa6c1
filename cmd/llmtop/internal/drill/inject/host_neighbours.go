package inject

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"

	"llmtop/cmd/llmtop/internal/child"
)

// neighbours are other processes that take the cores.
//
//	per_core  busy processes for each core, at most 64
type neighbours struct {
	perCore float64

	processes []*child.Child
	begun     time.Time
	lasted    time.Duration
	cpu       time.Duration // that they got altogether
}

func newNeighbours(with Settings) (Injector, error) {
	n, err := with.Number("per_core", 0, 0.25, 64)
	if n == 0 && err == nil {
		err = errors.New("no number of processes is given")
	}
	return &neighbours{perCore: n}, err
}

func (n *neighbours) Start(ctx context.Context, s *Site) error {
	n.begun = time.Now()
	for range int(math.Ceil(n.perCore * float64(runtime.NumCPU()))) {
		c, err := s.Spawn(ctx, "burn")
		if err != nil {
			return err
		}
		n.processes = append(n.processes, c)
	}
	return nil
}

func (n *neighbours) Stop() error {
	if n.lasted == 0 && len(n.processes) > 0 {
		n.lasted = time.Since(n.begun)
		for _, c := range n.processes {
			n.cpu += cpuOf(c.PID())
		}
	}
	for _, c := range n.processes { // all at once: each would else wait for a core to end on
		go c.Stop()
	}
	for _, c := range n.processes {
		<-c.Done()
	}
	return nil
}

// Confirm asks that they got a quarter of what they could have taken of an idle machine.
func (n *neighbours) Confirm() error {
	most := min(float64(len(n.processes)), float64(runtime.NumCPU()))
	if got := n.cpu.Seconds() / n.lasted.Seconds(); !(got >= most/4) {
		return fmt.Errorf("%d neighbours took %.2f cores", len(n.processes), got)
	}
	return nil
}

// cpuOf is the CPU time that a process has had; 0 where that is not to be read.
func cpuOf(pid int) time.Duration {
	f, err := procStat("/", pid)
	if err != nil {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * time.Second / clockTicks
}

// clockTicks is the kernel's USER_HZ, the same on all of Linux's architectures that matter here.
const clockTicks = 100
