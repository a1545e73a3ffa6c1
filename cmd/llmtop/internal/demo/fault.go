package demo

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// shape is one stream of requests. Rate is a multiple of the engine's measured
// capacity for the healthy shape, so that a demo is the same story on any machine.
type shape struct {
	rate   float64
	prompt int // tokens, about; 0 = as the questions come
	output int // tokens, at most; 0 = until the answer ends
}

// Fault is something that can happen to the demo's engine. All of it is done from
// outside (load, neighbours, configuration) or by a wrapper at one of the engine's
// seams; the engine itself has no fault code.
type Fault struct {
	ID    string // the cause the screen should name
	Story string // what is done, for people

	engine    []string // flags of serve, from the start
	healthy   shape
	during    []shape       // added while the fault is on
	replace   bool          // during replaces the healthy load
	burners   int           // busy loops per core
	tokenizer time.Duration // how long each text is tokenized over and over
	turns     []turn        // of a twin's knobs
}

// None is the healthy demo.
const None = "none"

// Random lets the demo draw the fault.
const Random = "random"

var everyday = shape{rate: 0.3}

// faults are those that a laptop can have for real; the causes that need a GPU
// cannot be shown here.
var faults = []Fault{
	{ID: None, Story: "nothing happens", healthy: everyday},
	{ID: "queue-backlog", Story: "twice the traffic that the engine can serve",
		healthy: everyday, during: []shape{{rate: 2.2}}},
	{ID: "mix-shift", Story: "the same requests per second, with prompts ten times as long",
		healthy: shape{rate: 0.12}, during: []shape{{rate: 0.12, prompt: 450}}, replace: true},
	{ID: "prefill-interference", Story: "a few very long prompts among short ones, prefilled in one piece",
		engine: []string{"--max-num-batched-tokens", "2048"}, healthy: everyday, during: []shape{{rate: 0.02, prompt: 1500, output: 8}}},
	{ID: "kv-preemption-storm", Story: "long answers in a KV cache that is too small for them",
		engine: []string{"--num-blocks", "96", "--kv-headroom", "0"}, healthy: everyday, during: []shape{{rate: 0.35, prompt: 120, output: 400}}},
	{ID: "cpu-noisy-neighbour", Story: "other processes take the cores",
		healthy: everyday, burners: 4},
	{ID: "tokenize-bound", Story: "a tokenizer that works each text over and over for 0.3 s",
		healthy: everyday, tokenizer: 300 * time.Millisecond},
}

// Lookup returns the fault with this id.
func Lookup(id string) (Fault, error) {
	for _, f := range faults {
		if f.ID == id {
			return f, nil
		}
	}
	return Fault{}, fmt.Errorf("no fault %q in the demo; there are %s", id, strings.Join(IDs(), ", "))
}

// IDs are the ids of all faults, sorted.
func IDs() []string { return ids(faults) }

func ids(faults []Fault) []string {
	ids := make([]string, 0, len(faults))
	for _, f := range faults {
		ids = append(ids, f.ID)
	}
	sort.Strings(ids)
	return ids
}
