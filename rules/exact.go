package rules

import (
	"iter"
	"math"

	"llmtop/probes"
)

// observation is one request in a set: a value, and how long ago it came about.
type observation struct {
	value, ago float64
	censored   bool // the value is a lower bound: the request still waits
	of         *probes.Request
}

// fromRecords fills the latencies and stage means from per-request records.
func (n *now) fromRecords() {
	var tpot, e2e spanSet
	n.firsts, n.ttft, n.ttftNow = n.records.measured(ofTTFT)
	tpot, n.tpot, n.tpotNow = n.records.measured(ofTPOT)
	e2e, n.e2e, n.e2eNow = n.records.measured(ofE2E)
	_, n.prompt = n.records.spanOf(ofPrompt)
	_, n.output = n.records.spanOf(ofOutput)
	n.stages = stageMeans{ttft: beforeFirstToken(n.firsts.all()), e2e: whole(e2e.all())}
	for o := range tpot.all() {
		n.stages.tpot.n += float64(o.of.OutputTokens - 1)
		n.stages.tpot.sum[probes.StageDecode] += o.of.Stages[probes.StageDecode]
	}
	n.stages.tpot.total = n.stages.tpot.sum[probes.StageDecode]
}

// fillFromHistograms takes from the histograms what partial records tell too little of
// now: they may be a sample, and tell of a request when it has ended, seconds late.
func (n *now) fillFromHistograms() {
	h := *n
	h.fromHistograms()
	if n.ttft.fewerThan(h.ttft) {
		n.ttft, n.ttftNow, n.firsts = h.ttft, h.ttftNow, spanSet{}
		if h.stages.ttft.n > 0 {
			n.stages.ttft = h.stages.ttft
		}
	}
	if n.tpot.fewerThan(h.tpot) {
		n.tpot, n.tpotNow, n.stages.tpot = h.tpot, h.tpotNow, h.stages.tpot
	}
	if n.e2e.fewerThan(h.e2e) {
		n.e2e, n.e2eNow = h.e2e, h.e2eNow
		if h.stages.e2e.n > 0 {
			n.stages.e2e = h.stages.e2e
		}
	}
	if n.prompt.fewerThan(h.prompt) {
		n.prompt = h.prompt
	}
	if n.output.fewerThan(h.output) {
		n.output = h.output
	}
}

// measured is a measure now, and the median of its newest part.
func (r *records) measured(m measure) (spanSet, latency, quick) {
	s, l := r.spanOf(m)
	q, room := s.newest(r.ledger.few)
	r.ledger.few = room
	return s, l, q
}

// spanOf is a measure over the now span, or over the wide one when that holds too few.
func (r *records) spanOf(m measure) (spanSet, latency) {
	s := r.set(m, nowSpan.Seconds())
	wide := len(s.values) < enough
	if wide {
		s = r.set(m, wideSpan.Seconds())
	}
	l := exactly(s.values)
	l.wide = wide
	return s, l
}

// inFlightOf appends what requests in flight tell of a measure: those that have their
// first token, those that are decoding once they have a few tokens, and the prompts of
// all, waiting requests included, so that a changed mix shows at once.
func (r *records) inFlightOf(m measure, last float64, out []observation) []observation {
	for _, s := range r.running {
		switch m {
		case ofTTFT:
			if v, lag, ok := firstToken(s.r); ok && s.ago+lag <= last {
				out = append(out, observation{value: v, ago: s.ago + lag, of: s.r})
			}
		case ofTPOT:
			if v, ok := s.r.TPOTSeconds(); ok && s.r.OutputTokens >= enough {
				out = append(out, observation{value: v, of: s.r})
			}
		case ofPrompt:
			if ago := s.endedAgo(); s.r.PromptTokens > 0 && ago <= last {
				out = append(out, observation{value: float64(s.r.PromptTokens), ago: ago, of: s.r})
			}
		}
	}
	return out
}

// waitingOver appends the requests that wait for their first token, or gave up: each counts with
// its age once that exceeds the p95 of those that got theirs.
func (r *records) waitingOver(p95, last float64, out []observation) []observation {
	for _, s := range r.running {
		if v, ok := waited(s.r); ok && v > p95 && s.endedAgo() <= last {
			out = append(out, observation{value: v, ago: s.endedAgo(), censored: true, of: s.r})
		}
	}
	for i := range r.ledger.told {
		t := &r.ledger.told[i]
		for j := range t.gaveUp {
			e := &t.gaveUp[j]
			if ago := t.agoOf(e); e.value > p95 && ago <= last {
				out = append(out, observation{value: e.value, ago: ago, censored: true, of: e.of})
			}
		}
	}
	return out
}

// endedAgo is 0 for a request in flight.
func (s seen) endedAgo() float64 {
	if s.r.Finish == "" {
		return 0
	}
	return s.ago
}

// beforeFirstToken splits each TTFT into the stages before the first token; what
// no stage holds is the writing of that token. With one request among them whose stages
// are told coarsely all are.
func beforeFirstToken(all iter.Seq[observation]) parts {
	var p parts
	coarse := false
	for o := range all {
		coarse = coarse || o.of.Coarse
		rest := o.value
		for st := probes.StageReceive; st <= probes.StagePrefill; st++ {
			p.sum[st] += o.of.Stages[st]
			rest -= o.of.Stages[st]
		}
		p.sum[probes.StageSend] += math.Max(rest, 0)
		p.total += o.value + math.Max(-rest, 0)
		p.n++
	}
	if coarse {
		return p.coarsened()
	}
	return p
}

func whole(all iter.Seq[observation]) parts {
	var p parts
	coarse := false
	for o := range all {
		coarse = coarse || o.of.Coarse
		for st, seconds := range o.of.Stages {
			p.sum[st] += seconds
			p.total += seconds
		}
		p.n++
	}
	if coarse {
		return p.coarsened()
	}
	return p
}
