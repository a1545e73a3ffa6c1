package engine

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the engine's metrics under vLLM's names and labels. Each moves when
// vLLM's does: token counters and inter-token latency at every step, the time to
// the first token at the first token, the rest when a request ends.
type metrics struct {
	registry *prometheus.Registry

	preemptions, promptTokens, generationTokens prometheus.Counter
	success                                     *prometheus.CounterVec
	rejected, corrupted                         prometheus.Counter
	http                                        *prometheus.CounterVec

	stepTokens, ttft, itl, tpot            prometheus.Histogram
	e2e, queue, prefill, decode, inference prometheus.Histogram
	promptLength, outputLength             prometheus.Histogram
}

func newMetrics(e *Engine) *metrics {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	f := factory{prometheus.WrapRegistererWith(prometheus.Labels{"model_name": e.config.ModelName, "engine": "0"}, reg)}
	m := &metrics{
		registry:         reg,
		preemptions:      f.counter("vllm:num_preemptions_total", "Cumulative number of preemptions."),
		promptTokens:     f.counter("vllm:prompt_tokens_total", "Prompt tokens whose prefill has ended."),
		generationTokens: f.counter("vllm:generation_tokens_total", "Tokens generated."),
		success:          f.counters("vllm:request_success_total", "Requests that ended, by reason.", "finished_reason"),
		rejected:         f.refusals(),
		corrupted:        f.counter("vllm:corrupted_requests_total", "Requests that ended because their logits had no finite maximum."),
		stepTokens:       f.histogram("vllm:iteration_tokens_total", "Tokens computed in a step.", stepTokenBuckets),
		ttft:             f.histogram("vllm:time_to_first_token_seconds", "Arrival until the first token.", firstTokenBuckets),
		itl:              f.histogram("vllm:inter_token_latency_seconds", "Time between two steps of a request.", tokenBuckets),
		tpot:             f.histogram("vllm:request_time_per_output_token_seconds", "Mean time per output token of a request, after the first.", tokenBuckets),
		e2e:              f.histogram("vllm:e2e_request_latency_seconds", "Arrival until the last token.", requestBuckets),
		queue:            f.histogram("vllm:request_queue_time_seconds", "Time a request waited.", requestBuckets),
		prefill:          f.histogram("vllm:request_prefill_time_seconds", "Scheduled until the first token.", requestBuckets),
		decode:           f.histogram("vllm:request_decode_time_seconds", "First token until the last.", requestBuckets),
		inference:        f.histogram("vllm:request_inference_time_seconds", "Scheduled until the last token.", requestBuckets),
		promptLength:     f.histogram("vllm:request_prompt_tokens", "Tokens of a prompt.", lengthBuckets(e.shape.Context)),
		outputLength:     f.histogram("vllm:request_generation_tokens", "Tokens of an answer.", lengthBuckets(e.shape.Context)),
	}
	for _, why := range []Finish{FinishStop, FinishLength, FinishAbort, FinishError} {
		m.success.WithLabelValues(string(why))
	}
	m.http = factory{reg}.counters("http_requests_total", "Requests by path, method and class of status.", "handler", "method", "status")
	f.gauge("vllm:num_requests_running", "Requests in the batch.", func() float64 { return float64(e.snapshot().running) })
	f.gauge("vllm:num_requests_waiting", "Requests waiting.", func() float64 { return float64(e.snapshot().waiting) })
	f.gauge("vllm:kv_cache_usage_perc", "Share of the KV blocks in use, 0 to 1.", func() float64 {
		return float64(e.snapshot().usedBlocks) / float64(e.config.NumBlocks)
	})
	factory{reg}.configs(e)
	return m
}

// ended counts a request that ended. Its times are observed only if it was
// answered: those of an abandoned one say when its client lost patience.
func (m *metrics) ended(why Finish, f facts, now time.Time) {
	m.success.WithLabelValues(string(why)).Inc()
	if why != FinishStop && why != FinishLength {
		return
	}
	m.e2e.Observe(now.Sub(f.line.arrived).Seconds())
	m.queue.Observe(f.between(StageQueue, StageQueue).Seconds())
	m.prefill.Observe(f.between(StageBatch, StagePrefill).Seconds())
	m.decode.Observe(f.between(StageDecode, StageDecode).Seconds())
	m.inference.Observe(f.between(StageBatch, StageDecode).Seconds())
	m.promptLength.Observe(float64(f.promptTokens))
	m.outputLength.Observe(float64(f.outputTokens))
	if f.outputTokens > 1 {
		m.tpot.Observe(f.between(StageDecode, StageDecode).Seconds() / float64(f.outputTokens-1))
	}
}

// counted counts the answers of a handler.
func (e *Engine) counted(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(s, r)
		e.metrics.http.WithLabelValues(path, knownMethod(r.Method), strconv.Itoa(s.status/100)+"xx").Inc()
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
