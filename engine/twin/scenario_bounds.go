package twin

import (
	"fmt"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

// Bounds of a run.
const (
	minDuration = time.Second
	maxDuration = 31 * 24 * time.Hour
	maxSamples  = 3_000_000
	maxRequests = 1_000_000_000
	maxBlocks   = 32_000_000 // of all replicas: about a gigabyte of tables
)

// Lasting is the scenario over another time: what comes again and again comes until then.
func (s Scenario) Lasting(d time.Duration) (Scenario, error) {
	if d < minDuration || d > maxDuration {
		return s, fmt.Errorf("must be a time from %s to %s, not %s", minDuration, maxDuration, d)
	}
	p := &parser{Scenario: s}
	p.Duration = max(d, s.Duration) // a shorter run does not come to all that is turned
	if err := p.timeline(); err != nil {
		return s, err
	}
	p.Duration = d
	return p.Scenario, p.length()
}

// length bounds what a run does, with the rates that are turned to.
func (p *parser) length() error {
	p.at("duration", "interval")
	switch n := p.Duration / p.Interval; {
	case n == 0:
		return fmt.Errorf("a run of %s ends before the first sample, after %s", p.Duration, p.Interval)
	case n > maxSamples:
		return fmt.Errorf("%s in steps of %s are %d samples: there may be %d", p.Duration, p.Interval, n, maxSamples)
	}
	rate := p.Workload.MeanRate()
	for _, e := range p.Timeline {
		if e.Change.Knob != knob.Rate || e.Change.Value*rate <= workload.MaxRate {
			continue
		}
		p.line = e.Line
		return fmt.Errorf("%s makes %.3g requests per second: there may be %d", e.Change, e.Change.Value*rate, workload.MaxRate)
	}
	if n := p.asked(rate); n > maxRequests {
		p.at("rate", "workload", "trace")
		return fmt.Errorf("%.3g requests per second for %s, with the changes of the rate, are %.3g requests: there may be %g", rate, p.Duration, n, float64(maxRequests))
	}
	return nil
}

// asked is how many requests the streams send in all.
func (s *Scenario) asked(rate float64) float64 {
	sum, factor, from := 0.0, 1.0, time.Duration(0)
	for _, e := range s.Timeline {
		if e.Change.Knob != knob.Rate || e.At > s.Duration {
			continue
		}
		sum += rate * factor * (e.At - from).Seconds()
		if factor, from = e.Change.Value, e.At; e.Change.Reset {
			factor = knob.Table[knob.Rate].Default
		}
	}
	return sum + rate*factor*(s.Duration-from).Seconds()
}

// cache bounds the tables of the blocks, which are as long as the pools ever become.
func (p *parser) cache() error {
	blocks := p.Blocks
	if blocks == 0 {
		d := p.Deployment()
		m, err := d.Memory(p.Utilization, p.Step())
		if err != nil {
			return err
		}
		if blocks = m.KVTokens / p.BlockSize; blocks == 0 {
			p.at("engine")
			return fmt.Errorf("block %d: a block of so many tokens does not fit, there is room for %d", p.BlockSize, m.KVTokens)
		}
	}
	if n := blocks * p.Replicas; n > maxBlocks {
		p.at("engine", "model", "linear")
		return fmt.Errorf("%d replicas with %d blocks of the KV cache are %d: there may be %d; write a larger block=", p.Replicas, blocks, n, maxBlocks)
	}
	most := make([]float64, p.Replicas)
	for _, e := range p.Timeline {
		if e.Change.Knob != knob.KVPool || e.Change.Reset {
			continue
		}
		sum := 0.0
		for n := range most {
			if e.Change.Target == knob.All || e.Change.Target == n {
				most[n] = max(most[n], e.Change.Value)
			}
			sum += max(1, most[n])
		}
		if n := sum * float64(blocks); n > maxBlocks {
			p.line = e.Line
			return fmt.Errorf("%s makes %.3g blocks of the KV cache in all: there may be %d", e.Change, n, maxBlocks)
		}
	}
	return nil
}
