package cost

import (
	"math"

	"llmtop/rules/roofline"
)

// demand is what a kind of kernel needs of a GPU, in seconds of either alone.
type demand struct{ compute, memory float64 }

// kernels is what a batch needs of each GPU of a stage, at full clocks.
type kernels struct {
	tokens  float64
	dense   demand // products with weights that every token meets, and the output layer
	experts demand // with those of routed experts
	prefill demand // attention of prompts
	decode  demand // attention of sequences that decode
	stream  float64
	small   float64

	flops  float64
	bytes  float64
	tensor float64 // seconds of tensor cores at full rate
}

func (r *Roofline) kernels(w *Work) kernels {
	tokens := float64(w.PrefillTokens + w.DecodeTokens)
	k := kernels{tokens: tokens, small: r.eff.layer * r.layers}
	r.products(w, &k)
	r.attend(w, &k)
	r.extras(w, &k)
	return k
}

// products are those with weights.
func (r *Roofline) products(w *Work, k *kernels) {
	bandwidth := r.deployment.GPU.Bandwidth
	sampled := float64(w.Sampled)
	if r.deployment.PP > 1 {
		sampled /= float64(r.deployment.PP) // only the last stage has the output layer; each bears its part
	}
	layers, head := r.denseFLOPs*k.tokens, r.headFLOPs*sampled
	bf16 := r.deployment.GPU.BF16
	bytes := r.denseBytes + r.stateBytes*k.tokens
	if w.Sampled > 0 {
		bytes += r.headBytes / float64(r.deployment.PP)
	}
	k.dense.compute = layers/(r.rate*r.mfu(k.tokens)) + head/(bf16*r.mfu(sampled))
	k.dense.memory = bytes / (bandwidth * r.eff.mbu)
	k.flops += layers + head
	k.bytes += bytes
	k.tensor += r.padded(layers, k.tokens)/r.rate + r.padded(head, sampled)/bf16
	if r.expertBytes == 0 {
		return
	}
	m := &r.deployment.Model
	touched := 1 - math.Exp(r.untouched*k.tokens)
	each := k.tokens * float64(m.ExpertsActive) / (float64(m.Experts) * max(touched, 1e-9))
	flops := r.expertFLOPs * k.tokens
	bytes = r.expertBytes * touched
	k.experts.compute = flops / (r.rate * r.mfu(each))
	k.experts.memory = bytes / (bandwidth * r.eff.mbu)
	k.flops += flops
	k.bytes += bytes
	k.tensor += r.padded(flops, each) / r.rate
}

// mfu is what a product of so many rows reaches.
func (r *Roofline) mfu(rows float64) float64 {
	return r.eff.mfu * max(rows, 1) / (max(rows, 1) + halfTokens)
}

// padded is the arithmetic that tensor cores do for a product of few rows: theirs is of whole tiles.
func (r *Roofline) padded(flops, rows float64) float64 {
	if rows <= 0 {
		return 0
	}
	return flops * max(1, rowsPerTile/rows)
}

// attend is attention: prompts are bound by arithmetic, decodes by reading the cache. Each guess of a sequence
// attends to its whole context, which is read once.
func (r *Roofline) attend(w *Work, k *kernels) {
	bandwidth, bf16 := r.deployment.GPU.Bandwidth, r.deployment.GPU.BF16
	if w.PrefillTokens > 0 {
		flops, bytes := r.pairFLOPs*w.PrefillPairs, r.kvBytes*float64(w.PrefillContext+w.PrefillTokens)
		k.prefill = demand{flops / (bf16 * r.eff.attention), bytes / (bandwidth * r.eff.kv)}
		k.flops += flops
		k.bytes += bytes
		k.tensor += flops / bf16
	}
	if w.Decodes > 0 {
		rows := float64(w.DecodeTokens) / float64(w.Decodes)
		flops, bytes := r.decodeFLOPs*float64(w.Context)*rows, r.kvBytes*float64(w.Context+w.DecodeTokens)
		k.decode = demand{flops / (bf16 * r.eff.attention), bytes / (bandwidth * r.eff.kv)}
		k.flops += flops
		k.bytes += bytes
		k.tensor += flops / bf16
	}
}

// extras are what some steps have beside: picking tokens, adapters, a draft model.
func (r *Roofline) extras(w *Work, k *kernels) {
	bandwidth := r.deployment.GPU.Bandwidth
	stages := float64(r.deployment.PP)
	if w.Sampled > 0 {
		bytes := r.logitBytes * float64(w.Sampled) / stages
		k.stream += bytes / (bandwidth * r.eff.mbu)
		k.small += sampleKernel / stages
		k.bytes += bytes
	}
	if w.Adapters > 0 {
		bytes := r.adapterBytes * float64(w.Adapters)
		k.stream += bytes / (bandwidth * r.eff.mbu)
		k.small += loraLayer * r.layers
		k.bytes += bytes
	}
	if w.DecodeTokens > w.Decodes && r.settings.Drafter > 0 {
		passes := float64(w.DecodeTokens)/float64(w.Decodes) - 1
		bytes := passes * r.settings.Drafter * roofline.BF16.WeightBytes() / float64(r.deployment.GPUCount())
		k.stream += bytes / (bandwidth * r.eff.mbu)
		k.small += passes * drafterKernel / stages
		k.bytes += bytes
	}
}
