package frames

import "github.com/google/pprof/profile"

// stageLabels is what the stages are for that an engine names on its goroutines
// (the label "stage" of a sample, as this project's engine sets it).
var stageLabels = map[string]string{
	"parse":      JSON,
	"tokenize":   Tokenize,
	"assemble":   Tokenize, // chat template around the tokens
	"schedule":   Scheduler,
	"prefill":    Model,
	"decode":     Model,
	"mixed":      Model, // a step with both
	"detokenize": Detokenize,
	"send":       Send,
	"log":        Logging,
}

// mechanisms are purposes of a kind that every stage may have. A label says more
// than a frame about whose work was done, but not how: a sample that collects
// garbage or waits for a lock while it tokenizes is still to be found under that.
var mechanisms = map[string]bool{GC: true, Lock: true, Runtime: true, Wait: true, JSON: true, Logging: true, Grammar: true}

// labelled is what a sample was for by its label, "" when it has none that is known.
func labelled(s *profile.Sample) string {
	for _, stage := range s.Label["stage"] {
		if what := stageLabels[stage]; what != "" {
			return what
		}
	}
	return ""
}

// purpose joins what the frames of a sample say with its label.
func purpose(byFrames, byLabel string) string {
	if byLabel == "" || mechanisms[byFrames] {
		return byFrames
	}
	return byLabel
}
