package engine

import "github.com/prometheus/client_golang/prometheus"

// logDropped counts the lines that an EventLog has lost.
func (m *metrics) logDropped(l *EventLog, model string) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "llmtop:log_dropped_total", Help: "Lines of the event log that were dropped or could not be written.",
		ConstLabels: prometheus.Labels{"model_name": model, "engine": "0"},
	}, func() float64 { return float64(l.Dropped()) }))
}
