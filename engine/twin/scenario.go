package twin

import (
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
	"llmtop/rules/roofline"
)

// Scenario is everything that a run follows from.
type Scenario struct {
	Name string

	GPU         roofline.GPU
	GPUs        int // on the host
	Model       roofline.Model
	Weights, KV roofline.DType
	TP, PP      int
	Front       *Front       // in place of the usual one
	Linear      *cost.Linear // in place of GPU and model: an engine that was measured

	Replicas int    // alike, each of TP × PP GPUs
	Prefills int    // of them only for prompts; the rest only decode. 0: each does both
	Router   string // round-robin, least-loaded, prefix

	Personality string
	Limits      engine.Limits
	BlockSize   int
	Blocks      int // of the KV cache of each replica; 0: what the memory budget leaves
	MaxQueue    int // of each class; more is refused. engine.Unlimited: any number
	NoPrefix    bool
	Slots       int // LoRA adapters on the GPU at once
	Utilization float64
	CPUs        int // cores of the host

	Workload workload.Config
	Source   workload.Source // in place of Workload
	Timeline []Event
	turns    []turned // the statements that it was made of

	Seed     uint64
	Spread   float64       // parameters vary by this part, 0–0.5
	Start    time.Time     // of what is seen
	Warm     time.Duration // for how long the engines have served by then
	Duration time.Duration
	Interval time.Duration
	Canary   time.Duration // how often llmtop sends a request of its own to each engine, as clients do; 0: it does not
	Without  []string      // sections that nobody sees: gpu, host, stages, profile
}

// Event is a change of a knob at a time.
type Event struct {
	At     time.Duration
	Change knob.Change
	Line   int // of the scenario file
}
