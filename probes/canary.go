package probes

import "time"

// Canary is a section: how a tiny request of llmtop's own fared, seen from the client.
// Held against the engine's own times it tells what lies between the two: network,
// proxies that buffer, the front end.
type Canary struct {
	At          time.Time    `json:"at"` // when the answer ended
	Endpoint    string       `json:"endpoint"`
	Status      int          `json:"status,omitempty"` // HTTP; 0 without an answer
	Err         string       `json:"err,omitempty"`    // why there are no times
	Sent        Opt[float64] `json:"sent,omitzero"`    // canaries so far, counter
	Failed      Opt[float64] `json:"failed,omitzero"`  // of them, counter
	Tokens      Opt[float64] `json:"tokens,omitzero"`  // of the answer
	Chunks      Opt[float64] `json:"chunks,omitzero"`  // reads with a token in them: 1 for many tokens means that something buffers
	DialSeconds Opt[float64] `json:"dial_seconds,omitzero"`
	TTFTSeconds Opt[float64] `json:"ttft_seconds,omitzero"` // request sent until the first token arrived
	ITLSeconds  Opt[float64] `json:"itl_seconds,omitzero"`  // mean time between tokens
	MaxITL      Opt[float64] `json:"max_itl_seconds,omitzero"`
	E2ESeconds  Opt[float64] `json:"e2e_seconds,omitzero"` // request sent until the answer ended
}

func (c *Canary) AddTo(to *Sample) { to.Canaries = append(to.Canaries, c) }
