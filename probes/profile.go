package probes

import "time"

// Profile is a CPU profile as the engine gave it: pprof protobuf, gzipped,
// verbatim. Its meaning (package frames) is computed when it is read.
type Profile struct {
	At       time.Time `json:"at"` // when it was complete
	Endpoint string    `json:"endpoint"`
	Seconds  float64   `json:"seconds"` // how long it sampled
	Raw      []byte    `json:"raw"`
}

// ProfileFacts is what a profile says about stages: shares of on-CPU samples by
// what the leaf-most known frame, or the label of the goroutine, is for. Shares sum to 1 with "other".
type ProfileFacts struct {
	At      time.Time
	Seconds float64
	Samples int
	Share   map[string]float64 // stage name, or gc, json, logging, lock, runtime, other
	Top     []FrameShare       // the heaviest functions, at most 10
}

// FrameShare is one function's part of the samples.
type FrameShare struct {
	Function string
	Flat     float64 // ratio of samples with it at the leaf
	Stage    string
}
