package roofline

import (
	"math"
	"strings"
	"testing"
)

func within(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > part*math.Abs(want) {
		t.Errorf("%s: got %.4g, want %.4g ± %.1f %%", what, got, want, part*100)
	}
}

// TestShapesMeetPublishedParameters derives the parameter counts from the shapes.
func TestShapesMeetPublishedParameters(t *testing.T) {
	for _, m := range Models {
		within(t, m.Name+" total", m.Total(), m.Params, 0.02)
		within(t, m.Name+" active", m.Active(), m.ActiveParams, 0.03)
	}
}

func TestKVBytesPerToken(t *testing.T) {
	for _, c := range []struct {
		model string
		kv    DType
		want  float64
	}{
		{"llama-3-8b", BF16, 131072}, {"llama-3-70b", BF16, 327680}, {"qwen2.5-7b", BF16, 57344},
		{"llama-3-70b", FP8, 163840}, {"deepseek-v3", BF16, 61 * 576 * 2},
	} {
		m, err := LookupModel(c.model)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.KVBytesPerToken(c.kv); got != c.want {
			t.Errorf("%s %s: got %v bytes a token, want %v", c.model, c.kv, got, c.want)
		}
	}
}

// TestBandwidthFollowsFromTheMemoryClock: NVML's memory clock is that of data sent twice a cycle.
func TestBandwidthFollowsFromTheMemoryClock(t *testing.T) {
	for _, g := range GPUs {
		within(t, g.Name, 2*float64(g.MemoryClock)*1e6*float64(g.BusBits)/8, g.Bandwidth, 0.03)
	}
}

// TestGPURows looks for rows that cannot be.
func TestGPURows(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range GPUs {
		if seen[g.Name] || seen[g.NVML] {
			t.Errorf("%s is there twice", g.Name)
		}
		seen[g.Name], seen[g.NVML] = true, true
		ok := g.BF16 > 0 && g.INT8 > g.BF16 && (g.FP8 == 0 || g.FP8 > g.BF16) && (g.FP4 == 0 || g.FP4 > g.FP8) &&
			g.Memory > 16e9 && g.PowerIdle < g.PowerMin && g.PowerMin < g.PowerLimit && g.PowerLimit <= g.PowerMax &&
			g.MaxOperating < g.Slowdown && g.SMs > 0 && g.MaxClock > 1000 && g.PCIeLanes == 16 && g.Source != ""
		if !ok {
			t.Errorf("%s: a row that cannot be: %+v", g.Name, g)
		}
		if (g.FP8 > 0) != (g.Arch != Ampere) || (g.FP4 > 0) != (g.Arch == Blackwell) {
			t.Errorf("%s: %s has fp8 %v, fp4 %v", g.Name, g.Arch, g.FP8, g.FP4)
		}
	}
}

func deployment(t *testing.T, gpu, model string, tp int) *Deployment {
	t.Helper()
	g, err := LookupGPU(gpu)
	if err != nil {
		t.Fatal(err)
	}
	m, err := LookupModel(model)
	if err != nil {
		t.Fatal(err)
	}
	return &Deployment{GPU: g, Model: m, Weights: BF16, KV: BF16, TP: tp, PP: 1}
}

// TestFloors meets a table of floors that was computed apart from this package, with the reference
// efficiencies: TTFT of prompts of 512, 2,048, 8,192 and 32,768 tokens, TPOT of batches of 1, 32
// and 128 with 2,048 tokens of context, all in ms. The last two of a row are rounded to two digits.
func TestFloors(t *testing.T) {
	for _, c := range []struct {
		gpu, model string
		tp         int
		ttft       [4]float64
		tpot       [3]float64
	}{
		{"a10", "qwen2.5-7b", 1, [4]float64{126, 513, 2213, 11438}, [3]float64{36.6, 45.2, 72.1}},
		{"l40s", "llama-3-8b", 1, [4]float64{46, 188, 824, 4463}, [3]float64{27.0, 40.8, 83.4}},
		{"rtx4090", "llama-3-8b", 1, [4]float64{101, 412, 1808, 9791}, [3]float64{23.1, 34.9, 71.5}},
		{"a100-80", "llama-3-8b", 1, [4]float64{53, 218, 956, 5178}, [3]float64{11.4, 17.3, 35.3}},
		{"h100", "llama-3-8b", 1, [4]float64{17, 69, 302, 1633}, [3]float64{7.0, 10.5, 21.5}},
		{"h200", "llama-3-8b", 1, [4]float64{17, 69, 302, 1633}, [3]float64{4.9, 7.3, 15.0}},
		{"b200", "llama-3-8b", 1, [4]float64{7.4, 30, 133, 718}, [3]float64{2.9, 4.4, 9.0}},
		{"a100-80", "llama-3-70b", 4, [4]float64{116, 472, 1995, 9670}, [3]float64{24.8, 28.5, 39.8}},
		{"h100", "llama-3-70b", 4, [4]float64{37, 149, 629, 3051}, [3]float64{15.1, 17.3, 24.2}},
		{"h200", "llama-3-70b", 2, [4]float64{73, 298, 1259, 6101}, [3]float64{21.1, 24.2, 33.8}},
		{"b200", "llama-3-70b", 1, [4]float64{65, 262, 1106, 5364}, [3]float64{25.3, 29.0, 40.6}},
		{"h200", "qwen2.5-0.5b", 1, [4]float64{1.0, 4.5, 22, 159}, [3]float64{0.30, 0.53, 1.3}},
	} {
		d := deployment(t, c.gpu, c.model, c.tp)
		for i, prompt := range []float64{512, 2048, 8192, 32768} {
			within(t, c.gpu+" "+c.model+" TTFT", d.TTFTFloor(prompt, 0, Reference)*1e3, c.ttft[i], 0.05)
		}
		for i, batch := range []float64{1, 32, 128} {
			within(t, c.gpu+" "+c.model+" TPOT", d.TPOTFloor(batch, 2048, Reference)*1e3, c.tpot[i], 0.04)
		}
	}
}

// TestByHand follows one floor with pencil and paper.
func TestByHand(t *testing.T) {
	d := deployment(t, "h200", "llama-3-8b", 1)
	within(t, "weights", d.Model.WeightBytes(BF16), 16.06e9, 0.0005)
	within(t, "weights / (4800 GB/s × 0.7)", d.Model.WeightBytes(BF16)/(4800e9*0.7), 4.78e-3, 0.001)
	within(t, "2 P 2048", 2*d.Model.Active()*2048, 32.9e12, 0.001)
	within(t, "with attention", d.PrefillFLOPs(2048, 0), 32.9e12+1.1e12, 0.002)
	within(t, "TTFT", d.TTFTFloor(2048, 0, Reference), 34.0e12/(989e12*0.5), 0.002)
	if got := d.PrefillFLOPs(4096, 2048) + d.PrefillFLOPs(2048, 0); math.Abs(got/d.PrefillFLOPs(4096, 0)-1) > 1e-12 {
		t.Errorf("a prompt in two parts is %.3g of one that is computed at once", got/d.PrefillFLOPs(4096, 0))
	}
}

func TestExpertsTouched(t *testing.T) {
	m, _ := LookupModel("mixtral-8x7b")
	for _, c := range []struct{ tokens, want float64 }{{0, 0}, {1, 0.25}, {8, 1 - math.Pow(0.75, 8)}, {4096, 1}} {
		within(t, "mixtral", m.ExpertsTouched(c.tokens), c.want, 1e-12)
	}
	d := deployment(t, "h200", "mixtral-8x7b", 2)
	within(t, "read by one token", d.ReadBytes(1), 2*m.Active(), 0.001)
	within(t, "read by many", d.ReadBytes(10000), m.WeightBytes(BF16), 1e-9)
}

// TestMemory holds the KV cache against what vLLM reports at its start for an 8B model in 80 GB
// with 0.9 of the memory, about 440,000 tokens.
func TestMemory(t *testing.T) {
	step := Step{Tokens: 8192, Seqs: 256}
	m, err := deployment(t, "h100", "llama-3-8b", 1).Memory(0.9, step)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "KV tokens", float64(m.KVTokens), 440000, 0.05)
	within(t, "sum", m.Weights+m.Activations+m.Runtime+m.Graphs+m.KV, m.Budget, 1e-9)

	for _, c := range []struct {
		gpu, model string
		tp         int
		want       string
	}{
		{"a100-80", "llama-3-70b", 1, "2 GPUs would do (tp 2, pp 1)"},
		{"l4", "llama-3-8b", 1, ""},
		{"l4", "llama-3.1-405b", 8, "64 GPUs would do (tp 8, pp 8)"},
		{"h100", "deepseek-v3", 8, "32 GPUs would do (tp 8, pp 4)"},
		{"h100", "qwen2.5-7b", 8, "tp 8 does not divide the 28 attention heads"},
	} {
		_, err := deployment(t, c.gpu, c.model, c.tp).Memory(0.9, step)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s on %s: %v", c.model, c.gpu, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s on %s: got %v, want %q", c.model, c.gpu, err, c.want)
		}
	}
}

// TestMLACacheIsOnEachGPU: TP divides KV heads, but not a latent vector.
func TestMLACacheIsOnEachGPU(t *testing.T) {
	mla := deployment(t, "h200", "deepseek-v3", 8)
	if got, want := mla.KVBytesPerGPU(), mla.Model.KVBytesPerToken(BF16); got != want {
		t.Errorf("MLA: got %v bytes on each of 8 GPUs, want %v", got, want)
	}
	gqa := deployment(t, "h200", "llama-3-70b", 8)
	if got, want := gqa.KVBytesPerGPU(), gqa.Model.KVBytesPerToken(BF16)/8; got != want {
		t.Errorf("GQA: got %v, want %v", got, want)
	}
	wide := deployment(t, "h200", "qwen3-30b-a3b", 8)
	if got, want := wide.KVBytesPerGPU(), wide.Model.KVBytesPerToken(BF16)/4; got != want {
		t.Errorf("4 KV heads on 8 GPUs: got %v, want %v", got, want)
	}
}

func TestAllReduce(t *testing.T) {
	one := deployment(t, "h100", "llama-3-8b", 1)
	if got := one.AllReduce(1e6); got != 0 {
		t.Errorf("one GPU: got %v s", got)
	}
	nvlink, pcie := deployment(t, "h100", "llama-3-70b", 4), deployment(t, "l40s", "llama-3-70b", 4)
	if got := nvlink.AllReduce(16384); got < 10e-6 || got > 20e-6 {
		t.Errorf("NVLink: got %v s for 16 KB, want 10–20 µs", got)
	}
	if got := pcie.AllReduce(16384); got < 30e-6 || got > 100e-6 {
		t.Errorf("PCIe: got %v s for 16 KB, want 30–100 µs", got)
	}
	within(t, "64 MB over NVLink", nvlink.AllReduce(64e6), 1.5*64e6/450e9, 0.1)
}

func TestLookup(t *testing.T) {
	for _, name := range []string{"h100", "H100", "NVIDIA H100 80GB HBM3"} {
		if g, err := LookupGPU(name); err != nil || g.Name != "h100" {
			t.Errorf("%q: got %q, %v", name, g.Name, err)
		}
	}
	for _, name := range []string{"llama-3-70b", "meta-llama/Llama-3.3-70B-Instruct", "llama-3.1-70B"} {
		if m, err := LookupModel(name); err != nil || m.Name != "llama-3-70b" {
			t.Errorf("%q: got %q, %v", name, m.Name, err)
		}
	}
	seen := map[string]string{}
	for _, m := range Models {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			if other := seen[strings.ToLower(name)]; other != "" {
				t.Errorf("%q stands for %s and %s", name, other, m.Name)
			}
			seen[strings.ToLower(name)] = m.Name
		}
	}
	if _, err := LookupGPU("h101"); err == nil || !strings.Contains(err.Error(), "h100") {
		t.Errorf("h101: got %v, want the names there are", err)
	}
	if d, err := LookupDType("fp16"); err != nil || d != BF16 {
		t.Errorf("fp16: got %q, %v", d, err)
	}
}
