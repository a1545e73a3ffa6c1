package rules

import "llmtop/probes"

// Tick is one observed sample with everything computed from it. It is immutable:
// screens, reports and recordings may hold it while later samples come in.
type Tick struct {
	Point     *probes.Point
	Signals   Signals    // every signal of the table at this tick
	Buckets   []Bucket   // of each signal that a histogram tells, in the table's order
	Instances []Instance // the engines, told apart; shared, not to be changed
	Baseline  Signals    // what each signal is held against, in the table's order; empty where there is none
	Diagnosis Diagnosis
}
