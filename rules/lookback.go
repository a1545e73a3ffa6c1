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
	frontendHistogram
	queueHistogram
	prefillHistogram
	decodeHistogram
	promptHistogram
	outputHistogram
	stepTokensHistogram
	numDistributions
)

// distributions are their rows in the table of engine readings.
var distributions = func() (rows [numDistributions]probes.EngineReading) {
	for i, name := range [...]string{"ttft_seconds", "tpot_seconds", "step_seconds", "e2e_seconds", "frontend_seconds", "queue_seconds",
		"prefill_seconds", "decode_seconds", "prompt_length_tokens", "output_length_tokens", "step_tokens"} {
		rows[i], _ = probes.LookupEngineReading(name)
	}
	return rows
}()

func (d distribution) of(e *probes.Engine) *probes.Histogram { return *distributions[d].Histogram(e) }

func (d distribution) told(e *probes.Engine) bool { return d.of(e) != nil }

// lookback is a view of which several signals ask the same: what a histogram gathered
// over it at all engines is worked out when it is first asked for.
type lookback struct {
	probes.View
	known    [numDistributions]bool
	gathered [numDistributions]*probes.Histogram
}

// observed is what a histogram gathered over the lookback at all engines; nil when
// none has it. The caller does not change it.
func (n *now) observed(s *lookback, d distribution) *probes.Histogram {
	if s.known[d] {
		return s.gathered[d]
	}
	var total *probes.Histogram
	for _, from := range n.tellersOf(s.View, distributions[d].Side, d.told) {
		h := s.Observed(func(p *probes.Point) (*probes.Histogram, time.Time) {
			if e := from.in(p, d.told); e != nil {
				return d.of(e), e.At
			}
			return nil, time.Time{}
		})
		total = merge(total, h)
	}
	s.known[d], s.gathered[d] = true, total
	return total
}
