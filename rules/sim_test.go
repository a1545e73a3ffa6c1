package rules_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"llmtop/probes"
)

// sim is a small serving engine in virtual time, for tests of the judgement as a
// whole: Poisson arrivals, a batch that takes steps of a cost model, noise of a
// shared small machine (lognormal steps, stalls), and a look at it every second.
type sim struct {
	rng      *rand.Rand
	at       float64 // seconds
	seq      uint64
	nextArr  float64
	waiting  []*simRequest
	batch    []*simRequest
	done     []*probes.Request
	rate     float64 // arrivals per second
	prompt   float64 // mean tokens
	long     float64 // share of prompts twenty times as long
	output   float64
	slots    int
	maxQueue int
	slow     float64 // factor on every step
	noise    float64 // sigma of the lognormal factor of a step
	stalls   float64 // stalls per second, of 50 to 400 ms
}

type simRequest struct {
	r         *probes.Request
	arrived   float64
	admitted  float64
	first     float64
	left      int // prompt tokens to prefill
	out, want int
}

func newSim(seed uint64, rate float64) *sim {
	return &sim{rng: rand.New(rand.NewPCG(seed, 5)), rate: rate, prompt: 45, output: 40, slots: 16, maxQueue: 48, slow: 1, noise: 0.5, stalls: 0.05}
}

// A step costs 0.8 ms, 0.35 ms a sequence and 0.4 ms a prefilled token: about 50 requests in 1 s at most.
func (s *sim) cost(sequences, tokens int) float64 {
	c := (0.0008 + 0.00035*float64(sequences) + 0.0004*float64(tokens)) * s.slow * math.Exp(s.noise*s.rng.NormFloat64())
	if s.rng.Float64() < s.stalls*c {
		c += 0.05 + 0.35*s.rng.Float64()
	}
	return c
}

func (s *sim) arrive(until float64) {
	if s.nextArr == 0 {
		s.nextArr = s.at + s.rng.ExpFloat64()/s.rate
	}
	for ; s.nextArr <= until; s.nextArr += s.rng.ExpFloat64() / s.rate {
		s.seq++
		tokens := s.prompt * math.Exp(0.5*s.rng.NormFloat64())
		if s.rng.Float64() < s.long {
			tokens = 20 * s.prompt
		}
		r := &probes.Request{Seq: s.seq, ID: fmt.Sprint(s.seq), State: "queue", PromptTokens: 1 + int(tokens)}
		q := &simRequest{r: r, arrived: s.nextArr, left: r.PromptTokens, want: 2 + int(s.output*(0.5+s.rng.Float64()))}
		if len(s.waiting) >= s.maxQueue {
			r.State, r.Finish = "finished", "rejected"
			s.done = append(s.done, r)
			continue
		}
		s.waiting = append(s.waiting, q)
	}
}

// run goes on until a moment.
func (s *sim) run(until float64) {
	for s.at < until {
		s.arrive(s.at)
		for len(s.batch) < s.slots && len(s.waiting) > 0 {
			q := s.waiting[0]
			s.waiting, q.admitted = s.waiting[1:], s.at
			s.batch = append(s.batch, q)
		}
		if len(s.batch) == 0 {
			s.at = math.Min(until, math.Max(s.nextArr, s.at+0.001))
			continue
		}
		s.step()
	}
	s.arrive(until)
}

func (s *sim) step() {
	budget, tokens := 256, 0
	var ready []*simRequest
	for _, q := range s.batch {
		if n := min(q.left, budget-tokens); q.left > 0 {
			q.left, tokens = q.left-n, tokens+n
			if q.left > 0 {
				continue
			}
		}
		ready = append(ready, q)
	}
	s.at += s.cost(len(s.batch), tokens)
	for _, q := range ready {
		if q.out++; q.out == 1 {
			q.first = s.at
		}
	}
	kept := s.batch[:0]
	for _, q := range s.batch {
		if q.out >= q.want {
			s.done = append(s.done, s.record(q, true))
			continue
		}
		kept = append(kept, q)
	}
	s.batch = kept
}

// record is a request as the engine tells it now.
func (s *sim) record(q *simRequest, finished bool) *probes.Request {
	r := *q.r
	r.OutputTokens = q.out
	r.Stages[probes.StageTokenize] = 0.0004
	switch {
	case q.admitted == 0:
		r.State, r.Stages[probes.StageQueue] = "queue", s.at-q.arrived
	case q.first == 0:
		r.State, r.Stages[probes.StageQueue], r.Stages[probes.StagePrefill] = "prefill", q.admitted-q.arrived, s.at-q.admitted
	default:
		r.State = "decode"
		r.Stages[probes.StageQueue], r.Stages[probes.StagePrefill], r.Stages[probes.StageDecode] = q.admitted-q.arrived, q.first-q.admitted, s.at-q.first
		r.TTFTSeconds = probes.Some(q.first - q.arrived + 0.0004)
	}
	if finished {
		r.State, r.Finish, r.E2ESeconds = "finished", "stop", probes.Some(s.at-q.arrived+0.0004)
	}
	return &r
}

var simStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sample is what a probe sees after second n.
func (s *sim) sample(n int) *probes.Sample {
	s.run(float64(n))
	at := simStart.Add(time.Duration(n) * time.Second)
	section := &probes.Requests{At: at, Endpoint: "http://sim", Finished: s.done, InFlight: len(s.waiting) + len(s.batch)}
	s.done = nil
	for _, q := range append(append([]*simRequest(nil), s.batch...), s.waiting...) {
		section.Running = append(section.Running, s.record(q, false))
	}
	return &probes.Sample{Seq: uint64(n), At: at, Mono: time.Duration(n) * time.Second, Interval: time.Second, Requests: []*probes.Requests{section}}
}
