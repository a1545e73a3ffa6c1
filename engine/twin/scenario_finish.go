package twin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/workload"
	"llmtop/rules/roofline"
)

// defaults are what nobody has to say. Sequences and tokens in a step are those of vLLM's server on
// large GPUs.
func defaults() Scenario {
	return Scenario{
		Weights: roofline.BF16, KV: roofline.BF16, Router: Routers[0], Personality: Personalities[0],
		Limits:    engine.Limits{MaxNumSeqs: 256, MaxBatchedTokens: 8192},
		BlockSize: 16, MaxQueue: 4096, Slots: 4, Utilization: 0.9,
		Seed: 1, Spread: 0.1, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Duration: 10 * time.Minute, Interval: time.Second, Warm: time.Minute,
	}
}

// finish fills in what was not said and holds the whole together.
func (p *parser) finish() error {
	for _, part := range []func() error{p.layout, p.deployment, p.scheduler, p.requests, p.timeline, p.length, p.cache} {
		if err := part(); err != nil {
			return err
		}
		p.line = 0
	}
	p.Workload.Spread, p.Workload.Start = p.Spread, p.began()
	if p.CPUs == 0 {
		p.CPUs = max(8, 14*p.GPUs)
	}
	return nil
}

// layout divides the GPUs.
func (p *parser) layout() error {
	if p.Linear != nil {
		return p.measured()
	}
	switch {
	case p.said["gpu"] == 0:
		return errors.New("on which GPUs? add gpu h100x8 (or linear, for an engine that was measured)")
	case p.said["model"] == 0:
		return errors.New("which model? add model llama-3-8b")
	}
	if p.PP == 0 {
		p.PP = 1
	}
	if least := max(1, p.TP) * p.PP * max(1, p.Replicas); least > p.GPUs {
		p.at("tp", "replicas", "pp", "gpu")
		return fmt.Errorf("tp %d × pp %d × replicas %d take %d GPUs, the host has %d", max(1, p.TP), p.PP, max(1, p.Replicas), least, p.GPUs)
	}
	switch {
	case p.TP == 0 && p.Replicas == 0:
		p.TP, p.Replicas = p.GPUs/p.PP, 1
	case p.TP == 0:
		p.TP = p.GPUs / (p.PP * p.Replicas)
	case p.Replicas == 0:
		p.Replicas = p.GPUs / (p.PP * p.TP)
	}
	if used := p.TP * p.PP * p.Replicas; used != p.GPUs {
		p.at("tp", "replicas", "pp", "gpu")
		return fmt.Errorf("tp %d × pp %d × replicas %d are %d GPUs, the host has %d", p.TP, p.PP, p.Replicas, used, p.GPUs)
	}
	return p.prefills()
}

// measured is an engine without GPUs.
func (p *parser) measured() error {
	for _, s := range []string{"gpu", "model", "tp", "pp"} {
		if p.said[s] > 0 {
			p.at(s)
			return fmt.Errorf("%s and linear exclude each other", s)
		}
	}
	if p.Prefills > 0 {
		p.at("disaggregate")
		return errors.New("disaggregate and linear exclude each other: nothing is known of the way from one engine to another")
	}
	if p.Blocks == 0 {
		p.at("linear")
		return errors.New("linear: how large is its KV cache? add engine vllm blocks=4096")
	}
	p.TP, p.PP, p.Replicas = 1, 1, max(1, p.Replicas)
	return nil
}

func (p *parser) prefills() error {
	if p.Prefills >= p.Replicas && p.Prefills > 0 {
		p.at("disaggregate")
		return fmt.Errorf("disaggregate %d: of %d replicas none would be left to decode", p.Prefills, p.Replicas)
	}
	return nil
}

// deployment asks whether the model fits, and the KV cache beside it.
func (p *parser) deployment() error {
	if p.Linear != nil {
		return nil
	}
	p.at("model")
	d := p.Deployment()
	m, err := d.Memory(p.Utilization, p.Step())
	if err != nil {
		return err
	}
	if p.Blocks*p.BlockSize > m.KVTokens {
		p.at("engine")
		return fmt.Errorf("blocks %d of %d tokens do not fit beside the model: there is room for %d", p.Blocks, p.BlockSize, m.KVTokens/p.BlockSize)
	}
	return nil
}

// Deployment is what each replica is.
func (s *Scenario) Deployment() roofline.Deployment {
	return roofline.Deployment{GPU: s.GPU, Model: s.Model, Weights: s.Weights, KV: s.KV, TP: s.TP, PP: s.PP}
}

// Step is the largest step of a replica.
func (s *Scenario) Step() roofline.Step {
	return roofline.Step{Tokens: s.Limits.MaxBatchedTokens, Seqs: s.Limits.MaxNumSeqs}
}

func (p *parser) scheduler() error {
	p.at("engine")
	if need := p.Limits.MaxNumSeqs * (1 + p.Limits.Drafts); p.Limits.MaxBatchedTokens < need {
		return fmt.Errorf("token_budget %d: %d sequences with %d guesses take %d tokens a step", p.Limits.MaxBatchedTokens, p.Limits.MaxNumSeqs, p.Limits.Drafts, need)
	}
	return nil
}

func (p *parser) requests() error {
	w := &p.Workload
	if w.Rate == 0 && len(w.Streams) == 0 && w.Trace == nil {
		return errors.New("no request ever comes: add workload chat rate=5")
	}
	if w.Context == 0 {
		w.Context = p.Model.Context
	}
	for i, s := range w.Streams {
		p.line = p.loads[i]
		switch {
		case s.Share > 0 && w.Rate == 0:
			return errors.New("workload: a share of what? add rate 12, or write rate=12 in place of share")
		case s.Rate == 0 && w.Rate == 0:
			return fmt.Errorf("workload %s: how often? write rate=5, or add rate 5 for all workloads together", s.Kind)
		}
	}
	p.at("rate", "workload", "trace")
	if w.Rate > 0 && len(w.Streams) > 0 {
		shared := false
		for _, s := range w.Streams {
			shared = shared || s.Rate == 0
		}
		if !shared {
			return errors.New("rate: each workload has a rate of its own: leave one of them out")
		}
	}
	return w.Check()
}

// maxTraceBytes bounds a trace file: five million requests of some hundred bytes.
const maxTraceBytes = 512 << 20

// openTrace reads a trace from a file, and from nothing else: a pipe would never end.
func openTrace(path string) (*workload.Trace, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case info.Size() > maxTraceBytes:
		return nil, fmt.Errorf("%s has %d bytes: a trace has at most %d", path, info.Size(), maxTraceBytes)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return workload.ReadTrace(f, path)
}
