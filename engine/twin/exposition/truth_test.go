package exposition

import (
	"llmtop/engine"
)

// first is the truth about a request's first token.
func (l *life) first(r *living) {
	l.add("prompt", r.Prompt)
	l.add("cached", r.Cached)
	l.add("received", r.Received)
	l.add("computed", r.Prompt-r.Cached-r.Received)
	l.add("ended computed", r.Prompt-r.Cached-r.Received)
	l.observe("ttft", r.TTFT)
	seen := r.TTFT - r.part(engine.StageReceive, engine.StageParse)
	l.observe("handler ttft", seen)
	if !r.AtOnce {
		l.observe("streamed ttft", seen)
	}
	l.observe("first prefill", r.part(engine.StageBatch, engine.StagePrefill))
	if r.Transfer > 0 {
		l.observe("transfer", r.Transfer)
	}
}

var (
	front = []engine.Stage{engine.StageAuth, engine.StageTokenize, engine.StageAssemble}
	inner = []engine.Stage{engine.StageQueue, engine.StageBatch, engine.StagePrefill, engine.StageDecode}
)

// closed is the truth about a request that has ended.
func (l *life) closed(r *living) {
	l.add(string(r.Finish), 1)
	well := r.Finish == engine.FinishStop || r.Finish == engine.FinishLength
	if well || r.TTFT > 0 {
		l.add("processed", 1)
		l.add("processed prompt", r.Prompt)
		l.observe("processed prompt", float64(r.Prompt))
		l.observe("processed output", float64(r.Output))
		l.observe("processed e2e", r.part(front...)+r.part(inner...)+r.part(engine.StageDetokenize))
	}
	if !well {
		return
	}
	l.add("answered", 1)
	l.add("answered prompt", r.Prompt)
	l.add("answered cached", r.Cached)
	l.add("answered output", r.Output)
	if r.Output > 1 {
		l.observe("tpot", r.TPOT)
	}
	handler := r.part(front...) + r.part(inner...)
	l.observe("e2e", handler+r.part(engine.StageReceive, engine.StageParse))
	l.observe("handler e2e", handler)
	l.observe("text e2e", handler+r.part(engine.StageDetokenize))
	l.observe("frontend", r.part(front...)+r.part(engine.StageReceive, engine.StageParse))
	l.observe("handler frontend", r.part(front...))
	l.observe("queue", r.part(engine.StageQueue))
	l.observe("prefill", r.part(engine.StageBatch, engine.StagePrefill))
	l.observe("decode", r.part(engine.StageDecode))
	l.observe("answered ttft", r.TTFT-r.part(engine.StageReceive, engine.StageParse))
	l.observe("prompt", float64(r.Prompt))
	l.observe("output", float64(r.Output))
	inference := r.part(engine.StageBatch, engine.StagePrefill, engine.StageDecode, engine.StageDetokenize)
	l.observe("inference a token", inference/float64(r.Output))
}

// stepTruth is the truth about a step.
func (l *life) stepTruth(s *Step) {
	l.stepped = l.state
	l.add("generated", s.First+s.Decode)
	l.add("preempted", s.Preempts)
	l.add("prefilled", s.Prefill)
	l.add("hits", s.Hits)
	l.add("drafts", s.Drafts)
	l.add("drafted", s.Drafted)
	l.add("accepted", s.Accepted)
	if s.Prefills+s.Decodes > 0 {
		l.observe("step tokens", float64(s.Prefill+s.Decodes+s.Drafted))
		if s.Prefills > 0 {
			l.observe("prefill calls", s.Seconds)
		} else {
			l.observe("decode calls", s.Seconds)
		}
	}
	if n := s.First + s.Decode; n > 0 {
		l.observe("told step tokens", float64(n)+l.numbers["ended computed"])
		l.numbers["ended computed"] = 0
	}
	l.logs(s)
	if l.tgiQueue < 0 {
		l.tgiQueue = l.state.Waiting
	}
}

// logs is what SGLang's intervals of 40 decode steps let it tell.
func (l *life) logs(s *Step) {
	if s.Prefills > 0 {
		l.logged, l.idleSince = l.state, s.At
	}
	l.decoded += s.Decode
	if s.Decodes == 0 {
		return
	}
	if l.decodeSteps++; l.decodeSteps%40 == 0 {
		l.logged, l.idleSince = l.state, s.At
		l.add("logged decoded", l.decoded)
		l.decoded = 0
	}
}
