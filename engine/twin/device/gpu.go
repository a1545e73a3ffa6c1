package device

import (
	"math"
	"time"

	"llmtop/probes"
)

// gpu is one of the fleet: what it is made of, its state, and what it has counted.
type gpu struct {
	board
	window   Load // since the last step
	held     float64
	pid      int
	otherPID int

	clock       float64 // of the SMs, over the highest
	usual       float64 // what it would be now if nothing were wrong
	watts       float64 // mean of the last step
	average     float64 // over about a second
	celsius     float64
	memory      float64 // °C
	quiet       time.Duration
	idling      bool // clocks are down for want of work
	waking      bool // they rise
	hot         bool // hardware has halved the clocks for heat
	braked      bool
	locked      bool
	byPower     float64 // share of the last step in which the power limit held the clocks down
	byHeat      float64 // … heat, by software
	limit       float64 // W, enforced
	nvlink      float64
	lost        bool
	fell        bool // off the bus, for good
	lostAlready bool

	last   activity // of the last step
	total  totals
	seen   totals // as of the last section
	util   utilisation
	faults faults
	told   probes.GPUDevice // as of the last section; what is asked for seldom and what never changes stay in it
	keptAt time.Time        // when what is asked for seldom was
}

// board is what differs between two boards of a kind.
type board struct {
	idle, awake                     float64 // W: without clocks; of clocks that run
	sm, tensor, dram, link          float64 // W of each at work all the time
	burst                           float64 // how far power strays from its mean within a step, as a part
	resistance, capacity            float64 // K/W, J/K
	inlet                           float64 // °C
	rise, rest                      time.Duration
	memoryTime                      float64 // share of memory bandwidth in use that the driver calls time
	wide                            float64 // share of the SMs that a kernel of one sequence fills
	otherSM, otherDRAM, otherTensor float64 // how busy the other process keeps them in its time
	reserved, floor, otherHolds     float64 // bytes: kept by the driver; in use without anybody; of the other process, where nothing says how much
	lockTold                        bool    // who fixes clocks does it so that the driver gives it as the reason
}

// activity is how busy the parts of a GPU were, each 0–1 of a span, and what went over its links.
type activity struct {
	kernel, graphics, sm, occupancy, tensor, dram float64
	own, ownDRAM, other, otherDRAM                float64 // of kernel and dram, each process's own
	link, pcie, copied                            float64 // bytes/s, one way
}

// totals are counted since the start. Those in cycles are weighed with the clock, as the
// performance monitor counts them.
type totals struct {
	at                                          time.Duration
	cycles, graphics, sm, occupancy, tensor     float64
	dram, link, pcie, copied                    float64
	joules                                      float64
	power, swThermal, hwThermal, brake, replays float64
}

// utilisation is what the driver gives of its last whole sampling period.
type utilisation struct {
	open                time.Duration
	kernel, memory      float64 // so far
	kernelLast, memLast float64
	own, ownMem         float64 // summed since the processes were listed
	other, otherMem     float64
	since               time.Duration
}

// Where power goes at the highest clock, as parts of Spec.Hunger, when each part works all the
// time. They are set by hand to what is commonly seen of an H100 with a limit of 700 W, whose
// hunger is that: 70 W asleep, 110 W awake without work, 500–620 W at decode, more than the limit
// at prefill, and at a matrix benchmark the clocks at 0.75–0.8 of the highest.
const (
	awakePart  = 0.06
	smPart     = 0.30
	tensorPart = 1.20
	dramPart   = 0.26
	linkPart   = 0.04
	burstPart  = 0.30

	leastClock = 0.12 // of the highest
	heatFloor  = 0.35 // software slows a hot board down no further; hardware does
)

// make draws a board and lets it stand in its air.
func (g *gpu) make(s *Spec, v vary, i int) {
	w, hunger := s.Watts, s.Hunger
	g.board = board{
		idle: v.within(s.Idle, 0.2), awake: v.of(awakePart * hunger),
		sm: v.of(smPart * hunger), tensor: v.of(tensorPart * hunger), dram: v.of(dramPart * hunger), link: linkPart * hunger,
		burst:      v.within(burstPart, 0.5),
		resistance: v.within(43/w, 0.25), // 67 °C at the limit
		inlet:      v.between(21, 27) + float64(i%4),
		rise:       time.Duration(v.within(0.8, 0.5) * 1e9), rest: time.Duration(v.within(1.2, 0.5) * 1e9),
		memoryTime: v.within(0.85, 0.15), wide: v.within(0.78, 0.1),
		otherSM: v.between(0.7, 0.98), otherDRAM: v.between(0.2, 0.6), otherTensor: v.between(0.1, 0.4),
		lockTold: v.rng.IntN(2) == 0,
	}
	g.capacity = v.within(28, 0.3) / g.resistance
	g.clock, g.watts, g.average = s.IdleClock/s.SMClock, g.idle, g.idle
	g.idling, g.limit, g.nvlink, g.usual = true, w, 1, 1
	g.celsius = g.inlet + g.idle*g.resistance
	g.memory = g.celsius
	g.total = g.history(s, v)
}

// history is what the board has counted since the driver was loaded, some days ago.
func (g *gpu) history(s *Spec, v vary) totals {
	days := v.between(3, 60) * 86400
	return totals{joules: days * v.between(0.2, 0.6) * s.Watts, power: days * v.between(0.002, 0.1), replays: float64(v.rng.IntN(4))}
}

// step takes the state over a span by what was done in it.
func (g *gpu) step(s *Spec, k *settings, d time.Duration) {
	dt := d.Seconds()
	a := g.activity(s, k, dt)
	g.last, g.limit, g.braked, g.nvlink = a, k.limit, k.brake, k.nvlink
	g.rests(s, k, d, a.kernel)
	base := g.idle*(1+leakage*(g.celsius-35)) + g.dram*a.dram + g.link*min(a.link/s.LinkBandwidth, 1)
	rate := g.awake + g.sm*a.sm + g.tensor*a.tensor
	g.usual, _ = held(base, rate, 1, s.Watts, g.burst)
	g.turn(s, k, dt, base, rate)
	g.watts = base + rate*thirst(g.clock)
	g.average += (g.watts - g.average) * (1 - math.Exp(-dt/averaging))
	g.warm(s, k, dt, a.dram)
	g.count(a, d)
	if k.nvlink < 1 {
		g.faults.links += linkErrors * dt
	}
	if k.narrow {
		g.total.replays += replays * dt
	}
}

// What bad links count in a second.
const (
	linkErrors = 30
	replays    = 0.5
)

const (
	leakage   = 0.006 // of idle power for each degree
	averaging = 0.5   // s
)

// activity is how busy the load and the other process kept the parts. Where two share the GPU
// they take turns: a kernel of ours takes longer and runs in its share of that time.
func (g *gpu) activity(s *Spec, k *settings, dt float64) activity {
	w := &g.window
	own := min(w.Kernel.Seconds()/dt, 1)
	wait := min(w.Idle.Seconds()/dt, own)
	work, share := own-wait, 1-k.other
	tensor := min(w.Tensor.Seconds()/dt, work*share)
	fill := g.fill(w, tensor, work*share)
	a := activity{own: own * share, other: k.other}
	a.kernel = a.own + a.other
	a.graphics = 0.99 * a.kernel
	a.sm = (work*fill+wait*spinSM)*share + k.other*g.otherSM
	a.occupancy = (work*(0.14+0.12*fill)+wait*spinSM/8)*share + k.other*g.otherSM/4
	a.tensor = tensor + k.other*g.otherTensor
	a.ownDRAM = min(w.Bytes/dt/s.Bandwidth, 1)
	a.otherDRAM = min(k.other*g.otherDRAM*k.bandwidth, 1-a.ownDRAM)
	a.dram = a.ownDRAM + a.otherDRAM
	a.link, a.pcie, a.copied = w.LinkBytes/dt, w.PCIeBytes/dt, w.Copied/dt
	return a
}

// spinSM is the share of the SMs that a kernel holds which waits for another GPU.
const spinSM = 0.12

// fill is the share of the SMs that a working kernel has warps on: nearly all for the large
// matrices of a prefill, fewer for small batches.
func (g *gpu) fill(w *Load, tensor, work float64) float64 {
	if work <= 0 || w.Kernel <= 0 {
		return 0
	}
	batch := w.Batch / float64(w.Kernel)
	full := max(batch/(batch+6), min(tensor/work/0.4, 1))
	return g.wide + (0.97-g.wide)*full
}

// rests notes whether there was work. Without any for a while the clocks fall, where they may.
func (g *gpu) rests(s *Spec, k *settings, d time.Duration, kernel float64) {
	if kernel > 0 {
		g.waking = g.waking || g.idling
		g.quiet, g.idling = 0, false
		return
	}
	g.quiet += d
	asleep := k.idle || g.held == 0 // without a process on it every board lowers its clocks
	g.idling = asleep && (g.idling || g.quiet >= g.rest)
}

// count adds a step up.
func (g *gpu) count(a activity, d time.Duration) {
	dt := d.Seconds()
	t, cycles := &g.total, g.clock*dt
	t.cycles += cycles
	t.graphics += a.graphics * cycles
	t.sm += a.sm * cycles
	t.occupancy += a.occupancy * cycles
	t.tensor += a.tensor * cycles
	t.dram += a.dram * dt
	t.link += a.link * dt
	t.pcie += a.pcie * dt
	t.copied += a.copied * dt
	t.joules += g.watts * dt
	t.power += g.byPower * dt
	t.swThermal += g.byHeat * dt
	if g.hot {
		t.hwThermal += dt
	}
	if g.braked {
		t.brake += dt
	}
	t.at += d
}
