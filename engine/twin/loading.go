package twin

import (
	"time"

	"llmtop/engine/twin/machine"
)

// loading is what a process does from its start until it serves: libraries are imported, the
// weights are read and copied to the GPUs, then kernels are compiled, graphs captured and what
// memory is left becomes the KV cache.
type loading struct {
	began, takes time.Duration
	counted      time.Duration // what it has done until then is in the loads
}

// When reading begins and ends, as parts of the time that loading takes. What vLLM logs of its
// own start is near to it: imports 10–15 %, weights about half, compiling and capturing the rest.
const (
	readFrom = 0.15
	readTo   = 0.6
)

// read is the share of the weights that is there at a time.
func (l *loading) read(at time.Duration) float64 {
	done := float64(at-l.began) / float64(max(1, l.takes))
	return min(1, max(0, (done-readFrom)/(readTo-readFrom)))
}

// CPU of a rank while it loads, in cores: deserialising and copying, compiling.
const (
	readCores    = 0.5
	compileCores = 0.95
)

// reads is how many bytes of weights the replica has read since the last call; what that does
// on GPUs and CPU is charged.
func (r *replica) reads() float64 {
	l, now := &r.loading, r.sim.now
	from := max(l.began, l.counted)
	if r.up || r.lost || now <= from {
		return 0
	}
	l.counted = now
	share := l.read(now) - l.read(from)
	for i := range r.gpus {
		r.gpus[i].Copied += share * r.sim.weights
	}
	cores := compileCores
	if l.read(now) < 1 {
		cores = readCores
	}
	if float64(now-l.began) >= readFrom*float64(l.takes) {
		r.spend(machine.Compile, times(now-from, cores))
	}
	return share * r.sim.weights * float64(len(r.gpus))
}

// holds is the memory that the replica has on each of its GPUs.
func (r *replica) holds() float64 {
	switch {
	case r.up:
		return r.heldBytes
	case r.lost:
		return 0
	}
	return r.loading.read(r.sim.now) * r.sim.weights
}
