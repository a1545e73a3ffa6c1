package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stepMetrics are about the engine's steps: what is in them and where their time goes.
type stepMetrics struct {
	stepTokens        prometheus.Histogram
	sequences, tokens [numWork]prometheus.Observer
	kinds             map[string]prometheus.Observer
	parts             [numParts]prometheus.Observer
}

// part is a stretch of a step: all but compute is the scheduler's and the
// bookkeeping's.
type part int

const (
	partSchedule part = iota // choosing what to compute, and the blocks for it
	partPrepare              // the step in the runner's terms
	partCompute              // the runner
	partDeliver              // passing tokens on and ending sequences
	numParts
)

var partNames = [numParts]string{"schedule", "prepare", "compute", "deliver"}

func newStepMetrics(f factory) stepMetrics {
	m := stepMetrics{
		stepTokens: f.histogram("vllm:iteration_tokens_total", "Tokens computed in a step.", stepTokenBuckets),
		kinds:      make(map[string]prometheus.Observer),
	}
	sequences := f.histograms("llmtop:step_sequences", "Sequences in a step, by what it does for them.", compositionBuckets, "work")
	tokens := f.histograms("llmtop:step_tokens", "Tokens computed in a step, by what they are for.", compositionBuckets, "work")
	for w, name := range workNames {
		m.sequences[w], m.tokens[w] = sequences.WithLabelValues(name), tokens.WithLabelValues(name)
	}
	kinds := f.histograms("llmtop:step_duration_seconds", "Time of a step, by what is in it.", stepBuckets, "kind")
	for _, kind := range []string{kindPrefill, kindDecode, kindMixed} {
		m.kinds[kind] = kinds.WithLabelValues(kind)
	}
	parts := f.histograms("llmtop:step_part_seconds", "Time of the parts of a step; all but compute is scheduling and bookkeeping.", stepBuckets, "part")
	for p, name := range partNames {
		m.parts[p] = parts.WithLabelValues(name)
	}
	return m
}

// stepTimes are the instants at which a step began and its parts were over, in order.
type stepTimes [numParts + 1]time.Time

// step observes a step that is over. One that computes nothing is none.
func (m *stepMetrics) step(c composition, at stepTimes) {
	if c.sequences[prefilling]+c.sequences[decoding] == 0 {
		return
	}
	m.stepTokens.Observe(float64(c.tokens[prefilling] + c.tokens[decoding]))
	for w := range numWork {
		m.sequences[w].Observe(float64(c.sequences[w]))
		m.tokens[w].Observe(float64(c.tokens[w]))
	}
	m.kinds[c.kind()].Observe(at[numParts].Sub(at[0]).Seconds())
	for p := range numParts {
		m.parts[p].Observe(at[p+1].Sub(at[p]).Seconds())
	}
}
