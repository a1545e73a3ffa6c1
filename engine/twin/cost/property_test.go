package cost

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"llmtop/engine/twin/knob"
	"llmtop/rules/roofline"
)

// TestEveryStepAddsUp: whatever the work and the conditions, times add up and nothing is done
// faster than the hardware can.
func TestEveryStepAddsUp(t *testing.T) {
	deployments := []roofline.Deployment{
		h100x4(t), deployment(t, "a100-80", "llama-3-8b", roofline.INT4, 1, 1), deployment(t, "h200", "deepseek-v3", roofline.FP8, 8, 1),
		deployment(t, "l40s", "qwen2.5-32b", roofline.FP8, 2, 2), deployment(t, "b200", "qwen3-235b-a22b", roofline.FP4, 4, 1),
	}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(deployments).Draw(t, "deployment")
		s := Defaults
		s.Async = rapid.Bool().Draw(t, "async")
		r, err := NewRoofline(d, s, rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, "spread"))
		if err != nil {
			t.Fatal(err)
		}
		w, c := drawWork(t), drawConditions(t, d.GPUCount())
		check(t, r, w, c)
		more := *w
		more.Context += 100000
		if w.Decodes > 0 {
			kernel := r.Step(w, c).Kernel
			if got := r.Step(&more, c).Kernel; got < kernel {
				t.Fatalf("more context: kernels %v, before %v", got, kernel)
			}
		}
	})
}

func check(t *rapid.T, r *Roofline, w *Work, c *Conditions) {
	got := r.Step(w, c)
	d := &r.deployment
	if got.Kernel+got.Gap != got.Step || got.Step <= 0 {
		t.Fatalf("kernels %v and gap %v are a step of %v", got.Kernel, got.Gap, got.Step)
	}
	if got.Link > got.Kernel || got.Compile > got.Gap || got.Kernel < 0 || got.Gap < 0 {
		t.Fatalf("parts are more than the whole: %+v", *got)
	}
	seconds, waits := got.Kernel.Seconds(), math.MaxFloat64
	for i, idle := range got.Idle {
		if idle < 0 || idle > got.Kernel {
			t.Fatalf("GPU %d waits %v of %v", i, idle, got.Kernel)
		}
		waits = min(waits, idle.Seconds())
	}
	if d.PP == 1 && waits > 1e-6 {
		t.Fatalf("all GPUs wait, the least %v s", waits)
	}
	if got.Bytes > d.GPU.Bandwidth*seconds*1.001 || got.FLOPs > max(d.GPU.FLOPs(d.Weights), d.GPU.BF16)*seconds*1.001 {
		t.Fatalf("%g B and %g FLOP in %v s", got.Bytes, got.FLOPs, seconds)
	}
	if got.LinkBytes > d.GPU.Link()*got.Link.Seconds()*1.001+1 {
		t.Fatalf("%g B over the link in %v", got.LinkBytes, got.Link)
	}
	if !(got.Tensor >= 0 && got.Tensor <= 1) {
		t.Fatalf("tensor cores work %v of the time", got.Tensor)
	}
}

func drawWork(t *rapid.T) *Work {
	w := &Work{Prefills: rapid.IntRange(0, 8).Draw(t, "prefills"), Decodes: rapid.IntRange(0, 256).Draw(t, "decodes")}
	if w.Prefills > 0 {
		w.PrefillTokens = rapid.IntRange(w.Prefills, 8192).Draw(t, "prefill tokens")
		w.PrefillContext = rapid.IntRange(0, 100000).Draw(t, "prefill context")
		w.PrefillPairs = float64(w.PrefillTokens) * (float64(w.PrefillContext) + float64(w.PrefillTokens+1)/2) / float64(w.Prefills)
	}
	w.DecodeTokens = w.Decodes * rapid.IntRange(1, 5).Draw(t, "guesses and one")
	w.Context = w.Decodes * rapid.IntRange(1, 8000).Draw(t, "context")
	w.Sampled = w.Decodes + rapid.IntRange(0, w.Prefills).Draw(t, "ended prompts")
	w.Guided = rapid.IntRange(0, w.Sampled).Draw(t, "guided")
	w.AdapterSeqs = rapid.IntRange(0, w.Decodes).Draw(t, "adapter sequences")
	w.Adapters = min(w.AdapterSeqs, rapid.IntRange(0, 8).Draw(t, "adapters"))
	w.NewShape = rapid.Bool().Draw(t, "new shape")
	return w
}

func drawConditions(t *rapid.T, gpus int) *Conditions {
	c := healthy(gpus)
	factor := rapid.Float64Range(0.05, 1)
	for i := range c.GPUs {
		if rapid.Bool().Draw(t, "ill") {
			c.GPUs[i] = GPU{Clock: factor.Draw(t, "clock"), Compute: factor.Draw(t, "compute"), Bandwidth: factor.Draw(t, "bandwidth"), Share: factor.Draw(t, "share"), Link: factor.Draw(t, "link")}
		}
	}
	c.CPU = rapid.Float64Range(0.5, 50).Draw(t, "cpu")
	for _, id := range []knob.ID{knob.Graphs, knob.GraphMax, knob.Kernel, knob.AttentionKernel, knob.StepOverhead, knob.Sampling, knob.GrammarMask, knob.Compile, knob.AllReduceLatency} {
		k := &knob.Table[id]
		if !rapid.Bool().Draw(t, k.Name) {
			continue
		}
		value := rapid.Float64Range(k.Min, min(k.Max, max(1, k.Min))).Draw(t, k.Name+" to")
		if k.Integer || k.Kind == knob.Switch {
			value = math.Round(value)
		}
		if err := c.Board.Apply(knob.Change{Knob: id, Target: knob.All, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
