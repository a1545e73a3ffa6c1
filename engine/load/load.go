// Package load makes load for a serving engine and measures what a user of it
// would feel.
//
// A Config goes in, a Report comes out. Between them an open loop: arrivals are a
// Poisson process drawn beforehand, and a slow server changes nothing about when
// the next request leaves. Every latency counts from the moment a request should
// have arrived, not from when the client got round to it, so neither a stalled
// server nor a stalled client hides waiting time (no coordinated omission).
//
// Requests are streaming chat completions of the OpenAI API, on the one topic the
// model shipped with llmtop knows. Memory does not grow with the length of a run.
package load

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Run sends load until c.Duration is over, lets the requests still out finish,
// and reports. When ctx ends, requests still out are given up and counted as
// aborted; that is a normal end, not an error. An error means that the load never
// began: a bad Config, or a server that cannot be reached or is no such server.
func Run(ctx context.Context, c Config) (Report, error) {
	c, err := c.complete()
	if err != nil {
		return Report{}, err
	}
	cl := newClient(c)
	defer cl.close()
	if c.Model, err = cl.hello(ctx, c.Model); err != nil {
		return Report{}, err
	}
	cl.model = c.Model
	now := time.Now()
	g := &generator{cfg: c, client: cl, whole: newRecorder(c, now), interval: newRecorder(c, now)}
	stopProgress := g.startProgress()
	g.send(ctx)
	g.sendingEnds(time.Now())
	g.out.Wait()
	stopProgress()
	return g.whole.report(time.Now()), nil
}

type generator struct {
	cfg    Config
	client *client
	out    sync.WaitGroup // requests in flight

	mu       sync.Mutex
	inFlight int
	whole    *recorder
	interval *recorder
}

// send starts each request at its moment until the time or ctx is over. The body
// of the next request is made while waiting for it, so making it costs no latency.
func (g *generator) send(ctx context.Context) {
	arrivals := newArrivals(g.cfg.Seed, g.cfg.Rate)
	prompts := newPrompter(g.cfg)
	start := time.Now()
	for i := uint64(0); ; i++ {
		after := arrivals.next()
		if g.cfg.Duration > 0 && after >= g.cfg.Duration {
			waitUntil(ctx, start.Add(g.cfg.Duration))
			return
		}
		body := g.client.body(prompts.prompt(i), g.priority(i), g.cfg.Seed+int64(i))
		due := start.Add(after)
		if !waitUntil(ctx, due) {
			return
		}
		g.start(ctx, body, due)
	}
}

// priority is what the ith request asks for; it depends on the seed and i alone.
func (g *generator) priority(i uint64) string {
	n := len(g.cfg.Priorities)
	if n == 0 {
		return ""
	}
	return g.cfg.Priorities[rand.New(rand.NewPCG(uint64(g.cfg.Seed)^priorityStream, i)).IntN(n)]
}

const priorityStream = 0x9710_417e

// waitUntil returns false when ctx ended first.
func waitUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err() == nil
}

func (g *generator) sendingEnds(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.whole.lastSend = now
}

func (g *generator) start(ctx context.Context, body []byte, due time.Time) {
	if !g.admit() {
		return
	}
	g.out.Go(func() {
		o := g.client.do(ctx, body, due)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.inFlight--
		g.whole.add(o)
		g.interval.add(o)
		if g.cfg.Ended != nil {
			g.cfg.Ended(o.request(due, time.Now()))
		}
	})
}

// admit counts an arrival and says whether it may be sent.
func (g *generator) admit() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inFlight >= g.cfg.MaxInFlight {
		g.whole.capped++
		g.interval.capped++
		return false
	}
	g.inFlight++
	g.whole.sentNow(g.inFlight)
	g.interval.sentNow(g.inFlight)
	return true
}

// startProgress reports every interval until the returned func is called.
func (g *generator) startProgress() (stop func()) {
	if g.cfg.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(g.cfg.Interval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				g.cfg.Progress(g.turn(now))
			}
		}
	})
	return func() { close(done); running.Wait() }
}

// turn ends the current interval at now and begins the next.
func (g *generator) turn(now time.Time) Report {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.interval.report(now)
	r.InFlight = g.inFlight
	g.interval = newRecorder(g.cfg, now)
	return r
}

// arrivals yields the moments of a Poisson process as times since its start.
type arrivals struct {
	rng  *rand.Rand
	rate float64
	at   float64 // seconds
}

func newArrivals(seed int64, rate float64) *arrivals {
	return &arrivals{rng: rand.New(rand.NewPCG(uint64(seed), arrivalStream)), rate: rate}
}

// arrivalStream keeps the arrivals apart from the prompts' randomness, which use
// the same seed.
const arrivalStream = 0xa221_7a15

func (a *arrivals) next() time.Duration {
	a.at += a.rng.ExpFloat64() / a.rate
	return time.Duration(min(a.at, never.Seconds()) * float64(time.Second))
}

// never is far enough for any run; later moments would overflow a Duration into the past.
const never = 100 * 365 * 24 * time.Hour
