package roofline

import "fmt"

// Deployment is a model on some GPUs of one kind.
type Deployment struct {
	GPU     GPU
	Model   Model
	Weights DType
	KV      DType
	TP, PP  int // tensor- and pipeline-parallel GPUs; it has TP × PP
}

// GPUCount is how many GPUs it takes.
func (d *Deployment) GPUCount() int { return d.TP * d.PP }

// Validate says what of it cannot be, memory aside.
func (d *Deployment) Validate() error {
	m := &d.Model
	switch {
	case d.TP < 1 || d.PP < 1:
		return fmt.Errorf("tp %d and pp %d: each is at least 1", d.TP, d.PP)
	case d.Weights.WeightBytes() == 0:
		return fmt.Errorf("there are no weights of type %q", d.Weights)
	case d.KV.KVBytes() == 0:
		return fmt.Errorf("there is no KV cache of type %q; there are bf16, fp8 and int8", d.KV)
	case m.Heads%d.TP != 0:
		return fmt.Errorf("tp %d does not divide the %d attention heads of %s", d.TP, m.Heads, m.Name)
	case d.PP > m.Layers:
		return fmt.Errorf("pp %d is more than the %d layers of %s", d.PP, m.Layers, m.Name)
	}
	return nil
}

// Efficiency is what share of the data sheet's arithmetic and bandwidth is reached.
type Efficiency struct {
	MFU float64
	MBU float64
}

// Reference is what a good engine reaches with prompts of a thousand tokens and more: MFU 0.4–0.6
// and MBU 0.6–0.85 have been measured by many.
var Reference = Efficiency{MFU: 0.5, MBU: 0.7}

// PrefillFLOPs is the arithmetic of a prompt of which some tokens are cached:
// 2 P (n-cached) + 2 L w (n²-cached²), with causal attention of width w.
func (d *Deployment) PrefillFLOPs(prompt, cached float64) float64 {
	m := &d.Model
	return 2*m.Active()*(prompt-cached) + 2*float64(m.Layers)*m.AttentionWidth()*(prompt*prompt-cached*cached)
}

// ReadBytes is how much of its weights a step of so many tokens reads, all GPUs together: of a
// mixture of experts only those that some token goes to.
func (d *Deployment) ReadBytes(tokens float64) float64 {
	m := &d.Model
	all := m.WeightBytes(d.Weights)
	if !m.MoE() {
		return all
	}
	return all - m.Routed()*d.Weights.WeightBytes()*(1-m.ExpertsTouched(tokens))
}

// TTFTFloor is the least time in seconds from the start of the prefill to the first token: the
// larger of its arithmetic and of reading the weights once. Queue, host and links come on top.
func (d *Deployment) TTFTFloor(prompt, cached float64, e Efficiency) float64 {
	n := float64(d.GPUCount())
	compute := d.PrefillFLOPs(prompt, cached) / (n * d.GPU.FLOPs(d.Weights) * e.MFU)
	read := d.ReadBytes(prompt-cached) / (n * d.GPU.Bandwidth * e.MBU)
	return max(compute, read)
}

// TPOTFloor is the least time in seconds of a decode step of a batch whose sequences have context
// tokens each: the larger of reading weights and KV cache and of the arithmetic. Pipeline stages
// work on different batches at once, so that they do not shorten a token: only TP does.
func (d *Deployment) TPOTFloor(batch, context float64, e Efficiency) float64 {
	n := float64(d.TP)
	bytes := d.ReadBytes(batch) + batch*context*d.Model.KVBytesPerToken(d.KV)
	read := bytes / (n * d.GPU.Bandwidth * e.MBU)
	compute := 2 * d.Model.Active() * batch / (n * d.GPU.FLOPs(d.Weights) * e.MFU)
	return max(read, compute)
}

// Latencies of an all-reduce of few bytes, without what waits for it: 10–20 µs over NVLink with
// custom kernels, 30–100 µs over PCIe, the more GPUs the longer.
const (
	nvlinkLatency = 9e-6
	nvlinkPerGPU  = 1e-6
	pcieLatency   = 28e-6
	pciePerGPU    = 2e-6
)

// AllReduceLatency is what an all-reduce takes beside moving its bytes, in seconds; 0 with one GPU.
func (d *Deployment) AllReduceLatency() float64 {
	switch {
	case d.TP <= 1:
		return 0
	case d.GPU.NVLink > 0:
		return nvlinkLatency + nvlinkPerGPU*float64(d.TP)
	}
	return pcieLatency + pciePerGPU*float64(d.TP)
}

// AllReduceBytes is what each GPU sends when so many bytes are summed over all: 2 (N-1)/N of them.
func (d *Deployment) AllReduceBytes(bytes float64) float64 {
	return 2 * float64(d.TP-1) / float64(d.TP) * bytes
}

// AllReduce is the time in seconds to sum so many bytes over the TP GPUs at the link's full speed.
func (d *Deployment) AllReduce(bytes float64) float64 {
	return d.AllReduceLatency() + d.AllReduceBytes(bytes)/d.GPU.Link()
}
