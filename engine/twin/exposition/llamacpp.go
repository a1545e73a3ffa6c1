package exposition

// llamacpp is llama.cpp's server: no labels, no histograms, six digits. Prompts are counted
// with the first token and answers when they are whole; the gauges of speed are about the
// time since somebody asked last.
var llamacpp = personality{name: "llamacpp", style: cpp, rows: llamacppRows, note: llamacppNote}

func llamacppNote(p *page, m moment, e *event) {
	t := &p.tally
	switch m {
	case atFirst:
		t.prompt, t.promptSeconds = t.prompt+computed(e.request), t.promptSeconds+prefillTime(e.request)
		t.longest = max(t.longest, prompt(e.request))
	case atFinished:
		if answered(e.request) {
			t.output, t.outputSeconds = t.output+output(e.request), t.outputSeconds+decodeTime(e.request)
		}
		if e.request.Output > 0 {
			t.longest = max(t.longest, prompt(e.request)+output(e.request))
		}
	case atStep:
		t.steps++
		t.busy += float64(e.step.Prefills + e.step.Decodes)
	}
}

func llamacppRows(*Info) []row {
	return []row{
		counter("llamacpp:prompt_tokens_total", nil, atFirst, ofRequest(computed)),
		counter("llamacpp:prompt_tokens_cached_total", nil, atFirst, ofRequest(func(r *Request) float64 { return cached(r) + received(r) })),
		counter("llamacpp:prompt_seconds_total", nil, atFirst, ofRequest(prefillTime)),
		counter("llamacpp:tokens_predicted_total", nil, atFinished, ofAnswered(output)),
		counter("llamacpp:tokens_predicted_seconds_total", nil, atFinished, ofAnswered(decodeTime)),
		counter("llamacpp:n_decode_total", nil, atStep, often),
		counter("llamacpp:n_tokens_max", nil, atScrape, func(p *page, _ *event) (float64, int) { return highWater(p) }),
		counter("llamacpp:spec_decode_num_draft_tokens_total", nil, atStep, ofStep(drafted)),
		counter("llamacpp:spec_decode_num_accepted_tokens_total", nil, atStep, ofStep(accepted)),
		counter("llamacpp:spec_decode_num_drafts_total", nil, atStep, ofStep(drafts)),
		gauge("llamacpp:prompt_tokens_seconds", nil, atScrape, func(p *page, _ *event) (float64, int) { return speed(&p.tally.prompt, &p.tally.promptSeconds) }),
		gauge("llamacpp:predicted_tokens_seconds", nil, atScrape, func(p *page, _ *event) (float64, int) { return speed(&p.tally.output, &p.tally.outputSeconds) }),
		gauge("llamacpp:requests_processing", nil, atScrape, ofState(running)),
		gauge("llamacpp:requests_deferred", nil, atScrape, ofState(waiting)),
		gauge("llamacpp:n_busy_slots_per_decode", nil, atScrape, func(p *page, _ *event) (float64, int) { return p.tally.busy / max(1, p.tally.steps), 1 }),
	}
}

// speed is tokens over seconds since the last time, and begins anew.
func speed(tokens, seconds *float64) (float64, int) {
	v := 0.0
	if *seconds > 0 {
		v = *tokens / *seconds
	}
	*tokens, *seconds = 0, 0
	return v, 1
}

// highWater is by how much the longest sequence has grown since it was told.
func highWater(p *page) (float64, int) {
	grown := p.tally.longest - p.tally.longestTold
	p.tally.longestTold = p.tally.longest
	return grown, 1
}
