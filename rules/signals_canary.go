package rules

import (
	"time"

	"llmtop/probes"
)

// canaryRows are what requests of llmtop's own met, seen from the client. Of several
// engines the worst counts.
func canaryRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "canary", Step: step, Formula: formula,
			Source: "llmtop's own requests (--canary)", Needs: "canary", Export: exportName(name, unit, ""), at: at}
	}
	newest := func(of func(*probes.Canary) probes.Opt[float64]) func(*now) probes.Opt[float64] {
		return func(n *now) probes.Opt[float64] { return n.worstCanary(of) }
	}
	return []Signal{
		row("canary.ttft", "canary TTFT", "s", 0.020, "newest canary: request sent until its first token arrived; dialling is not in it",
			newest(func(c *probes.Canary) probes.Opt[float64] { return c.TTFTSeconds })),
		row("canary.itl", "canary ITL", "s", 0.005, "newest canary: mean time between its tokens; missing when all came in one read",
			newest(func(c *probes.Canary) probes.Opt[float64] { return c.ITLSeconds })),
		row("canary.e2e", "canary E2E", "s", 0.050, "newest canary: request sent until its answer ended",
			newest(func(c *probes.Canary) probes.Opt[float64] { return c.E2ESeconds })),
		row("canary.dial", "canary's dialling", "s", 0.010, "newest canary: until the connection stood, name look-up and TLS included",
			newest(func(c *probes.Canary) probes.Opt[float64] { return c.DialSeconds })),
		row("canary.ttft_excess", "canary TTFT beyond the server's", "s", 0.050,
			"canary.ttft minus ttft.p50: above 0, time is lost between client and engine (network, proxy, front end), for a canary's prompt is the shortest; below 0 it says nothing",
			ttftExcess),
		row("canary.buffered", "canary tokens a read", "count", 1, "newest canary of 4 tokens or more that the engine needs 40 ms for by tpot.p50: tokens over reads with tokens in them; 1 is a stream, 4 and more means that something on the way holds tokens back, or that the engine sends several at once",
			func(n *now) probes.Opt[float64] { return n.worstCanary(n.tokensPerRead) }),
		row("canary.failed_share", "failed canaries", "ratio", 0.1, "canaries that failed or were refused over all of the last 30 s, else the newest one", failedShare),
	}
}

// A stream is told from an answer in one piece by so many tokens, spread over so many
// seconds: TCP itself joins what is written within 40 ms (Linux's delayed ACK and Nagle's
// algorithm), and a busy client reads late.
const (
	wholeStream = 4
	spread      = 0.040
)

// tokensPerRead is missing where the tokens come too fast to tell; with an engine that
// does not tell its TPOT they are believed to be slow enough.
func (n *now) tokensPerRead(c *probes.Canary) probes.Opt[float64] {
	tokens, reads := c.Tokens.Or(0), c.Chunks.Or(0)
	if tokens < wholeStream || reads < 1 {
		return missing()
	}
	if tpot, ok := n.tpot.quantile(0.5).Get(); ok && tpot*(tokens-1) < spread {
		return missing()
	}
	return probes.Some(tokens / reads)
}

// worstCanary is the highest reading of the newest canaries that stand for now.
func (n *now) worstCanary(of func(*probes.Canary) probes.Opt[float64]) probes.Opt[float64] {
	out := missing()
	for _, c := range n.point.Canaries {
		x, ok := of(c).Get()
		switch {
		case !ok:
		case n.at.Sub(c.At) > n.canaryLasts(c):
			if !out.Seen() {
				out = probes.None[float64](probes.Stale)
			}
		default:
			out = probes.Some(max(x, out.Or(x)))
		}
	}
	return out
}

// canaryLasts is how long a canary stands for now: three of its paces. One that failed
// stands until the next, which is at most 5 minutes off (probes/canary backs off).
func (n *now) canaryLasts(c *probes.Canary) time.Duration {
	lasts := wideSpan
	for i := range n.point.Probes {
		if p := &n.point.Probes[i]; p.Name == "canary "+c.Endpoint {
			lasts = max(lasts, time.Duration(3*p.EverySeconds*float64(time.Second)))
		}
	}
	if c.Err != "" {
		lasts = max(lasts, 6*time.Minute)
	}
	return lasts
}

func ttftExcess(n *now) probes.Opt[float64] {
	canary := n.worstCanary(func(c *probes.Canary) probes.Opt[float64] { return c.TTFTSeconds })
	ours, ok := canary.Get()
	server, ok2 := n.ttft.quantile(0.5).Get()
	switch {
	case !ok:
		return canary
	case !ok2:
		return missing()
	}
	return probes.Some(ours - server)
}

// failedShare is the worst engine's share.
func failedShare(n *now) probes.Opt[float64] {
	return n.worstCanary(func(c *probes.Canary) probes.Opt[float64] {
		sent, _ := n.wide.Increase(canaryCounter(c.Endpoint, func(c *probes.Canary) probes.Opt[float64] { return c.Sent }))
		failed, _ := n.wide.Increase(canaryCounter(c.Endpoint, func(c *probes.Canary) probes.Opt[float64] { return c.Failed }))
		if s := sent.Or(0); s > 0 {
			return probes.Some(min(1, failed.Or(0)/s))
		}
		if c.Err != "" {
			return probes.Some(1.0)
		}
		return probes.Some(0.0)
	})
}

func canaryCounter(endpoint string, of func(*probes.Canary) probes.Opt[float64]) probes.Reading {
	return func(p *probes.Point) (float64, time.Time, bool) {
		for _, c := range p.Canaries {
			if c.Endpoint == endpoint {
				x, ok := of(c).Get()
				return x, c.At, ok
			}
		}
		return 0, time.Time{}, false
	}
}
