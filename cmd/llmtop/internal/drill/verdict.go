package drill

import "time"

// Verdict is what was said at a sample, and until the next.
type Verdict struct {
	At     time.Time `json:"at"`
	State  string    `json:"state"`            // as rules.State
	Causes []string  `json:"causes,omitempty"` // ranked, at most three
	Limits []string  `json:"limits,omitempty"` // of them those that are limits
	Says   []string  `json:"says,omitempty"`   // ids of notes and risks
	Stage  string    `json:"stage,omitempty"`  // that holds most of the added latency
	Lacks  []string  `json:"lacks,omitempty"`  // sources it says it cannot see and how to enable: gpu, host, stages, profile
}

// Judged is what was made of a recording by somebody who has seen nothing else.
type Judged struct {
	// Verdicts by whom: Product, and the baselines. Verdicts that did not change are left out.
	Verdicts map[string][]Verdict `json:"verdicts"`
	Ticks    int                  `json:"ticks"`
	Shown    int                  `json:"shown"`  // numbers in evidence, symptoms and attribution that were looked at
	Untrue   []string             `json:"untrue"` // of them those that the raw samples do not bear out
	Features []Feature            `json:"features,omitempty"`
}

// Feature is a vector of signals at a time, against those of the recording's beginning.
type Feature struct {
	At     time.Time          `json:"at"`
	Values map[string]float64 `json:"values"`
}

// Who judged.
const (
	Product    = "llmtop"
	Thresholds = "thresholds"    // alerts in the wild, each on one number
	Sigmas     = "n-sigma"       // the signal that left its own past furthest
	Tree       = "decision tree" // fitted on the train suite
)

// Judges are all, the product first.
var Judges = []string{Product, Thresholds, Sigmas, Tree}
