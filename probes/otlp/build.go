package otlp

import (
	"math"
	"time"

	"llmtop/probes"
)

// fault is why a request is left out.
type fault string

const (
	faultTimes  fault = "times that cannot be"
	faultClocks fault = "clocks that disagree"
	faultUntold fault = "no times of stages"
)

// How far times may be off without meaning anything [proposal].
const (
	startSlack = 0.02           // seconds: clocks of one cluster, kept by NTP, differ by less
	endSlack   = 0.25           // seconds: a span of a stage may be closed late
	longest    = 24 * 3600      // seconds: no request takes longer
	future     = time.Hour      // an engine's clock may be ahead of this one's
	past       = 48 * time.Hour // a request of the longest kind, sent late
	maxTokens  = 1 << 30
)

func (s *span) seconds() float64 { return float64(s.end-s.start) / 1e9 }

func asTime(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }

// sound reports times that can be: a span of some length, in our days.
func (s *span) sound(now time.Time) bool {
	length := s.seconds()
	return s.start > 0 && length >= 0 && length <= longest &&
		s.end <= now.Add(future).UnixNano() && s.start >= now.Add(-past).UnixNano()
}

// newRequest is what any request's span tells.
func (s *span) newRequest() *probes.Request {
	r := &probes.Request{State: "finished", Arrived: probes.Stamp(time.Unix(0, s.start))}
	if f := s.facts; f != nil {
		r.ID, r.Finish = f.id, f.finish
		r.PromptTokens, r.CachedTokens, r.OutputTokens = f.tokens(factPrompt), f.tokens(factCached), f.tokens(factOutput)
	}
	if r.ID == "" {
		r.ID = hashed(string(s.trace[:]) + string(s.id[:]))
	}
	if s.failed {
		r.Finish = "error"
	}
	return r
}

func (f *facts) tokens(x fact) int {
	n, ok := f.get(x)
	if !ok || n < 0 || n > maxTokens {
		return 0
	}
	return int(n)
}

// told are seconds as an engine tells them.
type told struct{ before, queue, prefill, decode, after float64 }

// coarseStages gives a request its stages and its end-to-end time. Parts that are below
// zero by less than startSlack are readings of several clocks: they are zero, and the
// largest part gives what is then too much. Anything else that cannot be is a fault.
func coarseStages(r *probes.Request, t told, e2e float64) fault {
	parts := [...]float64{t.before, t.queue, t.prefill, t.decode, t.after}
	total, largest := 0.0, 0
	for i, x := range parts {
		if math.IsNaN(x) || x < -startSlack || x > longest {
			return faultTimes
		}
		parts[i] = math.Max(x, 0)
		total += parts[i]
		if parts[i] > parts[largest] {
			largest = i
		}
	}
	parts[largest] -= total - e2e
	if parts[largest] < 0 || total-e2e < -startSlack || total-e2e > 3*startSlack {
		return faultTimes
	}
	for i, st := range [...]probes.Stage{probes.StageReceive, probes.StageQueue, probes.StagePrefill, probes.StageDecode, probes.StageSend} {
		r.Stages[st] = parts[i]
	}
	return finish(r)
}

// finish rounds the stages, gives the request the sum of them as its end-to-end time and
// holds its TTFT against that.
func finish(r *probes.Request) fault {
	e2e := 0.0
	for i, x := range r.Stages {
		r.Stages[i] = probes.Seconds(asTime(x))
		e2e += r.Stages[i]
	}
	r.E2ESeconds = probes.Some(e2e)
	if ttft, ok := r.TTFTSeconds.Get(); ok {
		if ttft < 0 || ttft > e2e+startSlack {
			return faultTimes
		}
		r.TTFTSeconds = probes.Some(min(probes.Seconds(asTime(ttft)), e2e))
	}
	return ""
}
