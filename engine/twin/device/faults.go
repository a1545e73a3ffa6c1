package device

import (
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// faults are what has gone wrong with a board, as the driver counts it.
type faults struct {
	xids                   uint64
	last                   probes.Opt[uint64]
	lastAt                 time.Duration
	corrected, uncorrected float64
	remapped, remappedBad  float64 // rows, after errors set right and after those that were not
	pending, unrepaired    float64
	action                 float64 // that the driver asks for
	killed                 bool    // whoever computed there has lost what was in the memory
	links                  float64 // errors of the NVLinks
	linksDown              int
}

// Recovery actions, indexes of probes.RecoveryActions.
const (
	resetGPU   = 1
	rebootHost = 2
)

// Numbers of errors that follow from something else than a scenario's "xid".
const (
	xidOffTheBus = 79
	xidContained = 94
	xidRemapped  = 63
	xidCleanUp   = 45
	xidAction    = 154
	followsSoon  = 5 * time.Second
)

// consequences are what an error of a number comes with; those of applications have none.
var consequences = map[int]func(*faults){
	48:           func(f *faults) { f.uncorrectable(1) },
	62:           func(f *faults) { f.asks(resetGPU) },
	xidRemapped:  func(f *faults) { f.remappedBad++; f.pending = 1; f.asks(resetGPU) },
	64:           func(f *faults) { f.unrepaired = 1; f.asks(resetGPU) },
	74:           func(f *faults) { f.links += 100; f.linksDown++; f.asks(resetGPU) },
	92:           func(f *faults) { f.corrected += 500; f.remapped++ },
	xidContained: func(f *faults) { f.uncorrectable(1) },
	95:           func(f *faults) { f.uncorrectable(1) },
	119:          func(f *faults) { f.asks(resetGPU) },
	120:          func(f *faults) { f.asks(resetGPU) },
	140:          func(f *faults) { f.uncorrectable(1) },
	xidAction:    func(f *faults) { f.asks(rebootHost) },
}

func (f *faults) asks(action float64) { f.action = max(f.action, action) }

// uncorrectable errors each cost a row of the memory, which waits for a reset to be replaced.
func (f *faults) uncorrectable(n float64) {
	f.killed = true
	f.uncorrected += n
	f.remappedBad += min(n, 8)
	f.pending = 1
	f.asks(resetGPU)
}

// xid counts an error. What only follows from another one does not hide that one's number.
func (f *faults) xid(number int, at time.Duration) {
	f.xids++
	follows := number == xidCleanUp || number == xidAction
	if follows && f.last.Seen() && at-f.lastAt <= followsSoon {
		return
	}
	f.last, f.lastAt = probes.Some(uint64(number)), at
}

// takeMoments takes in the errors that have come.
func (f *Fleet) takeMoments() {
	for _, c := range f.board.Take(knob.Xid) {
		f.each(c, func(g *gpu) {
			number := int(c.Value)
			g.faults.xid(number, f.now)
			if number == xidOffTheBus {
				g.fell, g.lostAlready = true, true
			}
			if then := consequences[number]; then != nil {
				then(&g.faults)
			}
		})
	}
	for _, c := range f.board.Take(knob.ECC) {
		f.each(c, func(g *gpu) {
			if f.spec.GeForce {
				return // without ECC nobody counts them
			}
			g.faults.uncorrectable(c.Value)
			g.faults.xid(xidRemapped, f.now)
			g.faults.xid(xidContained, f.now)
		})
	}
}

// Killed reports whether the processes on a GPU have ended since the last call, because memory of
// theirs could not be set right: the driver ends them.
func (f *Fleet) Killed(i int) bool {
	killed := f.gpus[i].faults.killed
	f.gpus[i].faults.killed = false
	return killed
}

// each does something to every GPU that a change is for.
func (f *Fleet) each(c knob.Change, do func(*gpu)) {
	for i := range f.gpus {
		if c.Target == knob.All || c.Target == i {
			do(&f.gpus[i])
		}
	}
}

// fall is what happens to a GPU that leaves the bus: the kernel tells of it once.
func (g *gpu) fall(at time.Duration) {
	if !g.lostAlready {
		g.lostAlready = true
		g.faults.xid(xidOffTheBus, at)
	}
	g.watts, g.average = 0, 0
	g.byPower, g.byHeat = 0, 0
}

// back is a GPU that is on the bus; one that was not comes cold from a reset, which repairs
// what waited for one.
func (g *gpu) back(s *Spec) {
	if !g.lostAlready {
		return
	}
	g.lostAlready, g.idling, g.clock, g.keptAt = false, true, s.IdleClock/s.SMClock, time.Time{}
	g.celsius = g.inlet + g.idle*g.resistance
	g.faults.pending, g.faults.action, g.faults.linksDown = 0, 0, 0
}
