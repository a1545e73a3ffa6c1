package rules

import (
	"cmp"
	"math"
	"slices"

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
	r := &n.records
	ttft, wide := spanOf(r.ttfts)
	n.firsts = ttft
	n.ttft, n.ttftNow = exactlyOf(ttft, wide), newest(ttft)
	tpot, wide := spanOf(r.tpots)
	n.tpot, n.tpotNow = exactlyOf(tpot, wide), newest(tpot)
	e2e, wide := spanOf(r.e2es)
	n.e2e, n.e2eNow = exactlyOf(e2e, wide), newest(e2e)
	n.prompt, n.output = exactlyOf(spanOf(r.prompts)), exactlyOf(spanOf(r.outputs))
	n.stages = stageMeans{ttft: beforeFirstToken(ttft), e2e: whole(e2e)}
	for _, o := range tpot {
		n.stages.tpot.n += float64(o.of.OutputTokens - 1)
		n.stages.tpot.sum[probes.StageDecode] += o.of.Stages[probes.StageDecode]
	}
	n.stages.tpot.total = n.stages.tpot.sum[probes.StageDecode]
}

// ttfts are the first tokens of the last seconds, and the waiting requests: one
// that still waits counts with its age once that exceeds the p95 of those that got theirs.
func (r *records) ttfts(last float64) []observation {
	out := r.room()
	for _, list := range [][]seen{r.finished, r.running} {
		for _, s := range list {
			if v, ago, ok := s.firstToken(); ok && ago <= last {
				out = append(out, observation{value: v, ago: ago, of: s.r})
			}
		}
	}
	p95, _ := exactly(valuesOf(out)).quantile(0.95).Get()
	for _, list := range [][]seen{r.running, r.finished} {
		for _, s := range list {
			if v, ok := s.waited(); ok && v > p95 && s.endedAgo() <= last {
				out = append(out, observation{value: v, ago: s.endedAgo(), censored: true, of: s.r})
			}
		}
	}
	return out
}

// room is an empty set that can hold every request without growing.
func (r *records) room() []observation {
	return make([]observation, 0, len(r.finished)+len(r.running))
}

// endedAgo is 0 for a request in flight.
func (s seen) endedAgo() float64 {
	if s.r.Finish == "" {
		return 0
	}
	return s.ago
}

// tpots are the time per output token of what finished in the last seconds, and
// of what is decoding now once it has a few tokens.
func (r *records) tpots(last float64) []observation {
	out := r.room()
	for _, s := range r.finished {
		if v, ok := s.r.TPOTSeconds(); ok && s.ago <= last {
			out = append(out, observation{value: v, ago: s.ago, of: s.r})
		}
	}
	for _, s := range r.running {
		if v, ok := s.r.TPOTSeconds(); ok && s.r.OutputTokens >= enough {
			out = append(out, observation{value: v, of: s.r})
		}
	}
	return out
}

func (r *records) e2es(last float64) []observation {
	out := r.room()
	for _, s := range r.finished {
		if v, ok := s.r.E2ESeconds.Get(); ok && s.ago <= last && s.r.Finish != "rejected" {
			out = append(out, observation{value: v, ago: s.ago, of: s.r})
		}
	}
	return out
}

// prompts are the lengths of all that finished or is in flight, waiting requests
// included, so that a changed mix shows at once. 0 was refused before it was tokenized.
func (r *records) prompts(last float64) []observation {
	out := r.room()
	for _, list := range [][]seen{r.finished, r.running} {
		for _, s := range list {
			if ago := s.endedAgo(); s.r.PromptTokens > 0 && ago <= last {
				out = append(out, observation{value: float64(s.r.PromptTokens), ago: ago})
			}
		}
	}
	return out
}

func (r *records) outputs(last float64) []observation {
	out := r.room()
	for _, s := range r.finished {
		if s.r.OutputTokens > 0 && s.ago <= last {
			out = append(out, observation{value: float64(s.r.OutputTokens), ago: s.ago})
		}
	}
	return out
}

// spanOf is a set over the now span, or over the wide one when that is too small.
func spanOf(set func(last float64) []observation) (all []observation, wide bool) {
	if all = set(nowSpan.Seconds()); len(all) >= enough {
		return all, false
	}
	return set(wideSpan.Seconds()), true
}

func valuesOf(all []observation) []float64 {
	out := make([]float64, len(all))
	for i, o := range all {
		out[i] = o.value
	}
	return out
}

// newest is the median of the last recentSpan, of the three newest when it holds fewer.
func newest(all []observation) quick {
	values := make([]float64, 0, len(all))
	for _, o := range all {
		if o.ago <= recentSpan.Seconds() {
			values = append(values, o.value)
		}
	}
	if len(values) < 3 {
		byAge := slices.Clone(all)
		slices.SortStableFunc(byAge, func(a, b observation) int { return cmp.Compare(a.ago, b.ago) })
		values = valuesOf(byAge[:min(3, len(byAge))])
	}
	l := exactly(values)
	return quick{median: l.quantile(0.5), n: float64(len(values))}
}

// beforeFirstToken splits each TTFT into the stages before the first token; what
// no stage holds is the writing of that token.
func beforeFirstToken(all []observation) parts {
	var p parts
	for _, o := range all {
		rest := o.value
		for st := probes.StageReceive; st <= probes.StagePrefill; st++ {
			p.sum[st] += o.of.Stages[st]
			rest -= o.of.Stages[st]
		}
		p.sum[probes.StageSend] += math.Max(rest, 0)
		p.total += o.value + math.Max(-rest, 0)
		p.n++
	}
	return p
}

func whole(all []observation) parts {
	var p parts
	for _, o := range all {
		for st, seconds := range o.of.Stages {
			p.sum[st] += seconds
			p.total += seconds
		}
		p.n++
	}
	return p
}
