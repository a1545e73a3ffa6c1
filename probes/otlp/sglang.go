package otlp

import (
	"strings"

	"llmtop/probes"
)

// sglangAttributes mark the spans: a request's has its id, that of a thread (tokenizer,
// scheduler of a rank) a label. gen_ai.latency.time_in_model_prefill of SGLang has the
// queue in it and is not used.
var sglangAttributes = map[string]meaning{
	"rid":          {factRequest, asMark},
	"thread_label": {factThread, asMark},
}

// sglangStages are the spans below a thread's span, by name. Names of 0.5.3 on: RequestStage
// of schedule_batch.py, later of req_time_stats.py; the two with a blank or without a
// suffix are the first ones. A span of a step or chunk (level 3) is part of a longer one.
var sglangStages = map[string]piece{
	"tokenize":            {stage: probes.StageTokenize},
	"dispatch":            {stage: probes.StageAssemble}, // to the scheduler's process
	"api_server_dispatch": {stage: probes.StageAssemble},
	"dc_dispatch":         {stage: probes.StageAssemble},
	"dpc_dispatch":        {stage: probes.StageAssemble},
	"request_process":     {stage: probes.StageAssemble}, // in the scheduler, until it is in the queue
	"prefill_prepare":     {stage: probes.StageAssemble},
	"decode_prepare":      {stage: probes.StageAssemble},
	"prefill_waiting":     {stage: probes.StageQueue},
	"prefill_bootstrap":   {stage: probes.StageQueue}, // two engines: until they know each other
	"decode_bootstrap":    {stage: probes.StageQueue}, // and there is room for the KV cache
	"prefill_forward":     {stage: probes.StagePrefill},
	"prefill":             {stage: probes.StagePrefill},
	"chunked_prefill":     {stage: probes.StagePrefill, kind: part},
	"decode_transferred":  {stage: probes.StagePrefill, kind: handover}, // the other engine's prefill, and its KV cache on the way
	"decode_waiting":      {stage: probes.StageDecode, kind: part},
	"fake_output":         {stage: probes.StageDecode, kind: part},
	"quick_finish":        {stage: probes.StageDecode, kind: part},
	"decode_forward":      {stage: probes.StageDecode},
	"decode_loop":         {stage: probes.StageDecode, kind: part},
	"decode loop":         {stage: probes.StageDecode, kind: part},
}

// isSGLang knows the span of a request ("Req 0123abcd", with a role in front where two
// engines share requests), of a thread and of a stage.
func isSGLang(s *span, name string) bool {
	if p, ok := sglangStages[name]; ok {
		s.engine, s.role, s.piece = sglang, stage, p
		return true
	}
	if _, ok := s.facts.get(factThread); ok {
		s.engine, s.role = sglang, link
		return true
	}
	if _, ok := s.facts.get(factRequest); !ok {
		return false
	}
	kind, _, isRequest := strings.Cut(" "+name, " Req ")
	if !isRequest {
		return false
	}
	s.engine, s.role = sglang, request
	if strings.TrimSpace(kind) == "prefill" {
		s.role = half
	}
	return true
}

// sglangRequest cuts the time of a request by the spans below it. Every rank of the
// scheduler sends the same ones: a stage is over when the last rank is through, and
// prefill when the rank is that began first, as the first token is there then. A request
// that is taken out of the batch is prefilled again later; that is part of decode.
func sglangRequest(s *span, spans []stored) (*probes.Request, fault) {
	stages := sglangIntervals(spans)
	if !stages[probes.StagePrefill].set && !stages[probes.StageDecode].set {
		return nil, faultUntold
	}
	if !within(s.start, s.end, stages) {
		return nil, faultClocks
	}
	r := s.newRequest()
	r.Stages = cut(s.start, s.end, stages)
	if v, ok := s.facts.get(factTTFT); ok {
		r.TTFTSeconds = probes.Some(v)
	} else if prefill := stages[probes.StagePrefill]; prefill.set {
		r.TTFTSeconds = probes.Some(float64(min(prefill.end, s.end)-s.start) / 1e9)
	}
	return r, finish(r)
}

// sglangIntervals says when each stage was. Steps and chunks count where the span around
// them is missing; prefill ends with its first span, as a later one is not the first.
func sglangIntervals(spans []stored) *[probes.NumStages]interval {
	var by [numPieceKinds][probes.NumStages]interval
	for i := range spans {
		by[spans[i].piece.kind][spans[i].piece.stage].merge(spans[i].interval)
	}
	all := &by[whole]
	decode, prefill := &all[probes.StageDecode], &all[probes.StagePrefill]
	decode.merge(by[part][probes.StageDecode])
	if prefill.set {
		prefill.end = prefill.firstEnd
	} else {
		prefill.merge(by[part][probes.StagePrefill])
	}
	prefill.merge(by[handover][probes.StagePrefill])
	if decode.set && prefill.set {
		prefill.end = max(prefill.start, min(prefill.end, decode.start))
	}
	return all
}
