package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// client is one of many that send requests one after the other.
type client struct {
	url    string
	host   string
	http   *http.Client
	ledger *ledger
	sizes  sizes
	rng    *rand.Rand
}

// loadFor lets the clients send for so long. Then each ends what it has begun.
func loadFor(ctx context.Context, d time.Duration, p plan, l *ledger) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	transport := &http.Transport{MaxIdleConnsPerHost: p.clients, DisableCompression: true}
	defer transport.CloseIdleConnections()
	var all sync.WaitGroup
	for i := range p.clients {
		c := &client{
			url: p.url, host: strings.TrimPrefix(p.url, "http://"), ledger: l, sizes: p.sizes,
			http: &http.Client{Transport: transport}, rng: rand.New(rand.NewPCG(p.seed, uint64(i)+uint64(d))),
		}
		all.Go(func() { c.work(ctx) })
	}
	all.Wait()
}

// act is something that a client does with a request, with the weight of its being chosen.
type act struct {
	name   string
	weight int
	do     func(c *client, name string) ending
}

var acts = []act{
	{"patient", 40, (*client).patient},
	{"leaves at any time", 15, (*client).leave},
	{"leaves while it reads", 10, (*client).leaveReading},
	{"reads slowly", 6, (*client).readSlowly},
	{"sends half a body", 6, (*client).halfBody},
	{"half-closes", 6, (*client).halfClose},
	{"vanishes", 6, (*client).vanish},
	{"says nonsense", 5, (*client).nonsense},
	{"says nothing", 3, (*client).silent},
}

// work sends until ctx ends.
func (c *client) work(ctx context.Context) {
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	for ctx.Err() == nil {
		n := c.rng.IntN(total)
		for _, a := range acts {
			if n -= a.weight; n < 0 {
				c.perform(ctx, a)
				break
			}
		}
	}
}

// perform does one act. After a refusal the client waits a moment, but not as long
// as it is told to: the engine shall stay saturated.
func (c *client) perform(ctx context.Context, a act) {
	c.ledger.send(a.name)
	end := a.do(c, a.name)
	if end != failed { // that one is in the books with its reason
		c.ledger.end(end)
	}
	if end == rejected || end == failed {
		pause(ctx, c.upTo(300*time.Millisecond))
	}
}

// upTo is a random time, short ones being likelier.
func (c *client) upTo(most time.Duration) time.Duration {
	return time.Duration(c.rng.Float64() * c.rng.Float64() * float64(most))
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
