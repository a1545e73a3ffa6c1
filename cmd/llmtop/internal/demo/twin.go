package demo

import (
	"fmt"
	"strings"

	"llmtop/rules/roofline"
)

// Twin is a simulated engine in place of the one on this machine's cores.
type Twin struct {
	Serve      []string // the flags of serve that say what is simulated
	Deployment roofline.Deployment
	Sequences  int // in a step at most
}

// The everyday requests of a twin, in its tokens: chats.
const (
	twinPrompt = 800
	twinAnswer = 250 // mean of those that end by themselves
	// ownTokens is how many tokens of the built-in model's vocabulary, by which the load makes
	// its prompts, are as long as one of a twin's.
	ownTokens = 4 / 2.73
	mostRate  = 40 // requests per second that a small machine sends and answers beside the screen
)

// capacity is how many everyday requests a second the deployment serves when its batch is
// full: each takes its prefill and its part of the decode steps.
func (t *Twin) capacity() float64 {
	d, batch := &t.Deployment, float64(t.Sequences)
	prefill := d.TTFTFloor(twinPrompt, 0, roofline.Reference)
	decode := twinAnswer * d.TPOTFloor(batch, twinPrompt+twinAnswer/2, roofline.Reference) / batch
	return min(1/(prefill+decode), mostRate)
}

// turn is a change of a knob; of says how much where that depends on the GPU.
type turn struct {
	text string // as scenarios have it
	of   func(g roofline.GPU) float64
}

func (t turn) on(g roofline.GPU) string {
	if t.of == nil {
		return t.text
	}
	return fmt.Sprintf(t.text, t.of(g))
}

// twinShape is a stream of requests to a twin.
func twinShape(rate float64, prompt, output int) shape {
	return shape{rate: rate, prompt: int(float64(prompt) * ownTokens), output: output}
}

// everydayTwin is half of what a deployment can.
var everydayTwin = twinShape(0.5, twinPrompt, 0)

// twinFaults are those that can happen to a simulated engine. A fault turns what is its cause;
// what is to be seen of it follows.
var twinFaults = []Fault{
	{ID: None, Story: "nothing happens"},
	{ID: "queue-backlog", Story: "more traffic than the engine can serve", during: []shape{twinShape(1.2, twinPrompt, 0)}},
	{ID: "mix-shift", Story: "prompts six times as long", during: []shape{twinShape(0.4, 6*twinPrompt, 0)}, replace: true},
	{ID: "prefill-interference", Story: "prompts eight times as long among the others, prefilled in one piece", turns: []turn{{text: "token_budget 65536"}}, during: []shape{twinShape(0.06, 8*twinPrompt, 8)}},
	{ID: "kv-preemption-storm", Story: "a KV cache too small for what runs", turns: []turn{{text: "kv_headroom 0"}, {text: "kv_pool ×0.015"}, {text: "output_tokens ×3"}}},
	{ID: "tokenize-bound", Story: "a tokenizer sixty times as slow", turns: []turn{{text: "tokenizer ×60"}}},
	{ID: "cpu-noisy-neighbour", Story: "other processes want many times the cores there are", turns: []turn{{text: "cpu_neighbour 1000cores"}}},
	{ID: "cpu-quota-throttled", Story: "the engine's cgroup gets a third of a core", turns: []turn{{text: "cpu_quota 0.3cores"}}},
	{ID: "host-memory-pressure", Story: "tasks wait for memory nearly all of the time", turns: []turn{{text: "memory_pressure 0.93"}}},
	{ID: "power-cap", Story: "a power limit of less than half", turns: []turn{{"power_cap %.0fW", func(g roofline.GPU) float64 { return max(g.PowerMin, 0.35*g.PowerLimit) }}}},
	{ID: "thermal-throttle", Story: "the fans of the GPUs fail", turns: []turn{{text: "cooling ×0.25"}}},
	{ID: "power-brake", Story: "the power supply pulls the brake", turns: []turn{{text: "power_brake on"}}},
	{ID: "gpu-hardware-fault", Story: "a GPU falls off the bus", turns: []turn{{text: "gpu0 xid 79"}, {text: "hang on"}}},
	{ID: "gpu-shared", Story: "another process takes 60 % of the GPUs' time", turns: []turn{{text: "other_kernels 0.6"}, {text: "other_memory 3GiB"}}},
}

// LookupTwin returns the fault of a twin with this id.
func LookupTwin(id string) (Fault, error) {
	for _, f := range twinFaults {
		if f.ID == id {
			f.healthy = everydayTwin
			return f, nil
		}
	}
	return Fault{}, fmt.Errorf("no fault %q in the demo of a simulated engine; there are %s", id, strings.Join(TwinIDs(), ", "))
}

// TwinIDs are the ids of all faults of a twin, sorted.
func TwinIDs() []string { return ids(twinFaults) }
