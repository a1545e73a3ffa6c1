package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
)

// evaluate runs a point's load through the cost model and returns the means of TTFT and TPOT in
// seconds. Its engine is the smallest that batches continuously: sequences that decode go first,
// prompts in order of arrival fill the rest of the step's tokens, in chunks. Requests come when a
// client is free, all clients beginning at once, or at random times.
func evaluate(p *point) (ttft, tpot float64, err error) {
	b, err := newBench(p)
	if err != nil {
		return 0, 0, err
	}
	b.run()
	return b.ttft / float64(b.first), b.tpot / float64(b.ended), nil
}

// request is one on its way through the bench.
type request struct {
	came, ready    time.Duration // at the server, in the engine's queue
	prompt, output int
	computed       int // tokens of its prompt
	tokens         int // generated
	firstAt        time.Duration
}

type bench struct {
	*point
	settings   cost.Settings
	model      *cost.Roofline
	conditions cost.Conditions
	rand       *rand.Rand

	now      time.Duration
	loop     time.Duration // until when the API server is busy
	coming   []request     // in order of readiness
	running  []request
	free     int // tokens of the KV cache
	left     int // requests that are still to come
	lastCame time.Duration

	first, ended int
	ttft, tpot   float64 // sums in seconds
}

const (
	rounds       = 10  // requests of each client
	least        = 40  // requests altogether
	atRate       = 300 // requests, when they come at a rate
	bytesPerTok  = 4.3 // of English text
	leastPerStep = time.Microsecond
)

func newBench(p *point) (*bench, error) {
	s := cost.Defaults
	s.MaxNumSeqs = max(s.MaxNumSeqs, p.clients)
	s.Utilization = 0.95 // some of the models barely fit
	model, err := cost.NewRoofline(p.deployment, s, 1, 0)
	if err != nil {
		return nil, err
	}
	if longest := int(float64(p.prompt+p.output) * (1 + p.vary)); longest > model.Memory().KVTokens {
		return nil, fmt.Errorf("a request of %d tokens does not fit in the KV cache of %d", longest, model.Memory().KVTokens)
	}
	b := &bench{point: p, settings: s, model: model, rand: rand.New(rand.NewPCG(1, 1)), free: model.Memory().KVTokens}
	b.conditions = cost.Conditions{Board: knob.NewBoard(p.deployment.TP, 1), GPUs: make([]cost.GPU, p.deployment.TP), CPU: 1}
	for i := range b.conditions.GPUs {
		b.conditions.GPUs[i] = cost.GPU{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}
	}
	return b, nil
}

// run computes the whole load.
func (b *bench) run() {
	b.left = max(least, rounds*b.clients)
	if b.clients == 0 {
		b.left = atRate
		for b.left > 0 {
			b.come(b.lastCame + time.Duration(b.rand.ExpFloat64()/b.rate*1e9))
		}
	}
	for range b.clients {
		b.come(0)
	}
	for len(b.coming)+len(b.running) > 0 {
		if len(b.running) == 0 {
			b.now = max(b.now, b.coming[0].ready)
		}
		b.admit()
		b.step()
	}
}

// come adds a request that a client sends at a time.
func (b *bench) come(at time.Duration) {
	if b.left == 0 {
		return
	}
	b.left--
	b.lastCame = at
	r := request{came: at, prompt: b.length(b.prompt), output: b.length(b.output)}
	front := cost.DefaultFront
	took := front.FirstToken(int(float64(r.prompt)*bytesPerTok), r.prompt)
	b.loop = max(b.loop, at) + took - front.Handoff // one event loop
	r.ready = b.loop + front.Handoff
	b.coming = append(b.coming, r)
}

func (b *bench) length(mean int) int {
	return max(1, int(float64(mean)*(1+b.vary*(2*b.rand.Float64()-1))))
}

func (b *bench) admit() {
	for len(b.coming) > 0 && len(b.running) < b.settings.MaxNumSeqs {
		r := b.coming[0]
		if r.ready > b.now || r.prompt+r.output > b.free {
			return
		}
		b.free -= r.prompt + r.output
		b.running = append(b.running, r)
		b.coming = b.coming[1:]
	}
}

// step computes one and hands out its tokens.
func (b *bench) step() {
	var w cost.Work
	for i := range b.running {
		if r := &b.running[i]; r.tokens > 0 {
			w.Decodes++
			w.DecodeTokens++
			w.Sampled++
			w.Context += r.prompt + r.tokens
		}
	}
	budget := b.settings.TokenBudget - w.DecodeTokens
	for i := range b.running {
		r := &b.running[i]
		n := min(r.prompt-r.computed, budget)
		if r.tokens > 0 || n <= 0 {
			continue
		}
		budget -= n
		w.Prefills++
		w.PrefillTokens += n
		w.PrefillPairs += float64(n) * (float64(r.computed) + float64(n+1)/2)
		w.PrefillContext += r.computed
		if r.computed += n; r.computed == r.prompt {
			w.Sampled++
		}
	}
	b.now += max(leastPerStep, b.model.Step(&w, &b.conditions).Step)
	b.token()
}

// token gives one to every sequence whose prompt is computed.
func (b *bench) token() {
	rest := b.running[:0]
	for _, r := range b.running {
		if r.computed == r.prompt {
			r.tokens++
		}
		if r.tokens == 1 && r.firstAt == 0 {
			r.firstAt = b.now
			b.first++
			b.ttft += (b.now - r.came).Seconds()
		}
		if r.tokens < r.output {
			rest = append(rest, r)
			continue
		}
		b.end(&r)
	}
	b.running = rest
}

func (b *bench) end(r *request) {
	if r.output > 1 {
		b.ended++
		b.tpot += (b.now - r.firstAt).Seconds() / float64(r.output-1)
	}
	b.free += r.prompt + r.output
	if b.clients > 0 {
		b.come(b.now)
	}
}
