package twin

import (
	"math/rand/v2"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

// arrivals is a source of requests that a test has drawn.
type arrivals struct {
	next func(n int, q *workload.Request) bool // fills in request n; false: there are no more
	n    int
	due  workload.Request
	took workload.Request
	ok   bool
}

func newArrivals(next func(n int, q *workload.Request) bool) *arrivals {
	a := &arrivals{next: next}
	a.ok = next(0, &a.due)
	return a
}

func (a *arrivals) Due() (time.Duration, bool) { return a.due.At, a.ok }

func (a *arrivals) Take() *workload.Request {
	a.took = a.due
	a.n++
	a.ok = a.next(a.n, &a.due)
	return &a.took
}

func (a *arrivals) Turned(time.Duration) {}

// poisson is n requests at a rate, each with what shape gives it.
func poisson(seed uint64, rate float64, n int, shape func(r *rand.Rand, q *workload.Request)) *arrivals {
	r := rand.New(rand.NewPCG(seed, 1))
	at := time.Duration(0)
	return newArrivals(func(i int, q *workload.Request) bool {
		at += time.Duration(r.ExpFloat64() / rate * 1e9)
		*q = workload.Request{At: at, Prompt: 1, Output: 1, Bytes: 4, Stream: true}
		shape(r, q)
		return i < n
	})
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// plain is a scenario of one replica over a linear model.
func plain() Scenario {
	return Scenario{
		Replicas: 1, TP: 1, PP: 1, GPUs: 1, Limits: engine.Limits{MaxNumSeqs: 128, MaxBatchedTokens: 2048}, BlockSize: 16,
		MaxQueue: engine.Unlimited, Slots: 4, Seed: 1, Start: start,
	}
}

func linear() cost.Model {
	return &cost.Linear{Base: 8 * time.Millisecond, Prefill: 20 * time.Microsecond, Decode: 50 * time.Microsecond, Context: 200}
}

// begin makes a simulation of a scenario, with a linear model for each replica.
func begin(t testing.TB, sc Scenario, change func(*Parts)) *Simulation {
	t.Helper()
	p := Parts{Front: DefaultFront, Blocks: 5000, TokenBytes: 131072, Wire: 20e9}
	for range sc.Replicas {
		p.Models = append(p.Models, linear())
	}
	change(&p)
	s, err := NewSimulation(sc, knob.NewBoard(sc.GPUs, sc.Replicas), p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
