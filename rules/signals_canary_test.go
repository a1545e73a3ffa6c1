package rules

import (
	"testing"

	"llmtop/probes"
)

// canary is a section read at a second; without a time it is one that failed.
func canary(second float64, endpoint string, ttft, tokens, reads, sent, failed float64) *probes.Canary {
	c := &probes.Canary{At: at(second), Endpoint: endpoint, Status: 200, Sent: probes.Some(sent), Failed: probes.Some(failed), DialSeconds: probes.Some(0.002)}
	if ttft == 0 {
		c.Status, c.Err = 503, "the server answered 503 Service Unavailable"
		return c
	}
	c.Tokens, c.Chunks, c.TTFTSeconds, c.E2ESeconds = probes.Some(tokens), probes.Some(reads), probes.Some(ttft), probes.Some(ttft+0.2)
	if reads > 1 {
		c.ITLSeconds = probes.Some(0.02)
	}
	return c
}

func canaries(second float64, all ...*probes.Canary) *probes.Sample {
	s := sample(second)
	s.Canaries = all
	for _, c := range all {
		s.Probes = append(s.Probes, probes.ProbeStatus{Name: "canary " + c.Endpoint, EverySeconds: 10})
	}
	return s
}

func TestCanarySignals(t *testing.T) {
	a := canary(0, "http://e", 0.120, 8, 8, 1, 0)
	s := signalsOf(canaries(0, a), canaries(1, a))
	near(t, s, "canary.ttft", 0.120)
	near(t, s, "canary.itl", 0.02)
	near(t, s, "canary.e2e", 0.32)
	near(t, s, "canary.dial", 0.002)
	near(t, s, "canary.buffered", 1)
	near(t, s, "canary.failed_share", 0)
	absent(t, s, "canary.ttft_excess", probes.NotSeen) // the server tells nothing

	held := canary(10, "http://e", 0.4, 8, 1, 2, 0)
	s = signalsOf(canaries(0, a), canaries(10, held))
	near(t, s, "canary.buffered", 8)
	absent(t, s, "canary.itl", probes.NotSeen)

	short := canary(10, "http://e", 0.4, 3, 1, 2, 0)
	absent(t, signalsOf(canaries(10, short)), "canary.buffered", probes.NotSeen)

	worse := canary(10, "http://f", 0.9, 8, 8, 1, 0)
	near(t, signalsOf(canaries(10, worse, held)), "canary.ttft", 0.9)
	near(t, signalsOf(canaries(10, held, worse)), "canary.ttft", 0.9)
}

func TestCanariesThatFail(t *testing.T) {
	good, bad := canary(0, "http://e", 0.1, 8, 8, 1, 0), canary(10, "http://e", 0, 0, 0, 2, 1)
	again := canary(20, "http://e", 0, 0, 0, 3, 2)
	better := canary(21, "http://e", 0.1, 8, 8, 4, 2)
	s := signalsOf(canaries(0, good), canaries(10, bad), canaries(20, again), canaries(21, better))
	near(t, s, "canary.failed_share", 2.0/3)
	near(t, s, "canary.ttft", 0.1)

	s = signalsOf(canaries(10, bad))
	near(t, s, "canary.failed_share", 1)
	absent(t, s, "canary.ttft", probes.NotSeen)
	near(t, signalsOf(canaries(300, bad)), "canary.failed_share", 1) // it stands until the next one
	absent(t, signalsOf(canaries(400, bad)), "canary.failed_share", probes.Stale)
}

func TestCanariesGrowOld(t *testing.T) {
	a := canary(0, "http://e", 0.1, 8, 8, 1, 0)
	near(t, signalsOf(canaries(30, a)), "canary.ttft", 0.1)
	absent(t, signalsOf(canaries(31, a)), "canary.ttft", probes.Stale)
	slow := canaries(170, a)
	slow.Probes[0].EverySeconds = 60
	near(t, signalsOf(slow), "canary.ttft", 0.1)
	absent(t, signalsOf(sample(1)), "canary.ttft", probes.NotSeen)
	absent(t, signalsOf(sample(1)), "canary.failed_share", probes.NotSeen)
}

// TestCanaryExcess: what the client waits beyond the server's own median.
func TestCanaryExcess(t *testing.T) {
	var done []*probes.Request
	for i := range 9 {
		done = append(done, finished(uint64(i+1), 0.03, 0.05, 0.1, 10))
	}
	first := canaries(0)
	first.Requests = []*probes.Requests{section(0, 0)}
	last := canaries(5, canary(4, "http://e", 0.280, 8, 8, 1, 0))
	last.Requests = []*probes.Requests{section(5, 0, done...)}
	s := signalsOf(first, last)
	near(t, s, "ttft.p50", 0.08)
	near(t, s, "canary.ttft_excess", 0.2)
	near(t, s, "canary.buffered", 1) // 8 tokens at 0.1/9 s each take longer than 40 ms
}

// TestFastEnginesAreNotCalledBuffered: tokens that come within 40 ms may well come in one read.
func TestFastEnginesAreNotCalledBuffered(t *testing.T) {
	var done []*probes.Request
	for i := range 9 {
		done = append(done, finished(uint64(i+1), 0.03, 0.05, 0.02, 10))
	}
	first := canaries(0)
	first.Requests = []*probes.Requests{section(0, 0)}
	last := canaries(5, canary(4, "http://e", 0.050, 8, 1, 1, 0))
	last.Requests = []*probes.Requests{section(5, 0, done...)}
	absent(t, signalsOf(first, last), "canary.buffered", probes.NotSeen)
}
