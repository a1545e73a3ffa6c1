package exposition

import (
	"math"

	"llmtop/engine"
	"llmtop/probes"
)

var inf = math.Inf(1)

// llmtopSteps are what is in the steps of our own engine and where their time goes. All that
// the host does around the forward pass of a modelled step is its scheduling.
func llmtopSteps(l []probes.Label) []row {
	sequences := func(n func(*Step) int) feed { return everyStep(func(s *Step) float64 { return float64(n(s)) }) }
	const seqs, tokens, kinds, parts = "llmtop:step_sequences", "llmtop:step_tokens", "llmtop:step_duration_seconds", "llmtop:step_part_seconds"
	return []row{
		histogram("vllm:iteration_tokens_total", l, ownStepTokens, atStep, sequences(func(s *Step) int { return s.Prefill + decodeTokens(s) })),
		histogram(seqs, l, ownSequences, atStep, sequences(func(s *Step) int { return s.Prefills })).with("work", "prefill"),
		histogram(seqs, l, ownSequences, atStep, sequences(func(s *Step) int { return s.Decodes })).with("work", "decode"),
		histogram(tokens, l, ownSequences, atStep, sequences(func(s *Step) int { return s.Prefill })).with("work", "prefill"),
		histogram(tokens, l, ownSequences, atStep, sequences(decodeTokens)).with("work", "decode"),
		histogram(kinds, l, ownSteps, atStep, ofKind(true, false)).with("kind", "prefill"),
		histogram(kinds, l, ownSteps, atStep, ofKind(false, true)).with("kind", "decode"),
		histogram(kinds, l, ownSteps, atStep, ofKind(true, true)).with("kind", "mixed"),
		histogram(parts, l, ownSteps, atStep, everyStep(func(s *Step) float64 { return s.Host })).with("part", "schedule"),
		histogram(parts, l, ownSteps, atStep, everyStep(func(*Step) float64 { return 0 })).with("part", "prepare"),
		histogram(parts, l, ownSteps, atStep, everyStep(func(s *Step) float64 { return max(0, s.Seconds-s.Host) })).with("part", "compute"),
		histogram(parts, l, ownSteps, atStep, everyStep(func(*Step) float64 { return 0 })).with("part", "deliver"),
	}
}

// decodeTokens are those computed for sequences that decode: one each, and the guesses.
func decodeTokens(s *Step) int { return s.Decodes + s.Drafted }

// everyStep observes a step that computes something.
func everyStep(number func(*Step) float64) feed {
	return func(_ *page, e *event) (float64, int) {
		if e.step.Prefills+e.step.Decodes == 0 {
			return 0, 0
		}
		return number(e.step), 1
	}
}

// ofKind observes the time of steps with these contents.
func ofKind(prefills, decodes bool) feed {
	return func(_ *page, e *event) (float64, int) {
		if e.step.Prefills > 0 != prefills || e.step.Decodes > 0 != decodes {
			return 0, 0
		}
		return e.step.Seconds, 1
	}
}

// llmtopRequests are about whole requests of our own engine, observed when they end.
func llmtopRequests(i *Info, l []probes.Label) []row {
	lengths := ownLengths(i.Context)
	const success = "vllm:request_success_total"
	rows := []row{
		counter(success, l, atFinished, ended(engine.FinishStop)).with("finished_reason", "stop"),
		counter(success, l, atFinished, ended(engine.FinishLength)).with("finished_reason", "length"),
		counter(success, l, atFinished, ended(engine.FinishAbort)).with("finished_reason", "abort"),
		counter(success, l, atFinished, ended(engine.FinishError)).with("finished_reason", "error"),
		counter("vllm:admission_rejections_total", l, atFinished, ended(engine.FinishRejected)).with("reason", "queue_full"),
		counter("llmtop:rejected_prompt_bytes_total", l, atFinished, rejectedBytes),
		counter("llmtop:log_dropped_total", l, atStart, constant(0)),
		counter("vllm:corrupted_requests_total", l, atStart, constant(0)),
		histogram("vllm:request_time_per_output_token_seconds", l, ownTokens, atFinished, tpot),
		histogram("vllm:e2e_request_latency_seconds", l, ownRequests, atFinished, ofAnswered(toLastToken)),
		histogram("vllm:request_queue_time_seconds", l, ownRequests, atFinished, ofAnswered(queueTime)),
		histogram("vllm:request_prefill_time_seconds", l, ownRequests, atFinished, ofAnswered(prefillTime)),
		histogram("vllm:request_decode_time_seconds", l, ownRequests, atFinished, ofAnswered(decodeTime)),
		histogram("vllm:request_inference_time_seconds", l, ownRequests, atFinished, ofAnswered(inferenceTime)),
		histogram("vllm:request_prompt_tokens", l, lengths, atFinished, ofAnswered(prompt)),
		histogram("vllm:request_prefill_kv_computed_tokens", l, lengths, atFinished, ofAnswered(computed)),
		histogram("vllm:request_generation_tokens", l, lengths, atFinished, ofAnswered(output)),
		histogram("vllm:request_max_num_generation_tokens", l, lengths, atFinished, ofAnswered(output)),
		histogram("vllm:request_params_n", l, []float64{1, 2, 5, 10, 20}, atFinished, ofAnswered(func(*Request) float64 { return 1 })),
		histogram("vllm:request_params_max_tokens", l, lengths, atFinished, ofAnswered(asked)),
	}
	for c := engine.Realtime; c <= engine.Background; c++ {
		rows = append(rows, histogram("llmtop:class_queue_time_seconds", l, ownStages, atFinished, queuedIn(c)).with("class", c.String()))
	}
	for s := range engine.NumStages {
		rows = append(rows, histogram("llmtop:request_stage_seconds", l, ownStages, atFinished, ofAnswered(inStage(s))).with("stage", s.String()))
	}
	return rows
}

// rejectedBytes are the text of prompts refused before they were tokenized.
func rejectedBytes(_ *page, e *event) (float64, int) {
	if e.request.Finish != engine.FinishRejected {
		return 0, 0
	}
	return some(e.request.Bytes)
}

func toLastToken(r *Request) float64 { return spent(r, engine.StageReceive, engine.StageDecode) }

func inStage(s engine.Stage) func(*Request) float64 {
	return func(r *Request) float64 { return spent(r, s, s) }
}

// queuedIn observes how long answered requests of a class waited.
func queuedIn(c engine.Class) feed {
	return func(_ *page, e *event) (float64, int) {
		if !answered(e.request) || e.request.Class != c {
			return 0, 0
		}
		return queueTime(e.request), 1
	}
}
