package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// evaluate runs a point's load through the whole simulation and returns TTFT and TPOT in seconds as the load
// generator of its source would have printed them.
func evaluate(p *point) (ttft, tpot float64, err error) {
	sc, err := p.scenario()
	if err != nil {
		return 0, 0, err
	}
	l := newLoad(p)
	sc.Source = l
	run, err := twin.New(sc)
	if err != nil {
		return 0, 0, err
	}
	var m measured
	for len(m.ttft) < l.requests {
		s, err := run.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return 0, 0, fmt.Errorf("after %s %d of %d requests have ended", sc.Duration, len(m.ttft), l.requests)
		}
		if err != nil {
			return 0, 0, err
		}
		if err := m.add(s.Requests[0].Finished, sc.Start.Add(l.began)); err != nil {
			return 0, 0, err
		}
	}
	return p.of(m.ttft), p.of(m.tpot), nil
}

// scenario is the deployment as its engine runs it when nobody says otherwise, all parameters as in the tables.
// A model beside which a request does not fit in 0.9 of the memory gets 0.95, as its operator must have given it.
func (p *point) scenario() (twin.Scenario, error) {
	sc, err := p.parse(0.9)
	if err != nil {
		sc, err = p.parse(0.95)
	}
	return sc, err
}

func (p *point) parse(utilization float64) (twin.Scenario, error) {
	sc, err := twin.Parse(strings.NewReader(p.text(utilization)), p.name())
	if err != nil {
		return sc, err
	}
	memory, err := p.deployment.Memory(utilization, sc.Step())
	if longest := int(float64(p.prompt+p.output) * (1 + p.vary)); err == nil && longest > memory.KVTokens {
		err = fmt.Errorf("a request of %d tokens does not fit in the KV cache of %d", longest, memory.KVTokens)
	}
	return sc, err
}

func (p *point) text(utilization float64) string {
	d := &p.deployment
	b := new(strings.Builder)
	fmt.Fprintf(b, "gpu %sx%d\nmodel %s %s kv=%s\ntp %d\n", d.GPU.Name, d.TP, d.Model.Name, d.Weights, d.KV, d.TP)
	fmt.Fprintf(b, "engine vllm max_num_seqs=%d token_budget=%d utilization=%g max_queue=unlimited\n", max(256, p.clients), p.budget, utilization)
	fmt.Fprintf(b, "rate 1\nspread 0\nwarm 0s\nduration 24h\nwithout profile gpu host\n")
	if p.clients > 0 {
		fmt.Fprintf(b, "at 0s client_limit %d\n", p.clients)
	}
	return b.String()
}

// load is what the load generators do. A closed loop (perf_analyzer under genai-perf, benchmark_serving of vLLM with
// --request-rate inf --max-concurrency) sends the first request of every client at once and another as soon as one
// has ended, and counts all of them, the first ones too: perf_analyzer needs three windows that are alike, but writes the
// requests of each that it has had into the file that genai-perf reads. At a rate the first request comes at once and each of the
// others after an exponential gap (benchmark_serving).
type load struct {
	*point
	requests int           // that are counted
	before   int           // sent before, of the same prompts
	taken    int           // so far
	at       time.Duration // of the next one
	began    time.Duration // of the first that is counted
	rng      *rand.Rand
	request  workload.Request
}

const (
	rounds      = 10  // requests of each client where the source does not say how many: what InferenceX and others ask for
	least       = 100 // and altogether
	atRate      = 300 // at a rate
	bytesPerTok = 4.3 // of English text
	settled     = time.Minute
)

func newLoad(p *point) *load {
	l := &load{point: p, requests: p.requests, rng: rand.New(rand.NewPCG(1, 0x706f696e74))}
	switch {
	case l.requests > 0:
	case p.clients > 0:
		l.requests = max(least, rounds*p.clients)
	default:
		l.requests = atRate
	}
	if p.again {
		l.before = l.requests
	}
	return l
}

// Due is when the next request is sent; with clients, as soon as one of them is free.
func (l *load) Due() (time.Duration, bool) { return l.at, l.taken < l.before+l.requests }

// Take returns it. The lengths of a prompt and its answer follow from its place, so that they are the same the
// second time, when the prompt is found in the cache.
func (l *load) Take() *workload.Request {
	place := l.taken % l.requests
	own := rand.New(rand.NewPCG(uint64(place), 0x6c656e67746873))
	r := workload.Request{At: l.at, Prompt: l.length(own, l.prompt), Output: l.length(own, l.output), Class: engine.Normal, Stream: true}
	r.Bytes = int(float64(r.Prompt) * bytesPerTok)
	if l.again {
		r.Prefix = []workload.Segment{{ID: uint64(place), Tokens: r.Prompt}}
	}
	l.request = r
	l.taken++
	if l.rate > 0 {
		l.at += time.Duration(l.rng.ExpFloat64() / l.rate * 1e9)
	}
	if l.taken == l.before && l.before > 0 {
		l.at += settled
		l.began = l.at
	}
	return &l.request
}

// Turned does nothing: no knob changes what comes.
func (l *load) Turned(time.Duration) {}

func (l *load) length(own *rand.Rand, mean int) int {
	return max(1, int(float64(mean)*(1+l.vary*(2*own.Float64()-1))))
}

// measured is what clients have seen, in seconds.
type measured struct{ ttft, tpot []float64 }

// add takes in requests that have ended, of those that came since a time.
func (m *measured) add(ended []*probes.Request, since time.Time) error {
	for _, r := range ended {
		if r.Arrived.Before(since) {
			continue
		}
		ttft, first := r.TTFTSeconds.Get()
		e2e, last := r.E2ESeconds.Get()
		if !first || !last || r.Finish != string(engine.FinishStop) && r.Finish != string(engine.FinishLength) {
			return fmt.Errorf("a request of %d + %d tokens ended with %q", r.PromptTokens, r.OutputTokens, r.Finish)
		}
		m.ttft = append(m.ttft, ttft)
		if r.OutputTokens > 1 {
			m.tpot = append(m.tpot, (e2e-ttft)/float64(r.OutputTokens-1))
		}
	}
	return nil
}

// of is the mean or the median, whichever the source has.
func (p *point) of(values []float64) float64 {
	if p.median {
		v := slices.Sorted(slices.Values(values))
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
