package cost

import "llmtop/engine/twin/knob"

// host is the CPU time of a step in seconds, on a free core of a server of today.
type host struct {
	step        float64 // schedule, prepare inputs, handle outputs: of each step,
	sequence    float64 // and of each sequence in it
	graph       float64 // replay the captured graph of a step of decodes
	layer       float64 // launch the kernels of a layer one by one
	sample      float64 // pick a sequence's token, what is left of it for the CPU, for each thousand of the vocabulary
	mask        float64 // fill in the mask of a guided sequence, for each thousand of the vocabulary
	compile     float64 // kernels of a new shape
	bubble      float64 // that stays between two steps when the host is ahead of the GPU
	leastLaunch float64 // from the last launch to its kernel
}

// hostCosts are what profiles of vLLM show. With graphs the sum is 0.3 ms for one sequence and 2 ms for 256, which
// is the 0.2–1 ms of a usual batch; without, about 16 launches a layer at 11 µs: 6 ms for an 8B model and 14 ms for
// 70B (5–15 ms of bubbles have been measured). A mask takes 40 µs of a vocabulary of 128,000, Triton and inductor
// some seconds for a new shape.
var hostCosts = host{
	step: 240e-6, sequence: 6.5e-6, graph: 40e-6, layer: 180e-6, sample: 16e-9, mask: 310e-9, compile: 2.5, bubble: 25e-6, leastLaunch: 12e-6,
}

// hostWork fills in the CPU time of a step.
func (r *Roofline) hostWork(w *Work, c *Conditions) {
	h, out := &r.host, &r.cost
	overhead := c.Board.At(knob.StepOverhead, c.Replica)
	vocabulary := float64(r.deployment.Model.Vocab)
	launch := h.graph
	if !r.captured(w, c) {
		launch = h.layer * float64(r.deployment.Model.Layers)
	}
	out.Host = Host{
		Schedule: seconds(overhead * (h.step + h.sequence*float64(w.Prefills+w.Decodes))),
		Launch:   seconds(overhead * launch),
		Sample:   seconds(c.Board.At(knob.Sampling, c.Replica) * h.sample * vocabulary / 1000 * float64(w.Sampled)),
		Mask:     seconds(c.Board.At(knob.GrammarMask, c.Replica) * h.mask * vocabulary / 1000 * float64(w.Guided)),
	}
	out.CPU = out.Host.Sum()
	out.Compile = 0
	if w.NewShape {
		compile := h.compile * c.Board.At(knob.Compile, c.Replica)
		out.CPU += seconds(compile)
		out.Compile = seconds(compile * max(1, c.CPU))
	}
}

// captured reports whether the step has a captured graph: those with a prompt in them have one at most for the pieces
// between their attention, which is launched layer by layer (vLLM's FULL_AND_PIECEWISE). With small models that, and
// not the GPU, is what a short prompt waits for: 5 ms of 24 layers, as the points of a 0.5B model that are marked "set"
// in scripts/twingate/points.tsv have it.
func (r *Roofline) captured(w *Work, c *Conditions) bool {
	if w.PrefillTokens > 0 || !c.Board.OnAt(knob.Graphs, c.Replica) {
		return false
	}
	largest := float64(r.graphs())
	if set := c.Board.At(knob.GraphMax, c.Replica); set >= 0 { // it is NaN when nobody turned it
		largest = set
	}
	return float64(w.DecodeTokens) <= largest
}

// gap is how long the GPU waits for the host in a step whose kernels take so long. Kernels run while later ones are
// launched. An asynchronous engine does all of it under the kernels of the step before, unless a grammar needs to
// know the token that they pick.
func (r *Roofline) gap(w *Work, c *Conditions, kernels float64) float64 {
	h, host := &r.host, &r.cost.Host
	slow := max(1, c.CPU)
	serial := slow * (host.Schedule + host.Sample + host.Mask).Seconds()
	launch := slow * host.Launch.Seconds()
	if r.settings.Async && w.Guided == 0 {
		return max(h.bubble, serial+launch-kernels)
	}
	return serial + max(h.leastLaunch, launch-kernels)
}
