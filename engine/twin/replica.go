package twin

import (
	"fmt"
	"math/rand/v2"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/device"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/machine"
)

// replica is one engine process: front half, queue, scheduler, steps.
type replica struct {
	sim   *Simulation
	index int
	life  uint32 // counts the processes
	up    bool

	// How it is set up.
	limits     engine.Limits
	base       int // blocks of its KV cache, as long as nothing is turned
	capacity   int // tokens in them
	blockSize  int
	tokenBytes float64
	heldBytes  float64 // on each GPU
	caching    bool
	slow       factors
	weight     float64 // for the router
	credit     float64
	version    int     // counts upgrades
	upgraded   float64 // times as long that its steps take since the last
	lost       bool    // one of its GPUs is:
	gone       bool    // nobody turned a knob for it

	model      cost.Model
	conditions cost.Conditions
	page       exposition.Page // nil: nobody looks
	launched   time.Duration   // its process began
	loading    loading         // what it does until it serves
	started    time.Duration   // it began to serve

	// The front half.
	loop      server // the event loop
	text      server // detokenizes
	tokenizer crew
	media     crew
	wire      crew // to decode instances
	grammars  grammars
	adapters  adapters
	pauses    pauses
	rng       *rand.Rand

	// The scheduler and the step that is computed.
	scheduler *engine.Scheduler
	blocks    *engine.BlockManager
	withheld  withheld
	current   current
	wakes     time.Duration // a policy has had enough then; 0: none waits
	doomed    []doomed
	lastEnd   time.Duration // of the last step
	stats     engine.Stats  // of the scheduler as that one ended
	state     exposition.State
	said      int // blocks of the KV cache that the page was told
	setup     setup

	jobs     jobs
	arrivals uint64
	queued   [engine.NumClasses]int // waiting for their first step
	waits    waits
	swapped  int // preempted, waiting to go on
	preempts int // since the last step
	back     int // jobs whose tokens are all sampled
	guided   int // in the batch
	ring     ring
	canary   canary

	load  machine.Load
	taken time.Duration // when it was last
	gpus  []device.Load
	shown []device.Load // as they were taken last
	steps float64       // since then
	used  usage
}

func (s *Simulation) newReplica(index int, p Parts) (*replica, error) {
	sc := &s.scenario
	r := &replica{
		sim: s, index: index, limits: sc.Limits, blockSize: sc.BlockSize, base: p.Blocks, capacity: p.Blocks * sc.BlockSize,
		tokenBytes: p.TokenBytes, heldBytes: p.Held, model: p.Models[index], weight: 1, upgraded: 1, rng: s.rng(0x7265706c + uint64(index)),
		loop: newServer(1), text: newServer(1),
	}
	r.tokenizer = crew{places: max(1, p.Front.Threads), done: tokenized, takes: r.tokenizing, pauses: &r.pauses}
	r.media = crew{places: max(1, p.Front.ImageThreads), done: decoded, takes: r.decoding, pauses: &r.pauses}
	r.wire = crew{way: byWire, places: 1, done: moved, takes: r.moving}
	r.current.places = make([]int, r.limits.Drafts)
	r.pauses.seed = mix(sc.Seed ^ uint64(index))
	r.conditions = cost.Conditions{Board: s.board, Replica: index, CPU: 1, GPUs: make([]cost.GPU, max(1, sc.TP)*max(1, sc.PP))}
	r.gpus = make([]device.Load, len(r.conditions.GPUs))
	for i := range r.conditions.GPUs {
		r.conditions.GPUs[i] = cost.GPU{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}
	}
	if err := r.serve(); err != nil {
		return nil, fmt.Errorf("replica %d: %w", index, err)
	}
	return r, nil
}

// serve begins with an empty scheduler, cache and front half.
func (r *replica) serve() (err error) {
	sc := &r.sim.scenario
	r.blocks = engine.NewBlockManager(r.most(), r.blockSize, !sc.NoPrefix)
	if r.scheduler, err = engine.NewScheduler(r.limits, r.blocks); err != nil {
		return err
	}
	r.withheld = withheld{}
	r.grammars, r.adapters = newGrammars(r.sim.front.Grammars), newAdapters(sc.Slots)
	r.up, r.started, r.stats = true, r.sim.now, engine.Stats{}
	return nil
}

// happen carries out an event of the replica.
func (r *replica) happen(k kind) {
	switch k {
	case stepped:
		r.stepped()
	case woken:
		r.wakes = 0
		r.step()
	case served:
		r.restarted()
	}
}

// onCPU is how long so much work takes on the cores as they are.
func (r *replica) onCPU(work time.Duration) time.Duration {
	return times(work, max(1, r.conditions.CPU))
}

func (r *replica) spend(p machine.Part, work time.Duration) { r.load.CPU[p] += work }

// lockWait is how long a request waits for the lock: nothing, or until whoever holds it
// lets go. It is free for lockFree at a time, so the more of the time it is held the longer.
func (r *replica) lockWait() time.Duration {
	h := r.slow.lock
	if h == 0 || r.rng.Float64() >= h {
		return 0
	}
	return times(lockFree, h/(1-h)*r.rng.ExpFloat64())
}

const lockFree = 5 * time.Millisecond

// logLine is how long the event loop waits for a line that it logs.
func (r *replica) logLine() time.Duration {
	r.load.Blocked += r.slow.line
	r.spend(machine.Logging, lineWork+times(r.slow.verbose, verboseWork))
	return r.slow.line
}

// What a line costs on the CPU: a usual one, and the part of the time of one that is slow for
// what is written rather than for the disk: it is put together before it is waited for.
const (
	lineWork    = 20 * time.Microsecond
	verboseWork = 0.2
)
