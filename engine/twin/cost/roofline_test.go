package cost

import (
	"math"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/rules/roofline"
)

func deployment(t testing.TB, gpu, model string, weights roofline.DType, tp, pp int) roofline.Deployment {
	t.Helper()
	g, err := roofline.LookupGPU(gpu)
	if err != nil {
		t.Fatal(err)
	}
	m, err := roofline.LookupModel(model)
	if err != nil {
		t.Fatal(err)
	}
	return roofline.Deployment{GPU: g, Model: m, Weights: weights, KV: roofline.BF16, TP: tp, PP: pp}
}

func model(t testing.TB, d roofline.Deployment, change func(*Settings)) *Roofline {
	t.Helper()
	s := Defaults
	if change != nil {
		change(&s)
	}
	r, err := NewRoofline(d, s, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func healthy(gpus int) *Conditions {
	c := &Conditions{Board: knob.NewBoard(gpus, 1), GPUs: make([]GPU, gpus), CPU: 1}
	for i := range c.GPUs {
		c.GPUs[i] = GPU{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}
	}
	return c
}

// decode is a step of a batch whose sequences have so many tokens each.
func decode(batch, context int) *Work {
	return &Work{Decodes: batch, DecodeTokens: batch, Context: batch * context, Sampled: batch}
}

// prefill is a step that computes a whole prompt.
func prefill(tokens int) *Work {
	return &Work{Prefills: 1, PrefillTokens: tokens, PrefillPairs: float64(tokens) * float64(tokens+1) / 2, Sampled: 1}
}

// h100x4 is the deployment that most tests look at.
func h100x4(t testing.TB) roofline.Deployment {
	return deployment(t, "h100", "llama-3-70b", roofline.BF16, 4, 1)
}

// TestAgainstFloors: no step is faster than the data sheet allows, and none of a good engine is
// more than twice the floor at the reference efficiencies.
func TestAgainstFloors(t *testing.T) {
	best := roofline.Efficiency{MFU: 1, MBU: 1}
	for _, c := range []struct {
		gpu, model string
		weights    roofline.DType
		tp         int
	}{
		{"a100-80", "llama-3-8b", roofline.BF16, 1}, {"h100", "llama-3-70b", roofline.BF16, 4}, {"h200", "llama-3-70b", roofline.FP8, 2},
		{"b200", "llama-3-70b", roofline.BF16, 1}, {"l4", "llama-3-8b", roofline.INT4, 1}, {"h200", "deepseek-v3", roofline.FP8, 8}, {"h100", "mixtral-8x7b", roofline.BF16, 2},
	} {
		d := deployment(t, c.gpu, c.model, c.weights, c.tp, 1)
		r, on := model(t, d, nil), healthy(c.tp)
		for _, batch := range []int{1, 32, 128} {
			got := r.Step(decode(batch, 1000), on).Step.Seconds()
			if least := d.TPOTFloor(float64(batch), 1000, best) * 0.9; got < least { // embeddings are not read
				t.Errorf("%s %s: batch %d: %.2f ms is below the floor of %.2f", c.gpu, c.model, batch, got*1e3, least*1e3)
			}
			if most := 2*d.TPOTFloor(float64(batch), 1000, roofline.Reference) + 10e-3; got > most {
				t.Errorf("%s %s: batch %d: %.2f ms is above %.2f", c.gpu, c.model, batch, got*1e3, most*1e3)
			}
		}
		got := r.Step(prefill(4096), on).Step.Seconds()
		if least := d.TTFTFloor(4096, 0, best) * 0.9; got < least {
			t.Errorf("%s %s: a prompt of 4096: %.1f ms is below the floor of %.1f", c.gpu, c.model, got*1e3, least*1e3)
		}
	}
}

// TestConditions turns one thing at a time: what gets slower by it, and what stays.
func TestConditions(t *testing.T) {
	set := func(id knob.ID, value float64) func(*Conditions) {
		return func(c *Conditions) {
			if err := c.Board.Apply(knob.Change{Knob: id, Target: knob.All, Value: value}); err != nil {
				t.Fatal(err)
			}
		}
	}
	gpus := func(f func(*GPU)) func(*Conditions) {
		return func(c *Conditions) {
			for i := range c.GPUs {
				f(&c.GPUs[i])
			}
		}
	}
	guided := func(w *Work) { w.Guided = w.Sampled }
	r := model(t, h100x4(t), nil)
	for _, c := range []struct {
		name            string
		change          func(*Conditions)
		work            func(*Work)
		decode, prefill [2]float64 // the step takes between so many times as long
	}{
		{name: "clocks halved: arithmetic, hardly memory", change: gpus(func(g *GPU) { g.Clock = 0.5 }), decode: [2]float64{1.05, 1.3}, prefill: [2]float64{1.8, 2}},
		{name: "arithmetic halved", change: gpus(func(g *GPU) { g.Compute = 0.5 }), decode: [2]float64{1.05, 1.3}, prefill: [2]float64{1.8, 2}},
		{name: "bandwidth halved: memory, hardly arithmetic", change: gpus(func(g *GPU) { g.Bandwidth = 0.5 }), decode: [2]float64{1.5, 2}, prefill: [2]float64{1, 1.1}},
		{name: "half of the time", change: gpus(func(g *GPU) { g.Share = 0.5 }), decode: [2]float64{1.7, 2}, prefill: [2]float64{1.8, 2}},
		{name: "one straggler slows all", change: func(c *Conditions) { c.GPUs[2].Compute = 0.5 }, decode: [2]float64{1.05, 1.3}, prefill: [2]float64{1.8, 2}},
		{name: "kernels halved", change: set(knob.Kernel, 0.5), decode: [2]float64{1.7, 2}, prefill: [2]float64{1.8, 2}},
		{name: "attention at a tenth", change: set(knob.AttentionKernel, 0.1), decode: [2]float64{1.3, 3}, prefill: [2]float64{1.1, 1.7}},
		{name: "links at a tenth: prompts' bytes", change: gpus(func(g *GPU) { g.Link = 0.1 }), decode: [2]float64{1, 1.2}, prefill: [2]float64{1.3, 3}},
		{name: "100 µs more an all-reduce: 16 ms", change: set(knob.AllReduceLatency, 100), decode: [2]float64{1.5, 1.9}, prefill: [2]float64{1.01, 1.1}},
		{name: "overhead × 20", change: set(knob.StepOverhead, 20), decode: [2]float64{1.3, 1.6}, prefill: [2]float64{1, 1.1}},
		{name: "sampling × 200", change: set(knob.Sampling, 200), decode: [2]float64{1.4, 1.8}, prefill: [2]float64{1, 1.01}},
		{name: "no graphs", change: set(knob.Graphs, 0), decode: [2]float64{1, 1.01}, prefill: [2]float64{1, 1.01}},
		{name: "slow cores", change: func(c *Conditions) { c.CPU = 4 }, decode: [2]float64{1.05, 1.2}, prefill: [2]float64{1, 1.2}},
		{name: "grammars", work: guided, decode: [2]float64{1.05, 1.1}, prefill: [2]float64{1, 1.01}},
		{name: "grammars with masks × 10", work: guided, change: set(knob.GrammarMask, 10), decode: [2]float64{1.4, 1.8}, prefill: [2]float64{1, 1.01}},
		{name: "adapters", work: func(w *Work) { w.Adapters, w.AdapterSeqs = min(4, w.Sampled), w.Sampled }, decode: [2]float64{1.03, 1.4}, prefill: [2]float64{1, 1.05}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []struct {
				name string
				work *Work
				want [2]float64
			}{{"decode", decode(32, 1500), c.decode}, {"prefill", prefill(4096), c.prefill}} {
				before := r.Step(step.work, healthy(4)).Step
				on, w := healthy(4), *step.work
				if c.change != nil {
					c.change(on)
				}
				if c.work != nil {
					c.work(&w)
				}
				got := float64(r.Step(&w, on).Step) / float64(before)
				if got < step.want[0] || got > step.want[1] {
					t.Errorf("%s: %.3f times as long, want %v", step.name, got, step.want)
				}
			}
		})
	}
}

// TestGraphs: a small model's decode is slowed by kernels that are launched one by one, whether
// graphs are off or the batch is larger than any that was captured; then the GPU waits.
func TestGraphs(t *testing.T) {
	d := deployment(t, "h100", "qwen2.5-0.5b", roofline.BF16, 1, 1)
	r := model(t, d, nil)
	with := *r.Step(decode(64, 500), healthy(1))
	for _, c := range []struct {
		name string
		id   knob.ID
		to   float64
	}{{"off", knob.Graphs, 0}, {"up to 32", knob.GraphMax, 32}, {"up to 0", knob.GraphMax, 0}} {
		on := healthy(1)
		if err := on.Board.Apply(knob.Change{Knob: c.id, Target: knob.All, Value: c.to}); err != nil {
			t.Fatal(err)
		}
		got := r.Step(decode(64, 500), on)
		if f := float64(got.Step) / float64(with.Step); f < 1.5 || f > 5 {
			t.Errorf("%s: %.2f times as long, want 1.5–5", c.name, f)
		}
		if got.Kernel != with.Kernel || got.Gap < 2*time.Millisecond {
			t.Errorf("%s: kernels %v, were %v; gap %v", c.name, got.Kernel, with.Kernel, got.Gap)
		}
	}
	eager := model(t, d, func(s *Settings) { s.Eager = true })
	if got := eager.Step(decode(64, 500), healthy(1)).Gap; got < 2*time.Millisecond {
		t.Errorf("eager: gap %v", got)
	}
}

// TestPromptsHaveNoGraph: a step with a prompt in it is launched layer by layer, graphs or not. A small model waits for
// that; a large one has more to compute.
func TestPromptsHaveNoGraph(t *testing.T) {
	for _, c := range []struct {
		model string
		waits bool
	}{{"qwen2.5-0.5b", true}, {"llama-3-8b", false}} {
		r := model(t, deployment(t, "a100-80", c.model, roofline.BF16, 1, 1), nil)
		alone, mixed, decodes := prefill(200), prefill(100), decode(8, 500)
		mixed.Decodes, mixed.DecodeTokens, mixed.Context = 8, 8, 4000
		for _, w := range []*Work{alone, mixed} {
			got := r.Step(w, healthy(1))
			if want := seconds(r.host.layer * float64(r.deployment.Model.Layers)); got.Host.Launch != want {
				t.Errorf("%s: launches take %v, want %v", c.model, got.Host.Launch, want)
			}
			if waits := got.Gap > 2*time.Millisecond; waits != c.waits {
				t.Errorf("%s: kernels %v, gap %v", c.model, got.Kernel, got.Gap)
			}
		}
		if got := r.Step(decodes, healthy(1)).Host.Launch; got > 100*time.Microsecond {
			t.Errorf("%s: a decode is launched in %v", c.model, got)
		}
	}
}

// TestAsync: host work disappears under the kernels until it is longer than they are.
func TestAsync(t *testing.T) {
	r := model(t, h100x4(t), func(s *Settings) { s.Async = true })
	if got := r.Step(decode(200, 500), healthy(4)).Gap; got > 100*time.Microsecond {
		t.Errorf("gap %v, want next to none", got)
	}
	slow := healthy(4)
	slow.CPU = 30
	got := r.Step(decode(200, 500), slow)
	if got.Gap < 10*time.Millisecond || got.CPU > 3*time.Millisecond {
		t.Errorf("on cores 30 times as slow: gap %v, CPU time %v; contention is no CPU time", got.Gap, got.CPU)
	}
	w := decode(200, 500)
	w.Guided = 10
	if got := r.Step(w, healthy(4)).Gap; got < time.Millisecond {
		t.Errorf("with grammars: gap %v, want all of the host's work", got)
	}
}

// TestStraggler: the others wait for it, and do no more than before.
func TestStraggler(t *testing.T) {
	r := model(t, h100x4(t), nil)
	before := *r.Step(prefill(4096), healthy(4))
	on := healthy(4)
	on.GPUs[2].Compute = 0.5
	got := r.Step(prefill(4096), on)
	for i, idle := range got.Idle {
		share := float64(idle) / float64(got.Kernel)
		if i == 2 && idle != 0 || i != 2 && (share < 0.4 || share > 0.5) {
			t.Errorf("GPU %d waits %.2f of the time", i, share)
		}
	}
	if got.FLOPs != before.FLOPs || got.Bytes != before.Bytes || got.Tensor > 0.6*before.Tensor {
		t.Errorf("work %g FLOP, %g B, was %g, %g; tensor cores busy for %.2f, were %.2f", got.FLOPs, got.Bytes, before.FLOPs, before.Bytes, got.Tensor, before.Tensor)
	}
}

// TestNewShape: kernels are compiled while the GPU waits, longer on busy cores.
func TestNewShape(t *testing.T) {
	r, w := model(t, h100x4(t), nil), decode(8, 500)
	usual := *r.Step(w, healthy(4))
	w.NewShape = true
	on := healthy(4)
	on.CPU = 2
	got := r.Step(w, on)
	if got.Compile != 5*time.Second || got.Gap < got.Compile || got.CPU != usual.CPU+2500*time.Millisecond {
		t.Errorf("compiling %v, gap %v, CPU time %v", got.Compile, got.Gap, got.CPU)
	}
}

// TestPipeline: a token passes through all stages, so that they do not shorten a decode of one
// sequence; a large batch keeps all of them busy, a small one leaves them waiting.
func TestPipeline(t *testing.T) {
	tp1 := model(t, deployment(t, "b200", "llama-3-70b", roofline.BF16, 1, 1), nil)
	pp4 := model(t, deployment(t, "b200", "llama-3-70b", roofline.BF16, 1, 4), nil)
	one, four := tp1.Step(decode(1, 500), healthy(1)).Kernel, *pp4.Step(decode(1, 500), healthy(4))
	if f := float64(four.Kernel) / float64(one); f < 0.95 || f > 1.1 {
		t.Errorf("one sequence: kernels take %.3f times as long on four stages, want as long", f)
	}
	if idle := float64(four.Idle[0]) / float64(four.Kernel); math.Abs(idle-0.75) > 0.01 {
		t.Errorf("one sequence: a stage waits %.3f of the time, want 0.75", idle)
	}
	many := pp4.Step(decode(64, 500), healthy(4))
	if idle := float64(many.Idle[0]) / float64(many.Kernel); idle > 0.01 {
		t.Errorf("64 sequences: a stage waits %.3f of the time", idle)
	}
}

// TestGuesses: verifying four guesses a sequence costs little while memory is the limit, and the
// draft model its own passes.
func TestGuesses(t *testing.T) {
	w := decode(8, 500)
	w.DecodeTokens *= 5
	r := model(t, h100x4(t), nil)
	plain := r.Step(decode(8, 500), healthy(4)).Step
	if f := float64(r.Step(w, healthy(4)).Step) / float64(plain); f < 1 || f > 1.1 {
		t.Errorf("n-gram guesses: %.3f times as long", f)
	}
	drafts := model(t, h100x4(t), func(s *Settings) { s.Drafter = 1e9 })
	if f := float64(drafts.Step(w, healthy(4)).Step) / float64(plain); f < 1.1 || f > 1.5 {
		t.Errorf("guesses of a draft model: %.3f times as long", f)
	}
}
