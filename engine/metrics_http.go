package engine

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// httpMetrics count the answers of handlers, under the names that vLLM's HTTP
// server uses. They carry no labels of the engine.
type httpMetrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newHTTPMetrics(f factory) httpMetrics {
	return httpMetrics{
		requests: f.counters("http_requests_total", "Requests by path, method and class of status.", "handler", "method", "status"),
		duration: f.histograms("http_request_duration_seconds", "Time until a request was answered, its stream included.", httpBuckets, "handler", "method"),
	}
}

// counted counts the answers of a handler. Their time is the machine's, as the
// network's is.
func (e *Engine) counted(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		if r.ContentLength != 0 { // net/http reads a body before it answers, also one that nobody asked for
			_ = http.NewResponseController(w).SetReadDeadline(begun.Add(bodyTimeout)) // not every ResponseWriter can
		}
		s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(s, r)
		m := &e.metrics.httpMetrics
		m.requests.WithLabelValues(path, knownMethod(r.Method), strconv.Itoa(s.status/100)+"xx").Inc()
		m.duration.WithLabelValues(path, knownMethod(r.Method)).Observe(time.Since(begun).Seconds())
	})
}

// knownMethod keeps clients from inventing label values.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch:
		return method
	}
	return "other"
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
