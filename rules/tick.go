package rules

import "llmtop/probes"

// Tick is one observed sample with everything computed from it. It is immutable:
// screens, reports and recordings may hold it while later samples come in.
type Tick struct {
	Point     *probes.Point
	Signals   Signals // every signal of the table at this tick
	Diagnosis Diagnosis
}
