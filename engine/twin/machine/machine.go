// Package machine simulates the host under an engine: cores, cgroup, memory, disks, network, the
// engine's processes and threads, and what a CPU profile of it would say. What it shows is
// probes.Host, Process, Neighbours, Sockets and Profile.
//
// It is a fluid model. In flows what each replica did on the CPU (Load), out flows how many times
// as long the next steps take as on free cores (Host.Slowdown): whoever turns a knob sees its
// effect in the following span. Threads that are ready to run share the cores alike, a quota is
// divided among them, others take their part, and every reading is of the same sums.
package machine

import "time"

// Part is something on the CPU that takes time.
type Part int

// The parts. API ones run in the API server process, Core in the engine's.
const (
	Receive Part = iota // HTTP, JSON
	Tokenize
	Assemble
	Images
	GrammarCompile
	GrammarMask
	Schedule
	Launch // kernels, one thread a GPU
	Sampling
	Detokenize
	Send
	Logging
	Compile // kernels of a new shape
	GC
	NumParts
)

// Load is what one replica did on the CPU since the last Advance.
type Load struct {
	// CPU is the CPU time of each part, contention left out. What all ranks of the engine do at
	// the same time (Launch always) is told once.
	CPU         [NumParts]time.Duration
	Blocked     time.Duration // event loop blocked on writes to a log or disk
	Locked      time.Duration // waited for a lock
	Stepping    time.Duration // a step was under way: threads that wait for a GPU keep their cores busy meanwhile
	Requests    int           // begun
	Steps       int
	BytesIn     float64 // from clients
	BytesOut    float64 // for clients, whether the network has room for it or not
	TransferIn  float64 // from other instances, over InfiniBand
	TransferOut float64
	Connections int // open now
	Slow        int // of them with a client that reads slowly
	SendQueue   float64
	Up          bool    // it serves
	Loading     bool    // its process runs: it will serve
	Read        float64 // bytes of weights that it has asked for meanwhile, all ranks
	Restarted   bool    // the process that there was has ended
}
