package record

import "math"

// Resolutions of Python's clocks: time.time() today, time.monotonic() after ten days of uptime.
var wallStep, monoStep = math.Ldexp(1, -22), math.Ldexp(1, -33)

// draw is a request as clients send them.
func (p *dayPage) draw() dayRequest {
	rng, load := p.rng, p.load()
	q := dayRequest{
		prompt: math.Ceil(900 * math.Exp(rng.NormFloat64())), output: math.Ceil(220 * math.Exp(0.8*rng.NormFloat64())),
		step: (0.016 + 0.018*load) * math.Exp(0.12*rng.NormFloat64()),
	}
	if rng.Intn(3) == 0 {
		q.cached = 16 * math.Floor(q.prompt*rng.Float64()/16)
	}
	q.queue = 60e-6 * math.Exp(0.7*rng.NormFloat64())
	if rng.Float64() < load*load {
		q.queue += 0.4 * load * rng.ExpFloat64()
	}
	q.prefill = (0.012 + (q.prompt-q.cached)*45e-6) * math.Exp(0.25*rng.NormFloat64())
	q.decode = q.output * q.step
	return q
}

// second is one second of the engine, in which so many requests arrive.
func (p *dayPage) second(arrivals int) {
	p.now++
	for range arrivals {
		q := p.draw()
		life := int(q.queue + q.prefill + q.decode + p.rng.Float64())
		slot := (p.now + min(life, len(p.done)-1)) % len(p.done)
		p.done[slot] = append(p.done[slot], q)
		p.running++
		p.began(q)
	}
	p.steps()
	for _, q := range p.done[p.now%len(p.done)] {
		p.running--
		p.ended(q)
	}
	p.done[p.now%len(p.done)] = nil
	p.gauges()
}

// began counts what is observed when a request's prefill ends.
func (p *dayPage) began(q dayRequest) {
	front := 0.0004 * math.Exp(0.4*p.rng.NormFloat64())
	p.observe("vllm:time_to_first_token_seconds", q.queue+q.prefill+front, 1, wallStep)
	p.inc("vllm:prompt_tokens_total", q.prompt)
	p.inc("vllm:prompt_tokens_cached_total", q.cached)
	p.inc("vllm:prefix_cache_queries_total", q.prompt)
	p.inc("vllm:prefix_cache_hits_total", q.cached)
	p.inc("vllm:prompt_tokens_by_source_total local_compute", q.prompt-q.cached)
	p.inc("vllm:prompt_tokens_by_source_total local_cache_hit", q.cached)
	p.tokens += q.prompt - q.cached
}

// steps are the engine's steps of a second: each gives every running request a token.
func (p *dayPage) steps() {
	for left := 1.0; left > 0 && p.running > 0; {
		step := (0.016 + 0.018*p.load()) * math.Exp(0.2*p.rng.NormFloat64())
		if p.rng.Intn(60) == 0 {
			step *= 3 // a long prefill goes first
		}
		left -= step
		n := float64(p.running)
		p.observe("vllm:inter_token_latency_seconds", step, n, monoStep)
		prefill := math.Min(p.tokens, 2048)
		p.tokens -= prefill
		p.observe("vllm:iteration_tokens_total", n+prefill, 1, 0)
		p.inc("vllm:generation_tokens_total", n)
		p.inc("vllm:estimated_flops_per_gpu_total", (n+prefill)*17.6e9)
		p.inc("vllm:estimated_read_bytes_per_gpu_total", 17.6e9+n*1.1e6)
		p.inc("vllm:estimated_write_bytes_per_gpu_total", (n+prefill)*40960)
	}
}

// ended counts what is observed when a request ends.
func (p *dayPage) ended(q dayRequest) {
	reason := "stop"
	if p.rng.Intn(6) == 0 {
		reason = "length"
	}
	p.inc("vllm:request_success_total "+reason, 1)
	inference := q.prefill + q.decode
	e2e := q.queue + inference + 0.0009*math.Exp(0.4*p.rng.NormFloat64())
	p.observe("vllm:e2e_request_latency_seconds", e2e, 1, wallStep)
	p.observe("vllm:request_queue_time_seconds", q.queue, 1, monoStep)
	p.observe("vllm:request_inference_time_seconds", inference, 1, monoStep)
	p.observe("vllm:request_prefill_time_seconds", q.prefill, 1, monoStep)
	p.observe("vllm:request_decode_time_seconds", q.decode, 1, monoStep)
	p.observe("vllm:request_time_per_output_token_seconds", q.decode/math.Max(1, q.output-1), 1, 0)
	p.observe("vllm:request_prompt_tokens", q.prompt, 1, 0)
	p.observe("vllm:request_generation_tokens", q.output, 1, 0)
	p.observe("vllm:request_max_num_generation_tokens", q.output, 1, 0)
	p.observe("vllm:request_params_n", 1, 1, 0)
	p.observe("vllm:request_params_max_tokens", []float64{512, 1024, 4096}[p.rng.Intn(3)], 1, 0)
	p.observe("vllm:request_prefill_kv_computed_tokens", q.prompt-q.cached, 1, 0)
	p.inc("http_requests_total /v1/chat/completions", 1)
	p.inc("http_request_size_bytes_count /v1/chat/completions", 1)
	p.inc("http_request_size_bytes_sum /v1/chat/completions", math.Ceil(q.prompt*3.9+420))
	p.inc("http_response_size_bytes_count /v1/chat/completions", 1)
	p.inc("http_response_size_bytes_sum /v1/chat/completions", math.Ceil(q.output*4.1+300))
	p.observe("http_request_duration_highr_seconds", e2e+0.0004, 1, monoStep)
	p.observe("http_request_duration_seconds /v1/chat/completions", e2e+0.0004, 1, monoStep)
}

// gauges are set at the end of a second, with the counts of the process.
func (p *dayPage) gauges() {
	waiting := 0
	if load := p.load(); p.rng.Float64() < load*load*load {
		waiting = poisson(p.rng, 4*load)
	}
	p.set("vllm:num_requests_running", float64(p.running))
	p.set("vllm:num_requests_waiting", float64(waiting))
	p.set("vllm:num_requests_waiting_by_reason capacity", float64(waiting))
	blocks := math.Round(float64(p.running) * 95 * (1 + 0.05*p.rng.NormFloat64()))
	p.set("vllm:kv_cache_usage_perc", blocks/57344)
	p.inc("http_requests_total /metrics", 1)
	p.observe("http_request_duration_highr_seconds", 0.004*math.Exp(0.15*p.rng.NormFloat64()), 1, monoStep)
	p.observe("http_request_duration_seconds /metrics", 0.004*math.Exp(0.15*p.rng.NormFloat64()), 1, monoStep)
	p.inc("http_response_size_bytes_count /metrics", 1)
	p.inc("http_response_size_bytes_sum /metrics", float64(91_000+p.rng.Intn(400)))
	p.inc("process_cpu_seconds_total", math.Round(100*(0.15+0.8*p.load()*(0.9+0.2*p.rng.Float64())))/100)
	cpu := p.at["process_cpu_seconds_total"]
	p.values[cpu] = math.Round(p.values[cpu]*100) / 100
	if p.rng.Intn(40) == 0 {
		p.inc("process_resident_memory_bytes", 4096*float64(p.rng.Intn(600)-280))
		p.inc("python_gc_objects_collected_total 0", float64(p.rng.Intn(900)))
		p.inc("python_gc_collections_total 0", 1)
	}
	p.set("process_open_fds", float64(46+p.running))
}
