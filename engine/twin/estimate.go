package twin

import (
	"time"

	"llmtop/engine/twin/workload"
	"llmtop/rules/roofline"
)

// Estimate is what a scenario can be expected to do before it is run: arithmetic of the roofline, no
// queue, no host.
type Estimate struct {
	Means    workload.Means
	Memory   roofline.Memory // of each GPU; zero of an engine that was measured
	KVTokens int             // of each replica
	Running  float64         // sequences that fit at once in a replica
	Prefill  float64         // seconds for a prompt whose shared part is in the cache
	TPOT     float64         // seconds a token when so many run
	Capacity float64         // requests per second of all replicas
}

// estimated is how many requests are looked at.
const estimated = 5000

// Estimate works it out. Where sequences run, prompts and answers share the GPUs; in a
// disaggregated deployment the scarcer of the two kinds of replicas is the bound.
func (s *Scenario) Estimate() (Estimate, error) {
	var e Estimate
	var err error
	if e.Means, err = workload.Measure(s.Workload, s.Seed, estimated); err != nil {
		return e, err
	}
	e.KVTokens = s.Blocks * s.BlockSize
	d := s.Deployment()
	if s.Linear == nil {
		e.Memory, err = d.Memory(s.Utilization, s.Step())
		if err != nil && s.Blocks == 0 {
			return e, err
		}
		if s.Blocks == 0 {
			e.KVTokens = e.Memory.KVTokens
		}
	}
	context := e.Means.Prompt + e.Means.Output/2
	e.Running = max(1, min(float64(s.Limits.MaxNumSeqs), float64(e.KVTokens)/context))
	if s.Linear != nil {
		e.Prefill = s.linear(0, context) + (e.Means.Prompt-e.Means.Shared)*s.Linear.Prefill.Seconds()
		e.TPOT = s.linear(e.Running, context)
	} else {
		e.Prefill = d.TTFTFloor(e.Means.Prompt, e.Means.Shared, roofline.Reference)
		e.TPOT = d.TPOTFloor(e.Running, context, roofline.Reference)
	}
	decode := e.Means.Output * e.TPOT / e.Running
	if p := float64(s.Prefills); p > 0 {
		e.Capacity = min(p/e.Prefill, (float64(s.Replicas)-p)/decode)
	} else {
		e.Capacity = float64(s.Replicas) / (e.Prefill + decode)
	}
	return e, nil
}

// linear is the time of a decode step of an engine that was measured.
func (s *Scenario) linear(batch, context float64) float64 {
	l := s.Linear
	perSequence := l.Decode.Seconds() + l.Context.Seconds()*context/1000
	return l.Base.Seconds() + batch*perSequence
}

// Steps is how many samples the run has.
func (s *Scenario) Steps() int { return int(s.Duration / max(s.Interval, time.Millisecond)) }
