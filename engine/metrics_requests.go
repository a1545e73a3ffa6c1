package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics are about whole requests, and are observed when they end.
type requestMetrics struct {
	success             *prometheus.CounterVec
	rejected, corrupted prometheus.Counter

	rejectedBytes prometheus.Counter
	queueByClass  [NumClasses]prometheus.Observer
	stages        [NumStages]prometheus.Observer

	tpot, e2e, queue, prefill, decode, inference prometheus.Histogram
	promptLength, computedLength                 prometheus.Histogram
	outputLength, longestOutput                  prometheus.Histogram
	n, maxTokens                                 prometheus.Histogram
}

func newRequestMetrics(f factory, lengths []float64) requestMetrics {
	m := requestMetrics{
		success:        f.counters("vllm:request_success_total", "Requests that ended, by reason.", "finished_reason"),
		rejected:       f.refusals(),
		corrupted:      f.counter("vllm:corrupted_requests_total", "Requests that ended because their logits were broken."),
		rejectedBytes:  f.counter("llmtop:rejected_prompt_bytes_total", "Text of the prompts refused before they were tokenized."),
		tpot:           f.histogram("vllm:request_time_per_output_token_seconds", "Mean time per output token of a request, after the first.", tokenBuckets),
		e2e:            f.histogram("vllm:e2e_request_latency_seconds", "Arrival until the last token.", requestBuckets),
		queue:          f.histogram("vllm:request_queue_time_seconds", "Time a request waited.", requestBuckets),
		prefill:        f.histogram("vllm:request_prefill_time_seconds", "Scheduled until the first token.", requestBuckets),
		decode:         f.histogram("vllm:request_decode_time_seconds", "First token until the last.", requestBuckets),
		inference:      f.histogram("vllm:request_inference_time_seconds", "Scheduled until the last token.", requestBuckets),
		promptLength:   f.histogram("vllm:request_prompt_tokens", "Tokens of a prompt.", lengths),
		computedLength: f.histogram("vllm:request_prefill_kv_computed_tokens", "Tokens of a prompt that were not in the prefix cache.", lengths),
		outputLength:   f.histogram("vllm:request_generation_tokens", "Tokens of an answer.", lengths),
		longestOutput:  f.histogram("vllm:request_max_num_generation_tokens", "Tokens of the longest answer of a request; this engine gives one.", lengths),
		n:              f.histogram("vllm:request_params_n", "Answers that a request asks for.", []float64{1, 2, 5, 10, 20}),
		maxTokens:      f.histogram("vllm:request_params_max_tokens", "Tokens that a request allows its answer.", lengths),
	}
	for _, why := range []Finish{FinishStop, FinishLength, FinishAbort, FinishError} {
		m.success.WithLabelValues(string(why))
	}
	classes := f.histograms("llmtop:class_queue_time_seconds", "Time a request waited, by class.", stageBuckets, "class")
	for i := range m.queueByClass {
		m.queueByClass[i] = classes.WithLabelValues(classNames[i])
	}
	stages := f.histograms("llmtop:request_stage_seconds", "Time an answered request spent in each stage.", stageBuckets, "stage")
	for s := range NumStages {
		m.stages[s] = stages.WithLabelValues(s.String())
	}
	return m
}

// refused counts a request that found the queue full; its prompt has that many bytes.
func (m *requestMetrics) refused(promptBytes int) {
	m.rejected.Inc()
	m.rejectedBytes.Add(float64(promptBytes))
}

// ended counts a request that ended. Its times are observed only if it was
// answered: those of an abandoned one say when its client lost patience.
func (m *requestMetrics) ended(why Finish, q *Sequence, f facts, now time.Time) {
	m.success.WithLabelValues(string(why)).Inc()
	if !answered(why) {
		return
	}
	m.e2e.Observe(now.Sub(f.line.arrived).Seconds())
	m.queue.Observe(f.between(StageQueue, StageQueue).Seconds())
	m.queueByClass[q.Class.index()].Observe(f.between(StageQueue, StageQueue).Seconds())
	m.prefill.Observe(f.between(StageBatch, StagePrefill).Seconds())
	m.decode.Observe(f.between(StageDecode, StageDecode).Seconds())
	m.inference.Observe(f.between(StageBatch, StageDecode).Seconds())
	m.promptLength.Observe(float64(f.promptTokens))
	m.computedLength.Observe(float64(f.promptTokens - f.cachedTokens))
	m.outputLength.Observe(float64(f.outputTokens))
	m.longestOutput.Observe(float64(f.outputTokens))
	m.n.Observe(1)
	m.maxTokens.Observe(float64(q.MaxTokens))
	if f.outputTokens > 1 {
		m.tpot.Observe(f.between(StageDecode, StageDecode).Seconds() / float64(f.outputTokens-1))
	}
}

// closed observes the stages of an answered request whose last byte is written.
func (m *requestMetrics) closed(f facts) {
	if !answered(f.finish) {
		return
	}
	for s, h := range m.stages {
		if f.line.entered[s] {
			h.Observe(f.line.spent[s].Seconds())
		}
	}
}

// answered reports whether a request came to its proper end.
func answered(why Finish) bool { return why == FinishStop || why == FinishLength }
