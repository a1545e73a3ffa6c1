package otlp

import (
	"math"

	"llmtop/probes"
)

// tgiAttributes are those of the router's spans generate, generate_stream,
// chat_completions and completions, written when a request ends well: times as the text
// of a Rust Duration. Inference is prefill and decode in one.
var tgiAttributes = map[string]meaning{
	"total_time":      {factTotal, asDuration},
	"validation_time": {factValidation, asDuration},
	"queue_time":      {factQueue, asDuration},
	"inference_time":  {factInference, asDuration},
	"time_per_token":  {factPerToken, asDuration},
}

func isTGI(s *span, _ string) bool {
	if !s.facts.all(factTotal, factValidation, factQueue, factInference) {
		return false
	}
	s.engine, s.role = tgi, request
	return true
}

// tgiRequest reads a request off its span. TGI does not tell the first token from the
// others: it spreads the inference over all tokens alike, so that its time per token is
// the mean with prefill in it. The same is done here: prefill gets the time of one
// token, and the TTFT stays unknown.
func tgiRequest(s *span) (*probes.Request, fault) {
	f := s.facts
	inference, total := f.number[factInference], f.number[factTotal]
	if total > s.seconds()+endSlack {
		return nil, faultTimes
	}
	r := s.newRequest()
	r.Coarse = true
	prefill := 0.0
	if each, ok := f.get(factPerToken); ok && each > 0 && inference/each < maxTokens {
		prefill = math.Min(each, inference)
		r.OutputTokens = int(math.Round(inference / each))
	}
	validation, queue := f.number[factValidation], f.number[factQueue]
	return r, coarseStages(r, told{
		before: validation, queue: queue, prefill: prefill, decode: inference - prefill, after: total - validation - queue - inference,
	}, total)
}
