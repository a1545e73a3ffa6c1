// Package machine simulates the host under an engine: cores, cgroup, memory, disks, network, the
// engine's processes and threads, and what a CPU profile of it would say. What it shows is
// probes.Host, Process, Neighbours, Sockets and Profile.
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
	CPU         [NumParts]time.Duration // CPU time, contention left out
	Blocked     time.Duration           // event loop blocked on writes to a log or disk
	Locked      time.Duration           // waited for a lock
	Requests    int                     // begun
	Steps       int
	BytesIn     float64
	BytesOut    float64
	Connections int // open now
	Slow        int // of them with a client that reads slowly
	SendQueue   float64
	Up          bool // the process runs
	Restarted   bool
}
