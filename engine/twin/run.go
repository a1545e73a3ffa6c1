package twin

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/device"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
)

// slice is how often GPUs and host take in what the engines did, and the other way round.
const slice = 100 * time.Millisecond

// Run is a scenario in virtual time. It is a probes.Source: each Next lets an interval pass and
// tells what llmtop would have seen at its end. It is not safe for concurrent use.
type Run struct {
	*Plant
	sim     *Simulation
	pages   []exposition.Page
	veil    *Veil
	summary summary
	warmed  bool
	since   Tally // when it was warm

	seq    uint64
	at     time.Duration // since the engines began
	pids   []int
	gpus   []device.Load
	host   []machine.Load
	states []cost.GPU

	shown shown
}

// New begins a run. The error says what of the scenario cannot be.
func New(sc Scenario) (*Run, error) {
	plant, err := NewPlant(sc, sc.Endpoints()...)
	if err != nil {
		return nil, err
	}
	parts, err := plant.parts()
	if err != nil {
		return nil, err
	}
	moved := sc // in the time of the simulation, which begins before the first sample
	moved.Start, moved.Timeline = sc.began(), slices.Clone(sc.Timeline)
	for i := range moved.Timeline {
		moved.Timeline[i].At += sc.Warm
	}
	sim, err := NewSimulation(moved, plant.Board, parts)
	if err != nil {
		return nil, err
	}
	r := &Run{Plant: plant, sim: sim, veil: NewVeil(sc.Without...), gpus: make([]device.Load, sc.GPUs), host: make([]machine.Load, sc.Replicas)}
	for n := range sc.Replicas {
		page, err := exposition.New(sc.Personality, sim.Info(n))
		if err != nil {
			return nil, fmt.Errorf("replica %d: %w", n, err)
		}
		sim.Show(n, page)
		r.pages = append(r.pages, page)
	}
	r.shown.init(r)
	return r, nil
}

// Next is the sample after the next interval; io.EOF ends the run.
func (r *Run) Next(ctx context.Context) (*probes.Sample, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sc := &r.Scenario
	if r.at-sc.Warm+sc.Interval > sc.Duration {
		return nil, io.EOF
	}
	if !r.warmed {
		if err := r.pass(ctx, sc.Warm); err != nil {
			return nil, err
		}
		for n, endpoint := range sc.Endpoints() { // who begins to ask now is told of what finishes from now on
			r.sim.Requests(n, endpoint)
		}
		r.warmed, r.since = true, r.sim.Tally()
	}
	if err := r.pass(ctx, r.at+sc.Interval); err != nil {
		return nil, err
	}
	r.seq++
	return r.sample(), nil
}

// pass lets time pass until a time since the engines began, or until nobody waits for it.
func (r *Run) pass(ctx context.Context, until time.Duration) error {
	for r.at < until {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(until, r.at+slice)
		if err := r.sim.Advance(to); err != nil {
			return fmt.Errorf("at %s: %w", r.at-r.Scenario.Warm, err)
		}
		r.exchange(to, to-r.at)
		r.at = to
	}
	return nil
}

// exchange tells GPUs and host what the engines did in a span, and the engines under what they go on.
func (r *Run) exchange(now, span time.Duration) {
	clear(r.gpus)
	ranks := r.ranks()
	for n := range r.host {
		copy(r.gpus[min(len(r.gpus), n*ranks):], r.sim.GPULoads(n))
		r.host[n] = r.sim.HostLoad(n)
	}
	r.Host.Advance(now, span, r.host)
	if r.Fleet != nil {
		if pids := r.Host.PIDs(); !slices.Equal(pids, r.pids) {
			r.pids = slices.Clone(pids)
			r.Fleet.Use(r.pids)
		}
		r.Fleet.Advance(now, span, r.gpus)
	}
	for n := range r.host {
		r.states = r.states[:0]
		gone, killed := false, false
		for i := range ranks {
			if gpu := n*ranks + i; r.Fleet != nil {
				r.states = append(r.states, r.Fleet.Condition(gpu))
				gone = gone || r.Fleet.Lost(gpu)
				killed = r.Fleet.Killed(gpu) || killed
			}
		}
		r.sim.SetConditions(n, r.states, r.Host.Slowdown(n))
		r.sim.SetGone(n, gone)
		if killed {
			r.sim.Crash(n)
		}
	}
}

// ranks is how many GPUs a replica has.
func (r *Run) ranks() int { return max(1, r.Scenario.TP) * max(1, r.Scenario.PP) }

// Tally is what has become of all requests since the engines began.
func (r *Run) Tally() Tally { return r.sim.Tally() }

// Summary says in a few lines what became of the requests since the first sample.
func (r *Run) Summary() string { return r.summary.text(r.since, r.sim.Tally(), r.sim.InFlight()) }

// Facts are what a recording says of the run: what is simulated, not what happens to it.
func (r *Run) Facts() map[string]string {
	sc := &r.Scenario
	facts := map[string]string{"simulated": sc.Title(), "engine": sc.Personality, "model": sc.Model.Name, "seed": fmt.Sprint(sc.Seed)}
	if sc.onGPUs() {
		facts["gpus"] = fmt.Sprintf("%d × %s", sc.GPUs, sc.GPU.NVML)
	}
	return facts
}

// Title names what is simulated: "llama-3-70b bf16 on h100 ×8, tp 4, 2 replicas".
func (s *Scenario) Title() string {
	if !s.onGPUs() {
		return "an engine that was measured"
	}
	title := fmt.Sprintf("%s %s on %s ×%d", s.Model.Name, s.Weights, s.GPU.Name, s.GPUs)
	if s.TP > 1 {
		title += fmt.Sprintf(", tp %d", s.TP)
	}
	if s.PP > 1 {
		title += fmt.Sprintf(", pp %d", s.PP)
	}
	if s.Replicas > 1 {
		title += fmt.Sprintf(", %d replicas", s.Replicas)
	}
	return title
}
