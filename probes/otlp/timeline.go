package otlp

import "llmtop/probes"

// interval is when a stage was, in ns since 1970: from the start of its first span to
// the end of its last. Spans that are sent twice change nothing.
type interval struct {
	start, end int64
	firstEnd   int64 // end of the span that began first
	set        bool
}

func (i *interval) add(start, end int64) {
	switch {
	case !i.set:
		*i = interval{start, end, end, true}
	case start < i.start:
		i.start, i.firstEnd = start, end
	}
	i.end = max(i.end, end)
}

func (i *interval) seconds() float64 { return float64(i.end-i.start) / 1e9 }

// merge takes in all that another one holds.
func (i *interval) merge(o interval) {
	if o.set {
		i.add(o.start, o.firstEnd)
		i.end = max(i.end, o.end)
	}
}

// gaps say which stage the time before a stage belongs to when no span covers it.
var gaps = [probes.NumStages]probes.Stage{
	probes.StageParse:      probes.StageReceive,
	probes.StageAuth:       probes.StageReceive,
	probes.StageTokenize:   probes.StageReceive,
	probes.StageAssemble:   probes.StageAssemble,
	probes.StageQueue:      probes.StageAssemble,
	probes.StageBatch:      probes.StageBatch,
	probes.StagePrefill:    probes.StageBatch,
	probes.StageDecode:     probes.StageDecode, // the first token is there
	probes.StageDetokenize: probes.StageSend,
	probes.StageSend:       probes.StageSend,
}

// cut divides the time of a request among its stages. Each begins where the one before
// ends, so they add up to the whole exactly; where two overlap the earlier one has the
// time. What no span covers goes to a neighbour, see gaps, and what is left at the end to send.
func cut(start, end int64, stages *[probes.NumStages]interval) (out probes.StageSeconds) {
	cursor := start
	move := func(st probes.Stage, to int64) {
		if to = min(to, end); to > cursor {
			out[st] += float64(to-cursor) / 1e9
			cursor = to
		}
	}
	for st := range stages {
		if i := &stages[st]; i.set {
			move(gaps[st], i.start)
			move(probes.Stage(st), i.end)
		}
	}
	move(probes.StageSend, end)
	return out
}

// within reports that all stages lie inside a request, but for the slack that clocks of
// one cluster, and spans that are closed late, have.
func within(start, end int64, stages *[probes.NumStages]interval) bool {
	for _, i := range stages {
		if i.set && (float64(start-i.start)/1e9 > startSlack || float64(i.start-end)/1e9 > startSlack || float64(i.end-end)/1e9 > endSlack) {
			return false
		}
	}
	return true
}
