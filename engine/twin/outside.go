package twin

import (
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/device"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
)

// Now is the time since the start.
func (s *Simulation) Now() time.Duration { return s.now }

// Tally is what has become of all so far.
func (s *Simulation) Tally() Tally { return s.tally }

// InFlight is how many requests are.
func (s *Simulation) InFlight() int { return s.open }

// Turn turns a knob that the scenario does not turn, now.
func (s *Simulation) Turn(c knob.Change) error {
	if err := s.board.Apply(c); err != nil {
		return err
	}
	s.turned()
	return s.err
}

// SetConditions tells a replica under what its next steps are computed: the state of its
// GPUs, which is copied, and how many times as long its work on the CPU takes.
func (s *Simulation) SetConditions(replica int, gpus []cost.GPU, cpu float64) {
	r := s.replicas[replica]
	copy(r.conditions.GPUs, gpus)
	r.conditions.CPU = max(1, cpu)
}

// SetGone tells a replica whether one of its GPUs has left the bus: without all of them its
// process does not live.
func (s *Simulation) SetGone(replica int, gone bool) {
	r := s.replicas[replica]
	r.gone = gone
	r.lose(gone || r.lacksGPU())
}

// Crash ends a replica's process, as an error of its GPU does. Whoever looks after it starts a new one.
func (s *Simulation) Crash(replica int) {
	if r := s.replicas[replica]; !r.lost {
		r.restart()
	}
}

// Up reports whether a replica's process serves; since is when it began to.
func (s *Simulation) Up(replica int) (up bool, since time.Duration) {
	r := s.replicas[replica]
	return r.up, r.started
}

// Version counts a replica's upgrades.
func (s *Simulation) Version(replica int) int { return s.replicas[replica].version }

// Show tells a replica's metrics page what happens, from now on. One is made of Info.
func (s *Simulation) Show(replica int, p exposition.Page) { s.replicas[replica].page = p }

// Info is what a replica's metrics page says of its engine: how its process was set up as it began.
func (s *Simulation) Info(replica int) exposition.Info { return s.replicas[replica].setup.Info }

// State is what the gauges of a replica's metrics page show; valid until the next call of Advance.
func (s *Simulation) State(replica int) *exposition.State {
	r := s.replicas[replica]
	r.gauges(r.scheduler.Stats())
	return &r.state
}

// Requests is the section of what has become of a replica's requests since the last call.
func (s *Simulation) Requests(replica int, endpoint string) *probes.Requests {
	return s.replicas[replica].requests(endpoint)
}

// GPULoads is what a replica has done on each of its GPUs since the last call; valid until
// the next one.
func (s *Simulation) GPULoads(replica int) []device.Load { return s.replicas[replica].gpuLoads() }

// HostLoad is what a replica has done on the CPU since the last call.
func (s *Simulation) HostLoad(replica int) machine.Load { return s.replicas[replica].hostLoad() }

// Busy is how long a replica has computed steps since the start, and how long not.
func (s *Simulation) Busy(replica int) (busy, idle time.Duration) {
	r := s.replicas[replica]
	r.account(s.now)
	return r.used.busy, r.used.idle
}
