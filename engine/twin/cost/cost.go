// Package cost says what a step of an engine takes: time, arithmetic, bytes. Model is the seam:
// Roofline computes it from hardware and model tables, Linear from four numbers that were fitted
// to a real engine. Times are virtual; nothing here reads a clock.
package cost

import (
	"time"

	"llmtop/engine/twin/knob"
)

// Work is what one step computes, all sequences together.
type Work struct {
	Prefills       int     // sequences whose prompt goes on
	PrefillTokens  int     // tokens of them
	PrefillPairs   float64 // for each of these tokens the tokens that it attends to, summed
	PrefillContext int     // tokens already in the cache that the prefills read

	Decodes      int // sequences that get their next token
	DecodeTokens int // tokens computed for them: one each, and the guesses
	Context      int // tokens in the cache that the decodes read, summed

	Sampled     int  // sequences whose next token is picked
	Guided      int  // of them with a grammar
	Adapters    int  // different LoRA adapters in the step
	AdapterSeqs int  // sequences that use one
	NewShape    bool // its kernels are not compiled yet
}

// GPU is the state of one GPU during a step.
type GPU struct {
	Clock     float64 // SM clock over its maximum
	Compute   float64 // speed of arithmetic beside that; 1: as it should be
	Bandwidth float64 // of its memory, over what it should be
	Share     float64 // of the time that it is this engine's
	Link      float64 // bandwidth to the other GPUs, over what it should be
}

// Conditions are what a step is computed under.
type Conditions struct {
	Board   *knob.Board
	Replica int
	GPUs    []GPU   // those of the replica
	CPU     float64 // how many times as long host work takes as on free cores
}

// Cost is what a step takes. Kernel + Gap = Step. Seconds of GPU i in kernels are Kernel, of
// them Idle[i] it only waits for the slowest.
type Cost struct {
	Step    time.Duration
	Kernel  time.Duration // the GPUs run kernels
	Gap     time.Duration // they wait for the CPU
	Link    time.Duration // of Kernel: moving data between GPUs
	Compile time.Duration // of Gap: compiling kernels
	CPU     time.Duration // CPU time of the engine's loop, contention left out: the four parts and Compile
	Host    Host
	Idle    []time.Duration

	FLOPs     float64 // of each GPU
	Bytes     float64 // each GPU's memory has read or written
	LinkBytes float64 // each GPU has sent to the others
	PCIeBytes float64 // each GPU has got from the host or sent to it
	Tensor    float64 // share of Kernel in which tensor cores worked, 0–1
}

// Host is the CPU time of a step by what it is spent on, contention left out.
type Host struct {
	Schedule time.Duration // choose sequences, prepare inputs, handle what was computed
	Launch   time.Duration // hand kernels to the GPU
	Sample   time.Duration // pick tokens as far as that is not done on the GPU
	Mask     time.Duration // of the grammars
}

// Sum is all of it.
func (h *Host) Sum() time.Duration { return h.Schedule + h.Launch + h.Sample + h.Mask }

// Model says what a step costs. It is not safe for concurrent use; what Step returns is valid
// until the next call.
type Model interface {
	Step(w *Work, c *Conditions) *Cost
}
