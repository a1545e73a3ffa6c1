package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// service is a way to draw what requests want of an engine that serves one at a time, with
// the mean and the mean square of how long that takes.
type service struct {
	name         string
	draw         func(r *rand.Rand, q *workload.Request)
	mean, square float64 // seconds, seconds²
	requests     int     // enough for the mean to be sharp at a load of 89 %
}

// The times of a step, and of the tokens in it.
const (
	stepTime    = 4 * time.Millisecond
	promptTime  = 50 * time.Microsecond
	decodeTime  = time.Millisecond
	fixedOutput = 3
)

// services are: all alike; answers of geometric lengths; and a mix in which one prompt of
// ten is forty times as long.
func services() []service {
	first, next := stepTime.Seconds(), (stepTime + decodeTime).Seconds()
	fixed := first + promptTime.Seconds() + (fixedOutput-1)*next

	const more = 0.75 // chance that a geometric answer goes on
	steps := more / (1 - more)
	geometric := first + promptTime.Seconds() + steps*next
	variance := next * next * more / ((1 - more) * (1 - more))

	const long, share = 400, 0.1
	short, giant := first+10*promptTime.Seconds(), first+long*promptTime.Seconds()
	return []service{
		{"M/D/1, all alike", func(r *rand.Rand, q *workload.Request) {
			q.Prompt, q.Output = 1, fixedOutput
		}, fixed, fixed * fixed, 600_000},
		{"M/G/1, geometric answers", func(r *rand.Rand, q *workload.Request) {
			for q.Prompt, q.Output = 1, 1; r.Float64() < more; q.Output++ {
			}
		}, geometric, geometric*geometric + variance, 1_500_000},
		{"M/G/1, one prompt of ten is long", func(r *rand.Rand, q *workload.Request) {
			if q.Prompt, q.Output = 10, 1; r.Float64() < share {
				q.Prompt = long
			}
		}, short*(1-share) + giant*share, short*short*(1-share) + giant*giant*share, 2_000_000},
	}
}

var loads = []float64{0.3, 0.5, 0.7, 0.8, 0.89}

// queue holds the waiting times of the simulated engine against queueing theory.
func queue(out io.Writer) (bool, error) {
	fmt.Fprintf(out, "%-34s %6s %12s %12s %8s %8s\n", "", "load", "theory ms", "twin ms", "off", "± 1σ")
	met := true
	for n, v := range services() {
		for k, load := range loads {
			w, err := v.measure(load, v.requests, uint64(10*n+k))
			if err != nil {
				return false, err
			}
			theory := v.theory(load)
			off := w.mean/theory - 1
			mark := ""
			if math.Abs(off) > 0.05 {
				met, mark = false, "  MISS"
			}
			fmt.Fprintf(out, "%-34s %5.0f%% %12.3f %12.3f %+7.2f%% %7.2f%%%s\n", v.name, 100*load, 1e3*theory, 1e3*w.mean, 100*off, 100*w.spread/theory, mark)
		}
	}
	return met, nil
}

// theory is the mean wait by Pollaczek and Khinchine.
func (v *service) theory(load float64) float64 {
	return load / v.mean * v.square / (2 * (1 - load))
}

// wait is the mean time that requests waited in the queue, and its standard deviation as
// the means of parts of the run tell.
type wait struct{ mean, spread float64 }

// measure runs an engine that serves one request at a time.
func (v *service) measure(load float64, requests int, seed uint64) (wait, error) {
	sc := twin.Scenario{
		Replicas: 1, GPUs: 1, TP: 1, PP: 1, Limits: engine.Limits{MaxNumSeqs: 1, MaxBatchedTokens: 4096}, BlockSize: 16,
		MaxQueue: engine.Unlimited, Seed: seed, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	s, err := twin.NewSimulation(sc, knob.NewBoard(1, 1), twin.Parts{
		Source: newPoisson(v.draw, load/v.mean, requests, seed),
		Models: []cost.Model{&cost.Linear{Base: stepTime, Prefill: promptTime, Decode: decodeTime}},
		Blocks: 1024,
	})
	if err != nil {
		return wait{}, err
	}
	m := means{size: requests / batches}
	for at := time.Duration(0); s.Tally().Finished < uint64(requests); {
		at += 20 * time.Second
		if err := s.Advance(at); err != nil {
			return wait{}, err
		}
		for _, r := range s.Requests(0, "").Finished {
			m.add(r.Stages[probes.StageQueue])
		}
	}
	return m.result(), nil
}

// batches is the number of parts that a run is cut into; the first only fills the queue.
const batches = 40

// means are those of equal parts of a run.
type means struct {
	size  int
	sum   float64
	n     int
	parts []float64
}

func (m *means) add(v float64) {
	m.sum += v
	if m.n++; m.n == m.size {
		m.parts = append(m.parts, m.sum/float64(m.size))
		m.sum, m.n = 0, 0
	}
}

func (m *means) result() (w wait) {
	parts := m.parts[1:]
	for _, p := range parts {
		w.mean += p / float64(len(parts))
	}
	for _, p := range parts {
		w.spread += (p - w.mean) * (p - w.mean)
	}
	n := float64(len(parts))
	w.spread = math.Sqrt(w.spread / (n - 1) / n)
	return w
}

// poisson is a source of so many requests at a rate.
type poisson struct {
	draw    func(r *rand.Rand, q *workload.Request)
	rate    float64
	left    int
	rng     *rand.Rand
	at      time.Duration
	request workload.Request
}

func newPoisson(draw func(*rand.Rand, *workload.Request), rate float64, n int, seed uint64) *poisson {
	p := &poisson{draw: draw, rate: rate, left: n, rng: rand.New(rand.NewPCG(seed, 0x7175657565))}
	p.next()
	return p
}

func (p *poisson) next() { p.at += time.Duration(p.rng.ExpFloat64() / p.rate * 1e9) }

// Due is when the next request comes.
func (p *poisson) Due() (time.Duration, bool) { return p.at, p.left > 0 }

// Take returns it.
func (p *poisson) Take() *workload.Request {
	p.request = workload.Request{At: p.at, Bytes: 4, Stream: true}
	p.draw(p.rng, &p.request)
	p.left--
	p.next()
	return &p.request
}

// Turned does nothing: no knob changes what comes.
func (p *poisson) Turned(time.Duration) {}
