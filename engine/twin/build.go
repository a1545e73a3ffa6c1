package twin

import (
	"fmt"
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/device"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/engine/twin/workload"
	"llmtop/rules/roofline"
)

// Plant is what a scenario stands for, before anything has happened: the cost of a step of
// each replica, the GPUs, the host. The run in virtual time and the one in real time begin with it.
type Plant struct {
	Scenario Scenario
	Board    *knob.Board
	Models   []cost.Model // of each replica
	Front    Front
	Blocks   int             // of the KV cache of each replica
	Memory   roofline.Memory // of each GPU; zero of an engine that was measured
	Fleet    *device.Fleet   // nil: no GPU is to be seen
	Host     *machine.Host
}

// Engines that run on the machine's own cores have no GPUs to be seen.
func (s *Scenario) onGPUs() bool { return s.Linear == nil }

// settings are those of the engine that the cost model wants.
func (s *Scenario) settings() cost.Settings {
	o := cost.Defaults
	o.MaxNumSeqs, o.TokenBudget = s.Limits.MaxNumSeqs, s.Limits.MaxBatchedTokens
	if s.Utilization > 0 {
		o.Utilization = s.Utilization
	}
	return o
}

// NewPlant builds what a scenario says, with its replicas at these addresses; the error says
// what of it cannot be.
func NewPlant(sc Scenario, endpoints ...string) (*Plant, error) {
	p := &Plant{Scenario: sc, Board: knob.NewBoard(max(1, sc.GPUs), sc.Replicas), Blocks: sc.Blocks}
	p.Front = DefaultFront.Varied(sc.Spread, sc.Seed)
	if sc.Front != nil {
		p.Front = *sc.Front
	}
	if err := p.models(); err != nil {
		return nil, err
	}
	if p.Blocks < 1 {
		return nil, fmt.Errorf("no KV cache is left for the engine: %d blocks", p.Blocks)
	}
	return p, p.machines(endpoints)
}

// models makes the cost models. Each replica has parameters of its own, as no two engines are alike.
func (p *Plant) models() error {
	sc := &p.Scenario
	if sc.Linear != nil {
		for range sc.Replicas {
			l := *sc.Linear
			p.Models = append(p.Models, &l)
		}
		return nil
	}
	for n := range sc.Replicas {
		r, err := cost.NewRoofline(sc.Deployment(), sc.settings(), sc.Seed^mix(uint64(n)), sc.Spread)
		if err != nil {
			return err
		}
		p.Models, p.Memory = append(p.Models, r), r.Memory()
	}
	if p.Blocks == 0 {
		p.Blocks = p.Memory.KVTokens / sc.BlockSize
	}
	return nil
}

// machines makes the host and its GPUs.
func (p *Plant) machines(endpoints []string) (err error) {
	sc := &p.Scenario
	d := sc.Deployment()
	p.Host, err = machine.New(machine.Config{
		Cores: sc.CPUs, GPUs: sc.GPUs, Replicas: sc.Replicas, TP: d.TP, PP: d.PP, Personality: sc.Personality, Endpoints: endpoints,
		WeightBytes: d.Model.WeightBytes(d.Weights), Age: sc.Warm, Seed: sc.Seed, Spread: sc.Spread, Board: p.Board, Start: sc.began(),
	})
	if err != nil || !sc.onGPUs() {
		return err
	}
	p.Fleet = device.New(device.Config{
		Spec: device.SpecOf(sc.GPU), GPUs: sc.GPUs, PIDs: p.Host.PIDs(), Process: sc.process(), Near: p.Host.Near,
		Board: p.Board, Seed: sc.Seed, Spread: sc.Spread,
	})
	return nil
}

// process is how the engine's processes are called on the GPUs.
func (s *Scenario) process() string {
	switch s.Personality {
	case "llamacpp":
		return "llama-server"
	case "llmtop": // our own engine's page
		return "llmtop"
	}
	return "python3"
}

// began is when the engines of a run began to serve: before the first sample.
func (s *Scenario) began() time.Time { return s.Start.Add(-s.Warm) }

// Endpoints are the addresses of the replicas, as llmtop would have them.
func (s *Scenario) Endpoints() []string {
	var out []string
	for n := range s.Replicas {
		out = append(out, fmt.Sprintf("http://127.0.0.1:%d", 8000+n))
	}
	return out
}

// parts are what the simulation runs over.
func (p *Plant) parts() (Parts, error) {
	sc := &p.Scenario
	source := sc.Source
	if source == nil {
		var err error
		w := sc.Workload
		w.Delay = sc.Warm // a trace begins with the run
		if source, err = workload.New(w, sc.Seed, p.Board); err != nil {
			return Parts{}, err
		}
	}
	d := sc.Deployment()
	parts := Parts{
		Source: source, Models: p.Models, Front: p.Front, Blocks: p.Blocks,
		TokenBytes: d.Model.KVBytesPerToken(d.KV), Wire: sc.wire(), Held: p.Memory.Budget, Weights: p.Memory.Weights,
	}
	if r, ok := p.Models[0].(*cost.Roofline); ok {
		parts.Adapter = r.AdapterBytes()
	}
	return parts, nil
}

// wire is the bandwidth between prefill and decode instances of one host, in bytes a second:
// that of the GPUs' links, of which half can be had (transfers of many small blocks).
func (s *Scenario) wire() float64 { return s.GPU.Link() / 2 }
