package cost

import (
	"fmt"

	"llmtop/rules/roofline"
)

// Settings are those of the engine that change what a step costs.
type Settings struct {
	Utilization float64 // share of the GPU's memory that it takes (gpu_memory_utilization)
	MaxNumSeqs  int
	TokenBudget int
	Async       bool // the host prepares the next step while the GPU computes this one
	Eager       bool // no captured CUDA graphs at all
	GraphMax    int  // tokens of the largest step of decodes that has a captured graph
	LoRARank    int
	Drafter     float64 // weights that are read for each guess of a draft model; 0: guesses cost no kernels (n-gram)
}

// Defaults are those of vLLM.
var Defaults = Settings{Utilization: 0.9, MaxNumSeqs: 256, TokenBudget: 8192, GraphMax: 512, LoRARank: 16}

// Validate says what of them makes no sense.
func (s *Settings) Validate() error {
	switch {
	case !(s.Utilization > 0 && s.Utilization <= 1):
		return fmt.Errorf("memory utilization %v: it is between 0 and 1", s.Utilization)
	case s.MaxNumSeqs < 1 || s.TokenBudget < 1:
		return fmt.Errorf("max_num_seqs %d and token_budget %d: each is at least 1", s.MaxNumSeqs, s.TokenBudget)
	case s.GraphMax < 0 || s.LoRARank < 0 || !(s.Drafter >= 0):
		return fmt.Errorf("graph_max %d, LoRA rank %d, drafter %v: none is negative", s.GraphMax, s.LoRARank, s.Drafter)
	}
	return nil
}

func (s *Settings) step() roofline.Step {
	return roofline.Step{Tokens: s.TokenBudget, Seqs: s.MaxNumSeqs}
}
