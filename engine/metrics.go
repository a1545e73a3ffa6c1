package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the engine's metrics: vLLM's families with its names and labels, and
// below llmtop: families of our own for what vLLM does not tell. Each of vLLM's
// moves when vLLM's does: token counters and inter-token latency at every step, the
// time to the first token at the first token, the rest when a request ends.
type metrics struct {
	registry *prometheus.Registry
	tokenMetrics
	requestMetrics
	stepMetrics
	httpMetrics
}

func newMetrics(e *Engine) *metrics {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	ours := prometheus.WrapRegistererWith(prometheus.Labels{"model_name": e.config.ModelName, "engine": "0"}, reg)
	f := factory{ours}
	m := &metrics{
		registry:       reg,
		tokenMetrics:   newTokenMetrics(f),
		requestMetrics: newRequestMetrics(f, lengthBuckets(e.shape.Context)),
		stepMetrics:    newStepMetrics(f),
		httpMetrics:    newHTTPMetrics(factory{reg}),
	}
	f.absent()
	f.memory(e.Budget())
	ours.MustRegister(newStateCollector(e))
	factory{reg}.configs(e)
	return m
}

// closed ends a request's record and observes its stages.
func (e *Engine) closed(r *record, why Finish, now time.Time) {
	e.log.close(r, why, now)
	e.metrics.closed(r.snapshot())
}
