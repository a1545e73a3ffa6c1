package truth

import (
	"math"

	"llmtop/probes"
)

// The parts a latency is split into: the stages, and the frontend for all before the queue
// where they are not told apart.
const (
	frontend = int(probes.NumStages)
	numParts = frontend + 1
)

func partName(i int) string {
	if i == frontend {
		return "frontend"
	}
	return probes.StageNames[i]
}

// split is seconds of n requests by part. Coarse: only frontend, queue, prefill and decode
// are told apart.
type split struct {
	n, total float64
	sum      [numParts]float64
	coarse   bool
}

// split3 are those of the TTFT, of the time per output token (n counts tokens) and of the E2E.
type split3 struct{ ttft, tpot, e2e split }

func (s split) coarsened() split {
	if s.coarse {
		return s
	}
	out := split{n: s.n, total: s.total, coarse: true}
	for i, x := range s.sum {
		switch probes.Stage(i) {
		case probes.StageQueue, probes.StageBatch:
			out.sum[probes.StageQueue] += x
		case probes.StagePrefill, probes.StageDecode:
			out.sum[i] += x
		default:
			out.sum[frontend] += x
		}
	}
	return out
}

func (s split) plus(o split) split {
	if s.n == 0 {
		return o
	}
	if o.n == 0 {
		return s
	}
	if s.coarse != o.coarse {
		s, o = s.coarsened(), o.coarsened()
	}
	s.n, s.total = s.n+o.n, s.total+o.total
	for i := range s.sum {
		s.sum[i] += o.sum[i]
	}
	return s
}

func (s split3) plus(o split3) split3 {
	return split3{s.ttft.plus(o.ttft), s.tpot.plus(o.tpot), s.e2e.plus(o.e2e)}
}

// untilFirstToken splits each TTFT into the stages before the token; the rest is its sending.
func untilFirstToken(all []observation) (s split) {
	coarse := false
	for _, o := range all {
		left := o.value
		for st := probes.StageReceive; st <= probes.StagePrefill; st++ {
			s.sum[st] += o.of.Stages[st]
			left -= o.of.Stages[st]
		}
		s.sum[probes.StageSend] += math.Max(left, 0)
		s.n, s.total = s.n+1, s.total+o.value+math.Max(-left, 0)
		coarse = coarse || o.of.Coarse
	}
	if coarse {
		return s.coarsened()
	}
	return s
}

func untilEnd(all []observation) (s split) {
	coarse := false
	for _, o := range all {
		for st, seconds := range o.of.Stages {
			s.sum[st], s.total = s.sum[st]+seconds, s.total+seconds
		}
		s.n++
		coarse = coarse || o.of.Coarse
	}
	if coarse {
		return s.coarsened()
	}
	return s
}

func decoding(all []observation) (s split) {
	for _, o := range all {
		s.n += math.Max(0, float64(o.of.OutputTokens-1))
		s.sum[probes.StageDecode] += o.of.Stages[probes.StageDecode]
	}
	s.total = s.sum[probes.StageDecode]
	return s
}

func decodingCounts(c *counts) split {
	s := split{n: c.count(), total: c.total(), coarse: true}
	s.sum[probes.StageDecode] = s.total
	return s
}

// sums are the stage histograms of a span.
type sums struct{ ttft, frontend, queue, prefill, decode, e2e *counts }

func (v view) sumsOver(span view) sums {
	return sums{ttft: v.gathered(span, ttftTimes), frontend: v.gathered(span, frontendTimes), queue: v.gathered(span, queueTimes),
		prefill: v.gathered(span, prefillTimes), decode: v.gathered(span, decodeTimes), e2e: v.gathered(span, e2eTimes)}
}

// waitingSeconds is the waiting gauge over time at all engines, by trapezes.
func (v view) waitingSeconds(span view) (area float64) {
	for _, e := range counters(v.speakers(probes.Scheduler, waiting.told), waiting.told) {
		rs := span.readingsOf(e, waiting)
		for i := 1; i < len(rs); i++ {
			area += (rs[i].value + rs[i-1].value) / 2 * rs[i].at.Sub(rs[i-1].at).Seconds()
		}
	}
	return area
}

// split turns means by stage into parts. The frontend is what the TTFT holds beside queue and
// prefill. Queue times are told at a request's end, so that seconds spent waiting per first
// token (Little's law) count where they are more.
func (s sums) split(waited float64) (out split3) {
	queue, prefill, decode := s.queue.meanOr0(), s.prefill.meanOr0(), s.decode.meanOr0()
	front := s.frontend.meanOr0()
	n, total := s.ttft.count(), s.ttft.meanOr0()
	switch {
	case n > 0 && (s.queue.count() > 0 || waited > 0):
		q, p := math.Max(queue, waited/n), prefill
		if s.prefill.count() > 0 {
			p = math.Min(p, total)
			q = math.Min(q, total-p)
		} else {
			q = math.Min(q, total)
			p = math.Max(total-q-front, 0)
		}
		out.ttft = coarsely(n, total, q, p, 0)
	case n == 0 && s.queue.count() > 0 && s.prefill.count() > 0:
		out.ttft = coarsely(s.queue.n, front+queue+prefill, queue, prefill, 0)
	}
	if s.e2e.count() <= 0 {
		return out
	}
	whole := s.e2e.meanOr0()
	switch {
	case s.decode.count() > 0:
	case n > 0 && s.queue.count() > 0:
		decode = math.Max(whole-total, 0)
		if s.prefill.count() <= 0 {
			prefill = math.Max(total-queue-front, 0)
		}
	case s.queue.count() > 0 && s.prefill.count() > 0:
		decode = math.Max(whole-front-queue-prefill, 0)
	default:
		return out
	}
	out.e2e = coarsely(s.e2e.n, whole, queue, prefill, decode)
	return out
}

func coarsely(n, mean, queue, prefill, decode float64) split {
	s := split{n: n, total: n * mean, coarse: true}
	s.sum[probes.StageQueue], s.sum[probes.StagePrefill], s.sum[probes.StageDecode] = queue*n, prefill*n, decode*n
	if left := mean - queue - prefill - decode; left > 1e-9*mean {
		s.sum[frontend] = left * n
	}
	return s
}

// mean is seconds per request in a part: up to the first token of those with one, after it of
// those that ended.
func (m *measured) mean(i int) (float64, bool) {
	set := m.parts.e2e
	if i <= int(probes.StagePrefill) || i == frontend && m.parts.ttft.n > 0 {
		set = m.parts.ttft
	}
	if set.n == 0 && m.ttft.count() == 0 && m.exact && !m.whole {
		set = m.parts.e2e
	}
	if set.n <= 0 || (i == frontend) != set.coarse && !coarseToo(i) {
		return 0, false
	}
	return set.sum[i] / set.n, true
}

// coarseToo are the stages that histograms tell apart.
func coarseToo(i int) bool {
	return i == int(probes.StageQueue) || i == int(probes.StagePrefill) || i == int(probes.StageDecode)
}

// added is one part of an added latency.
type added struct{ seconds, share float64 }

// addedTo is how much longer each part takes than it did, per request; nil when the whole
// takes no longer.
func addedTo(now, base split) map[string]added {
	if now.n <= 0 {
		return nil
	}
	if base.n > 0 && now.coarse != base.coarse {
		now, base = now.coarsened(), base.coarsened()
	}
	var delta [numParts]float64
	total := 0.0
	for i := range delta {
		if delta[i] = now.sum[i] / now.n; base.n > 0 {
			delta[i] -= base.sum[i] / base.n
		}
		total += delta[i]
	}
	if total <= 0 {
		return nil
	}
	out := map[string]added{}
	for i, d := range delta {
		if d != 0 {
			out[partName(i)] = added{d, d / total}
		}
	}
	return out
}
