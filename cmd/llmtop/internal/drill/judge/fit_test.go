package judge

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

var fit = flag.Bool("fit", false, "fit tree.json on scenarios of this test, until the train suite does it better")

// deployments and what may befall them: %s is the model's own, W a power limit that hurts it.
var deployments = []struct{ name, text, watts string }{
	{"chat", "gpu h100x4\nmodel llama-3-70b fp8\nreplicas 2\nengine vllm max_num_seqs=256\nworkload chat rate=8\n", "250W"},
	{"rag", "gpu l40sx2\nmodel llama-3-8b\nreplicas 2\nengine sglang max_num_seqs=128\nworkload rag rate=3\n", "120W"},
	{"summarise", "gpu h100x4\nmodel llama-3-70b\ntp 4\nengine trtllm\nworkload summarise rate=1\n", "250W"},
}

var befalls = []struct{ class, turns string }{
	{HealthyClass, ""},
	{"power-cap", "power_cap W"},
	{"thermal-throttle", "inlet 70C; cooling ×0.3"},
	{"gpu-shared", "other_kernels 0.6"},
	{"kernel-fallback", "kernel ×0.3"},
	{"cuda-graph-miss", "graphs off"},
	{"interconnect-slow", "nvlink ×0.02"},
	{"kv-preemption-storm", "kv_pool ×0.05"},
	{"traffic-burst", "rate ×4"},
	{"mix-shift", "prompt_tokens ×5"},
	{"tokenize-bound", "tokenizer ×80; tokenizer_threads 1"},
	{"cpu-noisy-neighbour", "cpu_neighbour 100cores"},
	{"cpu-quota-throttled", "cpu_quota 2cores"},
	{"lock-contention", "lock 0.9"},
	{"gc-pause", "gc 0.5"},
	{"slow-reader", "slow_readers 0.5"},
	{"disk-stall", "disk 300ms"},
	{"host-memory-pressure", "memory_pressure 0.5"},
	{"proxy-buffering", "proxy_buffer on"},
}

// befallenSeconds is how long a run lasts.
func befallenSeconds() int { return 120 + 30*btoi(*fit) }

// befallen is the text of a scenario.
func befallen(deployment int, turns string, seed int) string {
	d := deployments[deployment]
	text := d.text + fmt.Sprintf("canary 10s\nseed %d\nduration %ds\n", seed, befallenSeconds())
	for turn := range strings.SplitSeq(turns, "; ") {
		if turn != "" {
			text += "at 80s " + strings.Replace(turn, "W", d.watts, 1) + "\n"
		}
	}
	return text
}

// labelled are the features of a run in which something befalls at 80 s.
func labelled(t testing.TB, path, class string) (out []Labelled) {
	t.Helper()
	j, err := Recording(t.Context(), path, Options{FeaturesEvery: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var began time.Time
	for _, f := range j.Features {
		if began.IsZero() {
			began = f.At.Add(-vectorWarm)
		}
		switch since := f.At.Sub(began); {
		case since < 80*time.Second:
			out = append(out, Labelled{f.Values, HealthyClass})
		case since >= 95*time.Second:
			out = append(out, Labelled{f.Values, class})
		}
	}
	return out
}

// TestFit fits a tree to some runs and asks it about one of another seed.
func TestFit(t *testing.T) {
	simulates(t)
	var samples []Labelled
	use := []int{1, 7}
	seeds := 2
	if *fit {
		use = nil
		for i := range befalls {
			use = append(use, i)
		}
	}
	for d := range deployments[:2+btoi(*fit)] {
		for _, i := range use {
			for seed := 1; seed <= seeds; seed++ {
				samples = append(samples, labelled(t, recorded(t, befallen(d, befalls[i].turns, seed)), befalls[i].class)...)
			}
		}
	}
	m := Fit(samples)
	if !reflect.DeepEqual(m, Fit(samples)) {
		t.Error("the same samples give another tree")
	}
	if *fit {
		write(t, m)
		return
	}
	path := recorded(t, befallen(0, "power_cap W", 77))
	j, err := Recording(t.Context(), path, Options{Tree: m})
	if err != nil {
		t.Fatal(err)
	}
	said := j.Verdicts[drill.Tree]
	if last := said[len(said)-1]; len(last.Causes) == 0 || last.Causes[0] != "power-cap" {
		t.Errorf("the tree says %+v of a power cap", last)
	}
	well, before := 0.0, said[0].At.Add(79*time.Second)
	for i, v := range said {
		until := before
		if i+1 < len(said) && said[i+1].At.Before(before) {
			until = said[i+1].At
		}
		if v.State == "healthy" && v.At.Before(until) {
			well += until.Sub(v.At).Seconds()
		}
	}
	if well < 65 {
		t.Errorf("of 79 s before anything befell %.0f are called healthy: %+v", well, said)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func write(t *testing.T, m *TreeModel) {
	f, err := os.Create("tree.json")
	if err == nil {
		err = m.Write(f)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFitPlain fits to samples whose parts are known.
func TestFitPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var samples []Labelled
	for range 300 {
		x, y := r.Float64(), r.Float64()
		s := Labelled{Values: map[string]float64{"queue.depth": x, "ttft.p95": y}, Class: HealthyClass}
		switch {
		case x > 0.7:
			s.Class = "queue-backlog"
		case y < 0.2:
			delete(s.Values, "ttft.p95") // that it is missing is all there is to tell it
			s.Class = "engine-hang"
		}
		samples = append(samples, s)
	}
	m := Fit(samples)
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	read, err := ReadTree(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		got := read.Decide(func(name string) float64 {
			if x, ok := s.Values[name]; ok {
				return x
			}
			return math.NaN()
		})
		if got[0] != s.Class {
			t.Fatalf("%v is said to be %v, and is %s", s.Values, got, s.Class)
		}
	}
}

func TestFitBounds(t *testing.T) {
	if m := Fit(nil); len(m.Nodes) != 1 || m.Nodes[0].Classes[0] != HealthyClass {
		t.Errorf("of no samples: %+v", m)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var samples []Labelled
	for range 4000 { // nothing to be learned: the tree grows as deep as it may
		samples = append(samples, Labelled{map[string]float64{"queue.depth": r.Float64()}, []string{"a", "b"}[r.IntN(2)]})
	}
	m := Fit(samples)
	reach := make([]int, len(m.Nodes))
	in := make([]int, len(m.Nodes))
	for _, s := range samples {
		i := 0
		for m.Nodes[i].Feature != "" {
			n := m.Nodes[i]
			next := n.Right
			if s.Values["queue.depth"] <= *n.Below {
				next = n.Left
			}
			reach[next] = reach[i] + 1
			i = next
		}
		in[i]++
	}
	for i, n := range m.Nodes {
		if n.Feature == "" && (reach[i] > treeDepth || in[i] < leafLeast) {
			t.Errorf("leaf %d is %d deep and holds %d", i, reach[i], in[i])
		}
	}
}

func TestReadTree(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":   `{`,
		"empty":     `{"nodes": []}`,
		"no answer": `{"nodes": [{}]}`,
		"a loop":    `{"nodes": [{"feature": "queue.depth", "below": 1, "left": 0, "right": 0}]}`,
		"out":       `{"nodes": [{"feature": "queue.depth", "below": 1, "left": 1, "right": 7}, {"classes": ["a"]}]}`,
		"unknown":   `{"nodes": [{"feature": "no.such", "left": 1, "right": 1}, {"classes": ["a"]}]}`,
	} {
		if _, err := ReadTree([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if m, err := fitted(); err != nil || len(m.Nodes) < 10 {
		t.Errorf("the tree that comes along: %v, %+v", err, m)
	}
}
