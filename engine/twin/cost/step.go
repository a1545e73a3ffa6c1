package cost

import (
	"math"
	"time"

	"llmtop/engine/twin/knob"
)

// Step is what a step costs. With a pipeline its sequences are divided among as many batches as there are stages,
// as far as they go; the stages work on different ones, and a token passes through all of them.
func (r *Roofline) Step(w *Work, c *Conditions) *Cost {
	k := r.kernels(w)
	stages, batches := float64(r.deployment.PP), r.batches(w)
	if batches > 1 {
		part := divide(w, batches)
		k = r.kernels(&part)
	}

	kernel := c.Board.At(knob.Kernel, c.Replica)
	attention := c.Board.At(knob.AttentionKernel, c.Replica)
	slowest := r.gpus(&k, c, kernel, attention)
	link, sent := r.link(&k, c)
	once := slowest + link   // of one batch on one stage
	kernels := once * stages // in which each GPU has its part of each batch to compute

	r.hostWork(w, c)
	gap := r.gap(w, c, kernels)

	out := &r.cost
	out.Kernel = seconds(kernels)
	out.Gap = seconds(gap) + out.Compile
	out.Step = out.Kernel + out.Gap
	out.Link = seconds(link * stages)
	for i, t := range r.times {
		out.Idle[i] = seconds(kernels - (t+link)*batches)
	}
	out.FLOPs = k.flops * batches
	out.Bytes = k.bytes * batches
	out.LinkBytes = sent * batches
	out.PCIeBytes = r.toHost(w)
	out.Tensor = r.tensor(&k, c, batches, kernels)
	return out
}

// batches is into how many parts the work of a step goes through the pipeline.
func (r *Roofline) batches(w *Work) float64 {
	return float64(max(1, min(r.deployment.PP, w.Prefills+w.Decodes)))
}

func divide(w *Work, n float64) Work {
	each := func(v int) int { return int(math.Ceil(float64(v) / n)) }
	return Work{
		Prefills: each(w.Prefills), PrefillTokens: each(w.PrefillTokens), PrefillPairs: w.PrefillPairs / n, PrefillContext: each(w.PrefillContext),
		Decodes: each(w.Decodes), DecodeTokens: each(w.DecodeTokens), Context: each(w.Context),
		Sampled: each(w.Sampled), Guided: each(w.Guided), Adapters: each(w.Adapters), AdapterSeqs: each(w.AdapterSeqs),
	}
}

// gpus fills in what each GPU computes of a step, in seconds, and returns the most.
func (r *Roofline) gpus(k *kernels, c *Conditions, kernel, attention float64) float64 {
	slowest := 0.0
	for i := range r.times {
		g := &c.GPUs[i]
		if i > 0 && *g == c.GPUs[i-1] {
			r.times[i] = r.times[i-1]
			continue
		}
		arithmetic, memory := 1/positive(g.Clock*g.Compute), 1/positive(g.Bandwidth)
		t := longer(k.dense.compute*arithmetic, k.dense.memory*memory) +
			longer(k.experts.compute*arithmetic, k.experts.memory*memory) +
			(longer(k.prefill.compute*arithmetic, k.prefill.memory*memory)+longer(k.decode.compute*arithmetic, k.decode.memory*memory))/positive(attention) +
			k.stream*memory + k.small*arithmetic
		r.times[i] = t / positive(kernel*g.Share)
		slowest = max(slowest, r.times[i])
	}
	return slowest
}

// link is what data between GPUs takes on each of them, in seconds, and what a GPU sends.
func (r *Roofline) link(k *kernels, c *Conditions) (took, sent float64) {
	if r.reduces == 0 && r.transfers == 0 {
		return 0, 0
	}
	worst := c.GPUs[0].Link
	for i := range c.GPUs {
		worst = min(worst, c.GPUs[i].Link)
	}
	rate := r.linkRate * positive(worst)
	if r.reduces > 0 {
		latency := r.latency
		if added := c.Board.Value(knob.AllReduceLatency); added > 0 { // it is NaN when nobody turned it
			latency += added * 1e-6
		}
		each := k.tokens * r.reduceBytes * r.busBytes
		took = r.reduces * (latency + each/rate)
		sent = r.reduces * each
	}
	if r.transfers > 0 {
		hop := k.tokens * r.hopBytes
		took += hopLatency + hop/rate
		sent += hop
	}
	return took, sent
}

const hopLatency = 20e-6 // seconds of a send to the next stage beside its bytes

// tensor is the share of the kernels' time in which tensor cores work, at the clock of the slowest GPU: the others
// do the same arithmetic in the same time.
func (r *Roofline) tensor(k *kernels, c *Conditions, batches, kernels float64) float64 {
	clock := c.GPUs[0].Clock
	for i := range c.GPUs {
		clock = min(clock, c.GPUs[i].Clock)
	}
	if kernels <= 0 {
		return 0
	}
	return min(1, k.tensor*batches/(positive(clock)*kernels))
}

// toHost is what goes over PCIe beside NVLink's work: token ids and positions in, picked tokens out, adapters and
// weights not.
func (r *Roofline) toHost(w *Work) float64 {
	return 16*float64(w.PrefillTokens+w.DecodeTokens) + 64*float64(w.Sampled) + float64(w.Guided*r.deployment.Model.Vocab)/8
}

// longer is the time of a kernel that computes and reads at once: the longer of the two, and a little more where
// they are close, since neither is even.
func longer(compute, memory float64) float64 {
	if compute == 0 || memory == 0 {
		return compute + memory
	}
	a, b := compute*compute, memory*memory
	return math.Sqrt(math.Sqrt(a*a + b*b))
}

// positive keeps a factor of nothing from making a step endless: a GPU that does nothing at all hangs, which is
// not a matter of cost.
func positive(f float64) float64 { return max(f, 1e-4) }

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }
