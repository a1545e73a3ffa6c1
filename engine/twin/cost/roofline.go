package cost

import (
	"fmt"
	"math"
	"time"

	"llmtop/rules/roofline"
)

// Roofline is a model of a deployment on GPUs. A step takes what its kernels take, each the longer of its
// arithmetic and its memory traffic with the efficiency of its kind, and what the GPU waits for the host. Clocks
// scale arithmetic and small kernels, not memory; the step is as slow as the slowest GPU. Nothing is drawn while it
// runs: the same work under the same conditions costs the same.
type Roofline struct {
	deployment roofline.Deployment
	settings   Settings
	memory     roofline.Memory
	eff        efficiency
	host       host

	// Of each GPU, for a token where nothing else is said.
	denseFLOPs   float64
	expertFLOPs  float64
	headFLOPs    float64 // of a sampled sequence
	pairFLOPs    float64 // attention of prompts, for a pair of tokens
	decodeFLOPs  float64 // attention of a decode, for a token of context
	denseBytes   float64 // all of them, whatever the tokens
	expertBytes  float64 // of all routed experts
	headBytes    float64
	kvBytes      float64
	stateBytes   float64 // hidden states read and written
	logitBytes   float64 // of a sampled sequence
	adapterBytes float64 // of an adapter
	reduceBytes  float64 // that an all-reduce sums
	untouched    float64 // log of the share of experts that one token does not go to

	rate      float64 // FLOP/s of the layers, at full clocks and MFU 1
	layers    float64 // on each GPU
	reduces   float64 // all-reduces in a step
	latency   float64 // of each
	linkRate  float64 // bytes/s
	busBytes  float64 // sent by each GPU for a byte that is summed
	hopBytes  float64 // sent to the next pipeline stage, a token
	transfers float64 // between stages, in a step

	times []float64 // of each GPU, of the step
	cost  Cost
}

// NewRoofline is the model of a deployment under an engine's settings; spread (0–0.5) says how far a seed's draws
// may take it from the tables. It fails where the model does not fit in the memory.
func NewRoofline(d roofline.Deployment, s Settings, seed uint64, spread float64) (*Roofline, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if !(spread >= 0 && spread <= 0.5) {
		return nil, fmt.Errorf("spread %v: it is between 0 and 0.5", spread)
	}
	memory, err := d.Memory(s.Utilization, s.step())
	if err != nil {
		return nil, err
	}
	r := &Roofline{deployment: d, settings: s, memory: memory, eff: efficiencyOf(&d), host: hostCosts}
	r.vary(newSpread(spread, seed, modelWord))
	r.perGPU()
	r.links()
	r.times = make([]float64, d.GPUCount())
	r.cost.Idle = make([]time.Duration, d.GPUCount())
	return r, nil
}

// Memory is how the memory of each GPU is divided. Its KVTokens over the block size are the blocks of the cache.
func (r *Roofline) Memory() roofline.Memory { return r.memory }

// Deployment is what it models.
func (r *Roofline) Deployment() roofline.Deployment { return r.deployment }

// graphs is how many tokens the largest step with a captured graph has; 0: there are none.
func (r *Roofline) graphs() int {
	if r.settings.Eager {
		return 0
	}
	return r.settings.GraphMax
}

func (r *Roofline) vary(s *spread) {
	e := &r.eff
	e.mfu, e.attention, e.mbu, e.kv, e.link = s.share(e.mfu), s.share(e.attention), s.share(e.mbu), s.share(e.kv), s.share(e.link)
	e.layer *= s.factor()
	h := &r.host
	for _, t := range []*float64{&h.step, &h.sequence, &h.graph, &h.layer, &h.sample, &h.mask, &h.compile} {
		*t *= s.factor()
	}
}

// perGPU divides the model among the GPUs.
func (r *Roofline) perGPU() {
	d, m := &r.deployment, &r.deployment.Model
	n, tp := float64(d.GPUCount()), float64(d.TP)
	r.layers = float64(m.Layers) / float64(d.PP)
	r.rate = d.GPU.FLOPs(d.Weights)

	r.denseFLOPs = 2 * m.Dense() / n
	r.headFLOPs = 2 * m.Head() / tp
	r.denseBytes = m.Dense() * d.Weights.WeightBytes() / n
	r.headBytes = m.Head() * roofline.BF16.WeightBytes() / tp
	inner := float64(m.Intermediate)
	if m.MoE() {
		active := float64(m.ExpertsActive) / float64(m.Experts)
		r.expertFLOPs = 2 * m.Routed() * active / n
		r.expertBytes = m.Routed() * d.Weights.WeightBytes() / n
		r.untouched = math.Log(1 - active)
		inner = float64(m.ExpertIntermediate * (m.ExpertsActive + m.ExpertsShared))
		r.eff.layer += expertsLayer
	}
	r.pairFLOPs = 4 * m.AttentionWidth() * r.layers / tp
	r.decodeFLOPs = r.pairFLOPs
	if a := m.MLA; a.Latent > 0 { // a decode multiplies with the latent vector, which is wider than a head
		r.decodeFLOPs = 2 * float64(m.Heads*(2*a.Latent+a.Rope)) * r.layers / tp
	}
	r.kvBytes = d.KVBytesPerGPU()
	r.stateBytes = r.layers * roofline.BF16.WeightBytes() * (hiddenPasses*float64(m.Hidden) + innerPasses*inner/tp)
	r.logitBytes = sampleReads * 4 * float64(m.Vocab)
	r.adapterBytes = r.adapter() / n
}

// AdapterBytes are those that a LoRA adapter has on each GPU.
func (r *Roofline) AdapterBytes() float64 { return r.adapterBytes }

// adapter are the bytes of a LoRA adapter of all products of the layers: rank × (in + out) of each.
func (r *Roofline) adapter() float64 {
	m := &r.deployment.Model
	h, q, kv := float64(m.Hidden), m.AttentionWidth(), float64(m.KVNumbers())
	widths := (h + q) + (h + kv) + (q + h) + 3*(h+float64(m.Intermediate))
	return float64(m.Layers*r.settings.LoRARank) * widths * roofline.BF16.WeightBytes()
}

// links: two all-reduces a layer, of the hidden states of all tokens, and one hop from stage to stage.
func (r *Roofline) links() {
	d := &r.deployment
	state := float64(d.Model.Hidden) * roofline.BF16.WeightBytes()
	r.linkRate = d.GPU.Link() * r.eff.link
	if d.TP > 1 {
		r.reduces = 2 * r.layers
		r.latency = d.AllReduceLatency()
		r.reduceBytes = state
		r.busBytes = d.AllReduceBytes(1)
	}
	if d.PP > 1 {
		r.transfers = float64(d.PP - 1)
		r.hopBytes = state / float64(d.TP)
	}
}
