package rules

import (
	"math"

	"llmtop/probes"
)

// split turns histogram sums into parts: what the engine tells, the rest by difference.
// Queue times are told at the end of a request, long after the TTFT they belong to;
// while a queue stands, the seconds spent waiting (waitArea, the waiting gauge over time)
// per first token correct that: Little's law.
func (s sums) split(waitArea float64) stageMeans {
	var m stageMeans
	m.ttft = s.untilFirstToken(waitArea)
	m.e2e = s.whole()
	return m
}

// untilFirstToken splits the TTFT into frontend, queue and prefill. The frontend is what
// the TTFT holds beside the other two; an engine without prefill times tells prefill and
// frontend together, which counts as prefill but for what it says of its frontend. An
// engine without TTFT (TGI) has an estimate of it, the sum of the three.
func (s sums) untilFirstToken(waitArea float64) parts {
	n, queue, prefill := s.ttft.n, s.queue.mean(), s.prefill.mean()
	var total float64
	switch {
	case n > 0 && (s.queue.n > 0 || waitArea > 0):
		total = s.ttft.mean()
		queue = math.Max(queue, waitArea/n)
		if s.prefill.n > 0 {
			prefill = math.Min(prefill, total)
			queue = math.Min(queue, total-prefill)
		} else {
			queue = math.Min(queue, total)
			prefill = math.Max(total-queue-s.frontend.mean(), 0)
		}
	case n == 0 && s.queue.n > 0 && s.prefill.n > 0:
		n, total = s.queue.n, s.frontend.mean()+queue+prefill
	default:
		return parts{}
	}
	p := parts{n: n, total: total * n, coarse: true}
	p.sum[probes.StageQueue] = queue * n
	p.sum[probes.StagePrefill] = prefill * n
	p.sum[partFrontend] = rest(total, queue+prefill) * n
	return p
}

// rest is what is left of a total; what is no more than rounding is nothing.
func rest(total, told float64) float64 {
	if left := total - told; left > 1e-9*total {
		return left
	}
	return 0
}

// whole splits the E2E time. Without decode times decode is what comes after the first
// token, by means.
func (s sums) whole() parts {
	if s.e2e.n <= 0 {
		return parts{}
	}
	queue, prefill, decode, total := s.queue.mean(), s.prefill.mean(), s.decode.mean(), s.e2e.mean()
	switch {
	case s.decode.n > 0:
	case s.ttft.n > 0 && s.queue.n > 0:
		decode = math.Max(total-s.ttft.mean(), 0)
		if s.prefill.n <= 0 {
			prefill = math.Max(s.ttft.mean()-queue-s.frontend.mean(), 0)
		}
	case s.queue.n > 0 && s.prefill.n > 0:
		decode = math.Max(total-s.frontend.mean()-queue-prefill, 0)
	default:
		return parts{}
	}
	p := parts{n: s.e2e.n, total: s.e2e.sum, coarse: true}
	p.sum[probes.StageQueue] = queue * p.n
	p.sum[probes.StagePrefill] = prefill * p.n
	p.sum[probes.StageDecode] = decode * p.n
	p.sum[partFrontend] = rest(total, queue+prefill+decode) * p.n
	return p
}
