package rules

import (
	"time"

	"llmtop/probes"
)

// distribution is one of the engine's histograms.
type distribution uint8

const (
	ttftHistogram distribution = iota
	tpotHistogram
	stepHistogram
	e2eHistogram
	queueHistogram
	prefillHistogram
	decodeHistogram
	promptHistogram
	outputHistogram
	stepTokensHistogram
	numDistributions
)

func (d distribution) of(e *probes.Engine) *probes.Histogram {
	switch d {
	case ttftHistogram:
		return e.TTFT
	case tpotHistogram:
		return e.TPOT
	case stepHistogram:
		return e.StepTime
	case e2eHistogram:
		return e.E2E
	case queueHistogram:
		return e.Queue
	case prefillHistogram:
		return e.Prefill
	case decodeHistogram:
		return e.Decode
	case promptHistogram:
		return e.PromptLen
	case outputHistogram:
		return e.OutputLen
	}
	return e.StepTokens
}

// lookback is a view of which several signals ask the same: what a histogram gathered
// over it at all engines is worked out when it is first asked for.
type lookback struct {
	probes.View
	known    [numDistributions]bool
	gathered [numDistributions]*probes.Histogram
}

// observed is what a histogram gathered over the lookback at all endpoints; nil when
// none has it. The caller does not change it.
func (n *now) observed(s *lookback, d distribution) *probes.Histogram {
	if s.known[d] {
		return s.gathered[d]
	}
	var total *probes.Histogram
	for _, end := range n.ends {
		h := s.Observed(func(p *probes.Point) (*probes.Histogram, time.Time) {
			if e := engineOf(p, end); e != nil {
				return d.of(e), e.At
			}
			return nil, time.Time{}
		})
		total = merge(total, h)
	}
	s.known[d], s.gathered[d] = true, total
	return total
}
