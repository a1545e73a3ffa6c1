package device

import (
	"math"
	"math/rand/v2"
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// Config is what a fleet of GPUs is made of.
type Config struct {
	Spec         Spec
	GPUs         int                                   // on the host
	PIDs         []int                                 // of the engine's process on each GPU; GPUs beyond them have none
	Process      string                                // its name
	DriverMemory float64                               // bytes of each GPU that driver and firmware keep; 0: as boards do
	Near         func(gpu int) (node int, cpus string) // NUMA node next to it, with its cores; nil: the host has one
	Board        *knob.Board                           // of as many GPUs
	Seed         uint64
	Spread       float64 // parameters vary by this part
}

const (
	grid    = 100 * time.Millisecond // of the steps in which the state goes on
	maximum = 600                    // steps in one Advance: a longer span has longer ones
)

// Fleet are the GPUs of a host. It is not safe for concurrent use.
type Fleet struct {
	spec  Spec
	board *knob.Board
	name  string
	gpus  []gpu
	noise *rand.Rand // of readings alone: looking changes nothing
	now   time.Duration
	open  time.Duration // since the last step

	period time.Duration // over which the driver takes its utilisation
	links  []probes.GPULink
	listed listed
}

// word sets the fleet's random numbers apart from those of others with the same seed.
const word = 0x67707573

// New returns the GPUs at the start of a run: cool, with an engine that has not begun.
func New(c Config) *Fleet {
	f := &Fleet{spec: c.Spec, board: c.Board, name: c.Process, gpus: make([]gpu, c.GPUs), noise: rand.New(rand.NewPCG(c.Seed, word))}
	rng := rand.New(rand.NewPCG(c.Seed, word+1))
	f.period = grid * [...]time.Duration{2, 5, 10}[rng.IntN(3)]
	for i := range f.gpus {
		g := &f.gpus[i]
		g.make(&f.spec, vary{rng, c.Spread}, i)
		g.identify(&f.spec, rng, i, c)
		g.otherPID = stranger(rng, c.PIDs)
	}
	f.Use(c.PIDs)
	f.links = links(&f.spec, c)
	return f
}

// vary draws parameters around what they usually are.
type vary struct {
	rng    *rand.Rand
	spread float64
}

func (v vary) of(usual float64) float64 { return usual * math.Exp(v.spread*v.rng.NormFloat64()/2) }

// within is like of, never further away than a part.
func (v vary) within(usual, part float64) float64 {
	return min(max(v.of(usual), usual*(1-part)), usual*(1+part))
}

func (v vary) between(low, high float64) float64 { return low + (high-low)*v.rng.Float64() }

// Advance takes in what the engine did on each GPU in the span that ends now, a time since the
// start of the run. GPUs beyond the loads did nothing.
func (f *Fleet) Advance(now, span time.Duration, loads []Load) {
	f.now = now
	for i := range min(len(loads), len(f.gpus)) {
		f.gpus[i].held = loads[i].MemoryBytes
	}
	step := grid
	if span > maximum*grid {
		step = span / maximum
	}
	whole := float64(span)
	for left := span; left > 0; {
		part := min(left, max(step-f.open, 1))
		for i := range min(len(loads), len(f.gpus)) {
			f.gpus[i].window.add(&loads[i], float64(part)/whole)
		}
		left -= part
		if f.open += part; f.open >= step {
			f.step(f.open)
			f.open = 0
		}
	}
}

// step takes the state of all GPUs over so much time.
func (f *Fleet) step(d time.Duration) {
	f.takeMoments()
	for i := range f.gpus {
		g := &f.gpus[i]
		s := f.settings(i)
		if g.lost = g.fell || f.board.OnAt(knob.GPULost, i); g.lost {
			g.fall(f.now)
			g.window = Load{}
			continue
		}
		g.back(&f.spec)
		g.step(&f.spec, &s, d)
		g.sample(d, f.period)
		g.window = Load{}
	}
}

// settings are the knobs of one GPU.
type settings struct {
	limit     float64 // W
	lock      float64 // SM clock over the highest; 1: not locked
	cooling   float64
	inlet     float64 // °C; NaN: as it is
	other     float64 // share of the time of another process
	brake     bool
	idle      bool // clocks fall without work
	nvlink    float64
	narrow    bool // its PCIe link has lost lanes
	bandwidth float64
}

func (f *Fleet) settings(i int) settings {
	b, s := f.board, &f.spec
	return settings{
		limit:   min(max(or(b.At(knob.PowerCap, i), s.Watts)*b.At(knob.PowerLimit, i), s.WattsMin), s.WattsMax),
		lock:    min(or(b.At(knob.ClockLock, i)*1e6/s.SMClock, 1), 1) * b.At(knob.ClockLimit, i),
		cooling: b.At(knob.Cooling, i), inlet: b.At(knob.Inlet, i),
		other: or(b.At(knob.OtherKernels, i), 0),
		brake: b.OnAt(knob.PowerBrake, i), idle: b.OnAt(knob.IdleClocks, i),
		nvlink: b.At(knob.NVLink, i), narrow: f.lanes(i) < float64(s.PCIeWidth), bandwidth: b.At(knob.Bandwidth, i),
	}
}

// or is a knob's value where it was turned.
func or(v, usual float64) float64 {
	if math.IsNaN(v) {
		return usual
	}
	return v
}

// Condition is the state that the next steps on a GPU run under. Its clock is held against that
// which the board would have at this work if nothing were wrong with it: how fast real boards
// were measured to be has it in it that their usual power limit held them down. That of a lost
// GPU means nothing: ask Lost.
func (f *Fleet) Condition(i int) cost.GPU {
	g := &f.gpus[i]
	if f.Lost(i) {
		return cost.GPU{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}
	}
	link, clock := f.board.At(knob.NVLink, i), g.clock/g.usual
	if clock > 1-settled {
		clock = 1
	}
	if f.spec.NVLinks == 0 {
		link *= f.lanes(i) / float64(f.spec.PCIeWidth)
	}
	return cost.GPU{
		Clock: clock, Compute: f.board.At(knob.Compute, i), Bandwidth: f.board.At(knob.Bandwidth, i),
		Share: 1 - or(f.board.At(knob.OtherKernels, i), 0), Link: link,
	}
}

// settled is how near to it a clock is taken to be there.
const settled = 0.005

// lanes are those of a GPU's PCIe link.
func (f *Fleet) lanes(i int) float64 {
	return min(or(f.board.At(knob.PCIeWidth, i), float64(f.spec.PCIeWidth)), float64(f.spec.PCIeWidth))
}

// Lost reports a GPU that has fallen off the bus: what runs on it never ends.
func (f *Fleet) Lost(i int) bool { return f.gpus[i].fell || f.board.OnAt(knob.GPULost, i) }

// Use says which processes of the engine are on the GPUs now, those beyond them have none.
func (f *Fleet) Use(pids []int) {
	for i := range f.gpus {
		if f.gpus[i].pid = 0; i < len(pids) {
			f.gpus[i].pid = pids[i]
		}
	}
}
