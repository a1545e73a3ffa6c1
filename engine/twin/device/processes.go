package device

import (
	"math/rand/v2"
	"slices"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// listEvery is how often the processes are asked for.
const listEvery = 3 * time.Second

// listed are the processes as last asked for.
type listed struct {
	at        time.Time
	processes []probes.GPUProcess
}

const (
	contextBytes = 520 << 20 // that a process holds beside what it asks for
	strangerName = "python3"
)

// holds is the memory of the engine's process and of the other one. The other gets no more
// than there is.
func (g *gpu) holds(i int, f *Fleet) (own, other float64) {
	free := f.spec.Memory - g.reserved
	if g.pid > 0 && g.held > 0 {
		own = min(g.held+contextBytes, free)
	}
	asked := or(f.board.At(knob.OtherMemory, i)*(1<<30), 0)
	if asked == 0 && or(f.board.At(knob.OtherKernels, i), 0) > 0 {
		asked = g.otherHolds
	}
	return own, min(asked, free-own)
}

// list renews the list of processes when it is time. One of a lost device is empty.
func (f *Fleet) list(at time.Time) {
	if !f.listed.at.IsZero() && at.Sub(f.listed.at) < listEvery {
		return
	}
	all := make([]probes.GPUProcess, 0, len(f.listed.processes))
	for i := range f.gpus {
		if g := &f.gpus[i]; !f.Lost(i) {
			all = f.processes(i, g, all)
		}
	}
	f.listed = listed{at, all}
}

// processes adds those of a device, most memory first.
func (f *Fleet) processes(i int, g *gpu, to []probes.GPUProcess) []probes.GPUProcess {
	u := &g.util
	span := max(u.since.Seconds(), grid.Seconds())
	own, other := g.holds(i, f)
	first := len(to)
	if own > 0 {
		to = append(to, probes.GPUProcess{GPU: g.told.UUID, PID: g.pid, Name: f.name, MemoryBytes: probes.Some(own),
			KernelActiveRatio: probes.Some(percent(u.own / span)), MemoryActiveRatio: probes.Some(percent(u.ownMem / span))})
	}
	if other > 0 {
		to = append(to, probes.GPUProcess{GPU: g.told.UUID, PID: g.otherPID, Name: strangerName, MemoryBytes: probes.Some(other),
			KernelActiveRatio: probes.Some(percent(u.other / span)), MemoryActiveRatio: probes.Some(percent(u.otherMem / span))})
	}
	if other > own && len(to) == first+2 {
		to[first], to[first+1] = to[first+1], to[first]
	}
	u.own, u.ownMem, u.other, u.otherMem, u.since = 0, 0, 0, 0, 0
	return to
}

// stranger is a number for a process that is none of the engine's.
func stranger(rng *rand.Rand, taken []int) int {
	for {
		if pid := 20_000 + rng.IntN(900_000); !slices.Contains(taken, pid) {
			return pid
		}
	}
}
