package exposition

import "llmtop/engine"

// tgi is Text Generation Inference. Nothing is on its page before it has happened. What is
// about a request is observed when it ends well, only the prompt's length before, when it
// has been validated. The queue is counted up one by one and anew whenever a batch has been
// taken from it; the batch is told with each step.
var tgi = personality{name: "tgi", style: rust, rows: tgiRows, note: tgiNote}

func tgiNote(p *page, m moment, e *event) {
	switch m {
	case atQueued:
		p.tally.queued++
	case atAdmitted:
		p.tally.taken = true
	case atStep:
		p.refresh()
	}
}

func tgiRows(i *Info) []row {
	size := i.BlockSize
	rows := []row{
		counter("tgi_request_count", nil, atArrived, often),
		counter("tgi_request_success", nil, atFinished, ended(engine.FinishStop, engine.FinishLength)),
		counter("tgi_request_failure", labels("err", "overloaded"), atFinished, ended(engine.FinishRejected)),
		counter("tgi_request_failure", labels("err", "dropped"), atFinished, ended(engine.FinishAbort)),
		counter("tgi_request_failure", labels("err", "generation"), atFinished, ended(engine.FinishError)),
	}
	for _, name := range []string{"tgi_batch_inference_count", "tgi_batch_inference_success"} {
		rows = append(rows,
			counter(name, labels("method", "prefill"), atStep, tgiCalls(true)),
			counter(name, labels("method", "decode"), atStep, tgiCalls(false)))
	}
	rows = append(rows,
		counter("tgi_batch_concat", labels("reason", "chunking"), atStep, tgiConcat),
		gauge("tgi_queue_size", nil, atQueued, tgiQueue),
		gauge("tgi_queue_size", nil, atRefresh, tgiQueue),
		gauge("tgi_batch_current_size", nil, atRefresh, ofState(running)),
		gauge("tgi_batch_current_max_tokens", nil, atRefresh, ofState(func(s *State) int { return s.Used * size })),
		gauge("tgi_batch_max_total_tokens", nil, atStart, constant(float64(i.Blocks*i.BlockSize))),
	)
	rows = append(rows, tgiTimes()...)
	rows = append(rows, tgiLengths(i)...)
	if i.Drafts > 0 {
		rows = append(rows, summary("tgi_request_skipped_tokens", nil, atStep, tgiSkipped))
	}
	for i := range rows {
		rows[i] = rows[i].once()
	}
	return rows
}

// tgiTimes are the durations; all have the same bounds.
func tgiTimes() []row {
	bounds := products(.0001, 1.5, 35)
	rows := []row{
		histogram("tgi_request_duration", nil, bounds, atFinished, ofAnswered(e2eText)),
		histogram("tgi_request_validation_duration", nil, bounds, atFinished, ofAnswered(func(r *Request) float64 { return spent(r, engine.StageAuth, engine.StageAssemble) })),
		histogram("tgi_request_queue_duration", nil, bounds, atFinished, ofAnswered(queueTime)),
		histogram("tgi_request_inference_duration", nil, bounds, atFinished, ofAnswered(tgiInference)),
		histogram("tgi_request_mean_time_per_token_duration", nil, bounds, atFinished, ofAnswered(func(r *Request) float64 { return tgiInference(r) / float64(max(1, r.Output)) })),
	}
	for _, name := range []string{"tgi_batch_inference_duration", "tgi_batch_forward_duration"} {
		rows = append(rows,
			histogram(name, labels("method", "prefill"), bounds, atStep, tgiTime(name, true)),
			histogram(name, labels("method", "decode"), bounds, atStep, tgiTime(name, false)))
	}
	return rows
}

func tgiInference(r *Request) float64 { return spent(r, engine.StageBatch, engine.StageDetokenize) }

func tgiLengths(i *Info) []row {
	bounds := steps(float64(i.Context), 100)
	return []row{
		histogram("tgi_request_input_length", nil, bounds, atQueued, ofRequest(prompt)),
		histogram("tgi_request_max_new_tokens", nil, bounds, atQueued, ofRequest(asked)),
		histogram("tgi_request_generated_tokens", nil, bounds, atFinished, ofAnswered(output)),
	}
}

// tgiCalls counts calls of the model: one that has prompts in it is a prefill, even if
// the batch that runs is computed with them.
func tgiCalls(prefill bool) feed {
	return func(_ *page, e *event) (float64, int) {
		if !tgiIs(e.step, prefill) {
			return 0, 0
		}
		return 1, 1
	}
}

func tgiIs(s *Step, prefill bool) bool {
	return s.Prefills+s.Decodes > 0 && prefill == (s.Prefills > 0)
}

// tgiTime observes a call, or what of it was the forward pass.
func tgiTime(name string, prefill bool) feed {
	return func(_ *page, e *event) (float64, int) {
		switch {
		case !tgiIs(e.step, prefill):
			return 0, 0
		case name == "tgi_batch_forward_duration":
			return max(0, e.step.Seconds-e.step.Host), 1
		}
		return e.step.Seconds, 1
	}
}

func tgiConcat(_ *page, e *event) (float64, int) {
	if e.step.Prefills == 0 || e.step.Decodes == 0 {
		return 0, 0
	}
	return 1, 1
}

func tgiQueue(p *page, e *event) (float64, int) {
	if p.tally.taken && e.state != nil {
		p.tally.queued, p.tally.taken = e.state.Waiting, false
	}
	return float64(p.tally.queued), 1
}

// tgiSkipped observes how many guesses held, each sequence's in each step; of a step only
// the mean is known. The quantiles that the engine adds are of a span of its own choice.
func tgiSkipped(_ *page, e *event) (float64, int) {
	if e.step.Decodes == 0 {
		return 0, 0
	}
	return float64(e.step.Accepted) / float64(e.step.Decodes), e.step.Decodes
}
