package cost

import (
	"math"
	"strings"
	"testing"
	"time"

	"llmtop/rules/roofline"
)

func TestSpread(t *testing.T) {
	d, w := h100x4(t), decode(32, 1000)
	step := func(seed uint64, spread float64) time.Duration {
		r, err := NewRoofline(d, Defaults, seed, spread)
		if err != nil {
			t.Fatal(err)
		}
		return r.Step(w, healthy(4)).Step
	}
	if a, b := step(1, 0.1), step(1, 0.1); a != b {
		t.Errorf("one seed: %v and %v", a, b)
	}
	seen, middle := map[time.Duration]bool{}, step(1, 0)
	for seed := range uint64(50) {
		s := step(seed, 0.1)
		seen[s] = true
		if f := float64(s) / float64(middle); f < 0.75 || f > 1.35 {
			t.Errorf("seed %d: %.2f times the middle", seed, f)
		}
	}
	if len(seen) < 50 {
		t.Errorf("50 seeds gave %d different steps", len(seen))
	}
	if step(1, 0) != step(2, 0) {
		t.Error("without spread the seed changes the step")
	}
	if a, b := DefaultFront.Varied(0, 1), DefaultFront; a != b {
		t.Errorf("front half without spread: %+v", a)
	}
	if a, b := DefaultFront.Varied(0.1, 1), DefaultFront.Varied(0.1, 2); a == b || a.Tokenize == DefaultFront.Tokenize {
		t.Error("two seeds give one front half")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		d      roofline.Deployment
		spread float64
		change func(*Settings)
		want   string
	}{
		{name: "too large", d: deployment(t, "a10", "llama-3-70b", roofline.BF16, 1, 1), want: "GPUs would do"},
		{name: "spread", d: h100x4(t), spread: 0.6, want: "spread 0.6"},
		{name: "NaN", d: h100x4(t), spread: math.NaN(), want: "spread NaN"},
		{name: "utilization", d: h100x4(t), change: func(s *Settings) { s.Utilization = 1.5 }, want: "utilization 1.5"},
		{name: "no sequences", d: h100x4(t), change: func(s *Settings) { s.MaxNumSeqs = 0 }, want: "max_num_seqs 0"},
		{name: "tp 3", d: deployment(t, "h100", "llama-3-70b", roofline.BF16, 3, 1), want: "does not divide"},
	} {
		s := Defaults
		if c.change != nil {
			c.change(&s)
		}
		if _, err := NewRoofline(c.d, s, 1, c.spread); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// TestTablesAgree: each GPU has its efficiencies, and none without a GPU.
func TestTablesAgree(t *testing.T) {
	for _, g := range roofline.GPUs {
		if _, ok := efficiencies[g.Name]; !ok {
			t.Errorf("%s has no efficiencies", g.Name)
		}
	}
	for name := range efficiencies {
		if _, err := roofline.LookupGPU(name); err != nil {
			t.Error(err)
		}
	}
	for _, d := range roofline.DTypes() {
		if _, ok := quantised[d]; !ok {
			t.Errorf("%s is not among the quantised", d)
		}
	}
}

// TestFrontMeetsPublicCases: 50,000 tokens are tokenized in 50–200 ms, a short request on an idle
// engine takes 3–8 ms beside its step.
func TestFrontMeetsPublicCases(t *testing.T) {
	f := DefaultFront
	if got := f.Tokenize + 215*f.TokenizeKB; got < 50*time.Millisecond || got > 200*time.Millisecond {
		t.Errorf("50,000 tokens: %v", got)
	}
	if got := f.FirstToken(1200, 280); got < 3*time.Millisecond || got > 8*time.Millisecond {
		t.Errorf("a short request: %v", got)
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	r, w, c := model(t, h100x4(t), nil), decode(64, 1000), healthy(4)
	if n := testing.AllocsPerRun(100, func() { r.Step(w, c) }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

func TestLinear(t *testing.T) {
	l := &Linear{Base: time.Millisecond, Prefill: 100 * time.Microsecond, Decode: 200 * time.Microsecond, Context: 50 * time.Microsecond}
	w := &Work{PrefillTokens: 10, PrefillPairs: 1000, DecodeTokens: 4, Context: 3000}
	got := l.Step(w, &Conditions{CPU: 2})
	if want := 3 * time.Millisecond; got.CPU != want || got.Step != 2*want || got.Gap != got.Step || got.Host.Sum() != got.CPU {
		t.Errorf("got %+v, want %v of CPU time, twice that long", *got, want)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name string
		d    roofline.Deployment
		w    *Work
	}{
		{"dense-tp4", h100x4(b), decode(64, 1000)},
		{"moe-tp8", deployment(b, "h200", "deepseek-v3", roofline.FP8, 8, 1), decode(64, 1000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, on := model(b, c.d, nil), healthy(c.d.GPUCount())
			b.ReportAllocs()
			for b.Loop() {
				r.Step(c.w, on)
			}
		})
	}
}
