package twin

import (
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// canary is llmtop's own requests to a replica: the smallest that there are, sent from where
// clients are, so that they tell what lies between. One is under way at a time.
type canary struct {
	job          *job // under way
	sent, failed float64
	last         *probes.Canary // how the newest fared; nil: none has come back
}

// What package probes/canary sends and asks for, and how long it waits.
const (
	canaryBytes  = 190
	canaryPrompt = 18
	canaryTokens = 8
	canaryWaits  = 30 * time.Second
)

// SendCanary sends a replica a request of llmtop's own, unless one is under way still; one that
// waits for too long is given up.
func (s *Simulation) SendCanary(to int) {
	r := s.replicas[to]
	c := &r.canary
	if c.job != nil && s.now-c.job.at < canaryWaits {
		return
	}
	if j := c.job; j != nil {
		c.fail(s, 0, "no answer within 30s")
		j.canary = nil
		r.doom(j, engine.FinishAbort)
	}
	c.sent++
	s.tally.Arrived++
	q := workload.Request{Prompt: canaryPrompt, Output: canaryTokens, Bytes: canaryBytes, Stream: true}
	var first *replica
	if p := s.scenario.Prefills; p > 0 {
		first = s.choose(s.replicas[:p], nil)
	}
	if !r.up || s.scenario.Prefills > 0 && first == nil {
		s.tally.Refused++
		s.tally.Failed++
		c.fail(s, 0, "connection refused")
		return
	}
	c.job = s.admit(&q, r, first, 0) // head and body go out together
	c.job.canary = c
}

// fail notes a canary that has not come back as it should.
func (c *canary) fail(s *Simulation, status int, why string) {
	c.job, c.failed = nil, c.failed+1
	c.last = &probes.Canary{At: probes.Stamp(s.time(s.now)), Status: status, Err: why, Sent: probes.Some(c.sent), Failed: probes.Some(c.failed)}
}

// over notes how a canary fared that has ended, as its client saw it. Each token is a read of its
// own, unless a proxy keeps them until all are there.
func (c *canary) over(j *job, s *Simulation) {
	switch j.finish {
	case engine.FinishStop, engine.FinishLength:
	case engine.FinishRejected:
		c.fail(s, 429, "the engine refused it (429)")
		return
	default:
		c.fail(s, 0, "the connection broke")
		return
	}
	e2e, tokens := s.network.passed(s.now)-j.at, len(j.seq.Output)
	out := &probes.Canary{
		At: probes.Stamp(s.time(s.now)), Status: 200, Sent: probes.Some(c.sent), Failed: probes.Some(c.failed), Tokens: probes.Some(float64(tokens)),
		DialSeconds: probes.Some(canaryDial.Seconds()), TTFTSeconds: probes.Some(exact(e2e)), E2ESeconds: probes.Some(exact(e2e)), Chunks: probes.Some(1.0),
	}
	if !s.buffered {
		ttft := min(s.network.passed(j.seen)-j.at, e2e)
		chunks := s.network.chunks(e2e-ttft, tokens)
		out.TTFTSeconds, out.Chunks = probes.Some(exact(ttft)), probes.Some(float64(chunks))
		if chunks > 1 {
			out.ITLSeconds, out.MaxITL = probes.Some(exact((e2e-ttft)/time.Duration(tokens-1))), probes.Some(exact(max(j.gap, s.network.quantum)))
		}
	}
	c.job, c.last = nil, out
}

// canaryDial is a round trip to a server near by.
const canaryDial = 400 * time.Microsecond

// Canary is how the newest canary to a replica fared; nil: none has come back yet.
func (s *Simulation) Canary(replica int, endpoint string) *probes.Canary {
	last := s.replicas[replica].canary.last
	if last == nil {
		return nil
	}
	told := *last
	told.Endpoint = endpoint
	return &told
}
