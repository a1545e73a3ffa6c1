package engine

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// speculationMetrics are vLLM's families about guesses. Acceptance is accepted
// tokens over draft tokens; tokens a step are 1 + accepted tokens over drafts.
type speculationMetrics struct {
	drafts, draftTokens, accepted prometheus.Counter
	acceptedAt                    []prometheus.Counter // by position of the guess
}

// newSpeculationMetrics registers them, for at most n guesses at a time. An engine
// that does not speculate does not have them.
func newSpeculationMetrics(m *metrics, model string, n int) *speculationMetrics {
	f := factory{prometheus.WrapRegistererWith(prometheus.Labels{"model_name": model, "engine": "0"}, m.registry)}
	s := &speculationMetrics{
		drafts:      f.counter("vllm:spec_decode_num_drafts_total", "Steps of a request in which tokens were guessed."),
		draftTokens: f.counter("vllm:spec_decode_num_draft_tokens_total", "Tokens guessed."),
		accepted:    f.counter("vllm:spec_decode_num_accepted_tokens_total", "Guessed tokens that held."),
	}
	at := f.counters("vllm:spec_decode_num_accepted_tokens_per_pos_total", "Guessed tokens that held, by their position in the guess.", "position")
	for p := range n {
		s.acceptedAt = append(s.acceptedAt, at.WithLabelValues(strconv.Itoa(p)))
	}
	return s
}
