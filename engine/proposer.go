package engine

import "fmt"

// Proposer guesses what sequences will say next, so that one step can check
// several tokens of each. A wrong guess costs time, never a wrong token: only what
// the Sampler picks from the model's own logits is passed on. Calls come from one
// goroutine, the engine's loop.
type Proposer interface {
	// Propose returns guesses for the items of the step about to run, at most
	// Item.Drafts for each, and none where it has no idea. It sees every item of
	// every step, so that it can keep up with the prompts. The guesses are valid
	// until the next call. After an error the requests of the step end with it.
	Propose(items []Item) ([][]int, error)
	// Forget drops what is known of a sequence that has ended.
	Forget(q *Sequence)
}

// The kinds of speculative decoding, as Config.Speculative names them.
const (
	SpeculateNgram = "ngram" // what followed when the sequence said the same before
	SpeculateDraft = "draft" // what a smaller model of the same vocabulary says
)

// newProposer is what the configuration asks for; nil: no speculation.
func newProposer(c Config, r Runner) (Proposer, error) {
	switch c.Speculative {
	case SpeculateNgram:
		return &ngramProposer{}, nil
	case SpeculateDraft:
		cpu, ok := r.(*cpuRunner)
		if !ok {
			return nil, fmt.Errorf("speculation with a draft model needs the built-in runner")
		}
		return cpu.draft, nil
	}
	return nil, nil
}
