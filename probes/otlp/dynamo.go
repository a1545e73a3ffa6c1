package otlp

import (
	"cmp"
	"slices"
	"strings"

	"llmtop/probes"
)

// dynamoAttributes are those of the frontend's span http-request. Older ones tell the path alone.
var dynamoAttributes = map[string]meaning{
	"uri":           {factRequest, asGenPath},
	"request_id":    {0, asID},
	"input_tokens":  {factPrompt, inTokens},
	"cached_tokens": {factCached, inTokens},
	"output_tokens": {factOutput, inTokens},
	"ttft_ms":       {factTTFT, inMilliseconds},
	"avg_itl_ms":    {factITL, inMilliseconds},
}

// dynamoStages are the spans below it. The router holds a request back while its workers
// are full: that is waiting for a scheduler. A worker has the request in handle_payload.
var dynamoStages = map[string]piece{
	"kv_router.schedule": {stage: probes.StageQueue},
	"handle_payload":     {stage: probes.StagePrefill},
}

// generates reports a path whose answer is text made by the model.
func generates(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return slices.Contains([]string{"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/generate"}, path)
}

func isDynamo(s *span, name string) bool {
	if p, ok := dynamoStages[name]; ok {
		s.engine, s.role, s.piece = dynamo, stage, p
		return true
	}
	if strings.HasPrefix(name, "kv_router.") {
		s.engine, s.role = dynamo, link
		return true
	}
	if _, ok := s.facts.get(factRequest); name != "http-request" || !ok {
		return false
	}
	s.engine, s.role = dynamo, request
	return true
}

// dynamoRequest reads a request off the frontend's span, the router's and the worker's.
// It knows when the worker had it and, in newer ones, the first token; without that,
// prefill and decode are not told apart and all of it is called decode.
func dynamoRequest(s *span, spans []stored) (*probes.Request, fault) {
	var all [probes.NumStages]interval
	queue := 0.0
	for _, x := range spans {
		all[x.piece.stage].merge(x.interval)
		if x.piece.stage == probes.StageQueue {
			queue += x.seconds()
		}
	}
	if !within(s.start, s.end, &all) {
		return nil, faultClocks
	}
	worker := all[probes.StagePrefill]
	if !worker.set {
		return nil, faultUntold
	}
	r := s.newRequest()
	r.Coarse = true
	e2e, arrived := s.seconds(), max(float64(worker.start-s.start)/1e9, 0)
	t := told{before: max(arrived-queue, 0), queue: min(queue, arrived), decode: e2e - arrived}
	if ttft, ok := s.facts.get(factTTFT); ok {
		r.TTFTSeconds = probes.Some(ttft)
		t.prefill, t.decode = ttft-arrived, e2e-ttft
	}
	return r, coarseStages(r, t, e2e)
}

// inside puts what the engines tell of a request into the time that Dynamo's frontend tells:
// what lies before the engine is receive, and the router's and an earlier engine's
// (prefill on another worker) queue and prefill are theirs; what lies after is send.
func inside(s *span, spans []stored, engines []*probes.Request) (*probes.Request, fault) {
	slices.SortStableFunc(engines, func(a, b *probes.Request) int { return cmp.Compare(endOf(a), endOf(b)) })
	last := engines[len(engines)-1]
	before := float64(last.Arrived.UnixNano()-s.start) / 1e9
	after := float64(s.end-endOf(last)) / 1e9
	if before < -startSlack || after < -endSlack {
		return nil, faultClocks
	}
	r := *last
	left := max(before, 0)
	have := func(st probes.Stage, seconds float64) {
		seconds = min(max(seconds, 0), left)
		r.Stages[st] += seconds
		left -= seconds
	}
	for _, e := range engines[:len(engines)-1] {
		have(probes.StageQueue, e.Stages[probes.StageQueue])
		have(probes.StagePrefill, e.Stages[probes.StagePrefill])
	}
	for _, x := range spans {
		if x.piece.stage == probes.StageQueue {
			have(probes.StageQueue, x.seconds())
		}
	}
	have(probes.StageReceive, left)
	r.Stages[probes.StageSend] += max(after, 0)
	own := s.newRequest()
	r.Arrived = own.Arrived
	r.ID, r.Finish = own.ID, cmp.Or(own.Finish, r.Finish)
	r.PromptTokens, r.CachedTokens = cmp.Or(r.PromptTokens, own.PromptTokens), cmp.Or(r.CachedTokens, own.CachedTokens)
	r.OutputTokens = cmp.Or(r.OutputTokens, own.OutputTokens)
	if ttft, ok := s.facts.get(factTTFT); ok {
		r.TTFTSeconds = probes.Some(ttft)
	} else if ttft, ok := r.TTFTSeconds.Get(); ok {
		r.TTFTSeconds = probes.Some(ttft + max(before, 0))
	}
	return &r, finish(&r)
}

// endOf is when a request ended, ns since 1970.
func endOf(r *probes.Request) int64 { return r.Arrived.UnixNano() + int64(r.E2ESeconds.Or(0)*1e9) }
