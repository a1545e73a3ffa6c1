package probes

import "time"

// EngineLog is a section: how often known lines stood in an engine's log since the
// watching began. Numbers are taken out of the lines, their text never is.
type EngineLog struct {
	At      time.Time    `json:"at"`
	Source  string       `json:"source"` // file:PATH, journal:UNIT, docker:ID
	Dialect string       `json:"dialect,omitempty"`
	Lines   Opt[float64] `json:"lines,omitzero"`   // lines read, counter
	Skipped Opt[float64] `json:"skipped,omitzero"` // bytes that were left out to keep up, counter
	Counts  []LogCount   `json:"counts,omitempty"` // by kind
}

// LogKinds are the kinds of lines that are known.
var LogKinds = []string{
	"preemption", "retraction", "kv-pool-full", "oom", "graph-capture", "jit-compile", "xid", "nccl",
	"grammar", "lora", "weights-loaded", "ready", "engine-died", "request-failed", "throughput", "slow-step",
	"overloaded", "context-shift", "reprocess", "stalled", "cuda-error",
}

// LogNumberNames are the names of the numbers taken out of them.
var LogNumberNames = []string{
	"preemptions_total", "retracted_requests", "running", "waiting", "kv_usage_ratio", "generation_tokens_per_second",
	"prompt_tokens_per_second", "bytes", "free_bytes", "seconds", "tokens", "xid", "rank", "count", "shapes",
}

// LogCount is one kind of line.
type LogCount struct {
	Kind    string      `json:"kind"`  // preemption, kv-pool-full, oom, graph-capture …
	Total   float64     `json:"total"` // lines of the kind, counter
	LastAt  time.Time   `json:"last_at,omitzero"`
	Numbers []LogNumber `json:"numbers,omitempty"` // of the last line
}

// LogNumber is a number that a line tells, with its unit in the name.
type LogNumber struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

func (l *EngineLog) AddTo(to *Sample) { to.Logs = append(to.Logs, l) }
