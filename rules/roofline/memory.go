package roofline

import "fmt"

// Memory is where the memory of each GPU goes, in bytes.
type Memory struct {
	Budget      float64 // that the engine may take
	Weights     float64
	Activations float64 // at their peak, in a step of the largest size
	Runtime     float64 // CUDA context, libraries, NCCL's buffers
	Graphs      float64 // captured CUDA graphs
	KV          float64 // what is left for the KV cache
	KVTokens    int     // that fit in it, those of all GPUs together counted once
}

// Step is the largest step that an engine is set up for.
type Step struct {
	Tokens int // max_num_batched_tokens
	Seqs   int // max_num_seqs
}

// Sizes that engines report at their start.
const (
	runtimeBytes = 0.55e9 // context and libraries
	ncclBytes    = 1.0e9  // with more than one GPU
	graphBytes   = 12e6   // a layer, all captured sizes together
	leastTokens  = 1024   // fewer than that is no KV cache to serve with
	mostGPUs     = 64     // that are tried when it does not fit
)

// Memory divides the memory of a GPU of which the engine may take a share (gpu_memory_utilization).
// The error says what does not fit and how many GPUs would do.
func (d *Deployment) Memory(utilization float64, step Step) (Memory, error) {
	if err := d.Validate(); err != nil {
		return Memory{}, err
	}
	if !(utilization > 0 && utilization <= 1) {
		return Memory{}, fmt.Errorf("memory utilization %v: it is between 0 and 1", utilization)
	}
	m := d.divide(utilization, step)
	if m.KVTokens >= leastTokens {
		return m, nil
	}
	need := m.Weights + m.Activations + m.Runtime + m.Graphs
	err := fmt.Errorf("%s with %s weights does not fit on %d × %s (tp %d, pp %d): each needs %s beside its KV cache and may take %s%s",
		d.Model.Name, d.Weights, d.GPUCount(), d.GPU.Name, d.TP, d.PP, gb(need), gb(m.Budget), d.enough(utilization, step))
	return m, err
}

func (d *Deployment) divide(utilization float64, step Step) Memory {
	m := Memory{
		Budget:      d.GPU.Memory * utilization,
		Weights:     d.Model.WeightBytes(d.Weights) / float64(d.GPUCount()),
		Activations: d.activations(step),
		Runtime:     runtimeBytes,
		Graphs:      graphBytes * float64(d.Model.Layers) / float64(d.PP),
	}
	if d.GPUCount() > 1 {
		m.Runtime += ncclBytes
	}
	m.KV = max(0, m.Budget-m.Weights-m.Activations-m.Runtime-m.Graphs)
	m.KVTokens = int(m.KV / d.KVBytesPerGPU())
	return m
}

// activations are the largest that are alive at once: a feed-forward part's three and some of the
// hidden width for each token, or logits in fp32 and as many probabilities for each sequence.
func (d *Deployment) activations(step Step) float64 {
	m := &d.Model
	inner := float64(m.Intermediate)
	if m.MoE() {
		inner = float64(m.ExpertIntermediate * (m.ExpertsActive + m.ExpertsShared))
	}
	forward := float64(step.Tokens) * (3*inner/float64(d.TP) + 4*float64(m.Hidden)) * BF16.WeightBytes()
	logits := float64(step.Seqs) * float64(m.Vocab) * 4 * 2
	return forward + logits
}

// KVBytesPerGPU is what a token takes in the KV cache of each GPU. KV heads are divided among the
// GPUs, a GPU has at least one; the latent vector of MLA is on each of them.
func (d *Deployment) KVBytesPerGPU() float64 {
	m := &d.Model
	numbers := float64(m.KVNumbers())
	if m.MLA.Latent == 0 {
		heads := (m.KVHeads + d.TP - 1) / d.TP
		numbers = 2 * float64(heads*m.HeadDim)
	}
	layers := (m.Layers + d.PP - 1) / d.PP
	return float64(layers) * numbers * d.KV.KVBytes()
}

// enough says with how many GPUs it would fit, TP as wide as the heads allow.
func (d *Deployment) enough(utilization float64, step Step) string {
	for n := 2; n <= mostGPUs; n *= 2 {
		wider := *d
		wider.TP, wider.PP = n, 1
		for wider.TP > 8 || d.Model.Heads%wider.TP != 0 {
			wider.TP, wider.PP = wider.TP/2, wider.PP*2
		}
		if n > d.GPUCount() && wider.PP <= d.Model.Layers && wider.divide(utilization, step).KVTokens >= leastTokens {
			return fmt.Sprintf("; %d GPUs would do (tp %d, pp %d)", n, wider.TP, wider.PP)
		}
	}
	return fmt.Sprintf("; not even %d GPUs would do", mostGPUs)
}

func gb(bytes float64) string { return fmt.Sprintf("%.1f GB", bytes/1e9) }
