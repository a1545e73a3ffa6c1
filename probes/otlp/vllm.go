package otlp

import "llmtop/probes"

// genAIAttributes are those of vLLM's span llm_request (sent since 0.5.1, at the end of
// a request, by the API server) and of the span that SGLang has for a request. Times
// are in seconds. vLLM's first engine (V0) told queue, first token and end alone and the
// times of scheduler, forward pass and model execution, which are sums over steps and
// parts of the others; the present one (V1) tells prefill and decode.
var genAIAttributes = map[string]meaning{
	"gen_ai.latency.time_in_queue":           {factQueue, inSeconds},
	"gen_ai.latency.time_to_first_token":     {factTTFT, inSeconds},
	"gen_ai.latency.e2e":                     {factE2E, inSeconds},
	"gen_ai.latency.time_in_model_prefill":   {factPrefill, inSeconds},
	"gen_ai.latency.time_in_model_decode":    {factDecode, inSeconds},
	"gen_ai.latency.time_in_model_inference": {factInference, inSeconds},
	"gen_ai.usage.prompt_tokens":             {factPrompt, inTokens},
	"gen_ai.usage.input_tokens":              {factPrompt, inTokens},
	"gen_ai.usage.cached_tokens":             {factCached, inTokens},
	"gen_ai.usage.completion_tokens":         {factOutput, inTokens},
	"gen_ai.usage.output_tokens":             {factOutput, inTokens},
	"gen_ai.request.id":                      {0, asID},
	"gen_ai.response.finish_reasons":         {0, asFinish},
}

func isVLLM(s *span, name string) bool {
	if name != "llm_request" {
		return false
	}
	s.engine, s.role = vllm, request
	return true
}

// vllmRequest reads a request off its span. The queue starts when the scheduler has the
// request: what of the TTFT is neither queue nor prefill lies before it (tokenizing,
// the way to the engine's process), and what is left after decode is the way back. V0
// tells no prefill: all from the queue to the first token is.
func vllmRequest(s *span) (*probes.Request, fault) {
	f := s.facts
	if !f.all(factQueue, factTTFT) {
		return nil, faultUntold
	}
	e2e := f.or(factE2E, s.seconds())
	if e2e > s.seconds()+endSlack {
		return nil, faultTimes
	}
	queue, ttft := f.number[factQueue], f.number[factTTFT]
	prefill := f.or(factPrefill, ttft-queue)
	decode := f.or(factDecode, e2e-ttft)
	r := s.newRequest()
	r.Coarse = true
	if ttft > 0 { // 0 stands for no token at all
		r.TTFTSeconds = probes.Some(ttft)
	}
	return r, coarseStages(r, told{
		before: ttft - queue - prefill, queue: queue, prefill: prefill, decode: decode, after: e2e - ttft - decode,
	}, e2e)
}
