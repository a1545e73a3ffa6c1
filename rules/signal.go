package rules

import "llmtop/probes"

// Signals holds the value of every signal of the table at one tick, in the
// table's order.
type Signals []probes.Opt[float64]
