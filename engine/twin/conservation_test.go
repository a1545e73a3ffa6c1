package twin

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// turnable are the knobs that the simulation itself reads, with values to draw from.
var turnable = []struct {
	id     knob.ID
	values []float64
}{
	{knob.KVPool, []float64{0.02, 0.3, 1, 2}}, {knob.MaxNumSeqs, []float64{1, 4, 64}}, {knob.TokenBudget, []float64{8, 100, 4000}},
	{knob.PrefillChunk, []float64{0, 16}}, {knob.KVHeadroom, []float64{0, 0.2}}, {knob.PrefixCaching, []float64{0, 1}}, {knob.Admission, []float64{0, 1}},
	{knob.NewShapes, []float64{0, 0.5}}, {knob.SpecAcceptance, []float64{0.1, 1, 10}}, {knob.Hang, []float64{0, 1}}, {knob.Restart, []float64{1}},
	{knob.Upgrade, []float64{1.5}}, {knob.RouteWeight, []float64{0, 1, 5}}, {knob.Transfer, []float64{0.001, 1}}, {knob.Tokenizer, []float64{1, 50}},
	{knob.TokenizerThreads, []float64{1, 8}}, {knob.Detokenizer, []float64{1, 100}}, {knob.LoRASlots, []float64{1, 2, 8}}, {knob.LogLine, []float64{0, 3}},
	{knob.Lock, []float64{0, 0.9}}, {knob.GC, []float64{0, 0.1, 0.9}}, {knob.GPULost, []float64{0, 1}}, {knob.Network, []float64{0.1, 1000}},
	{knob.Retransmits, []float64{0, 0.2}}, {knob.ProxyBuffer, []float64{0, 1}}, {knob.ClientLimit, []float64{1, 20, 1000}}, {knob.LoadTime, []float64{0.01}},
	{knob.Auth, []float64{0, 30}}, {knob.FrameQuantum, []float64{0, 50}}, {knob.NagleDelay, []float64{0, 40}},
}

func drawScenario(t *rapid.T) (sc Scenario, change func(*Parts), rate float64) {
	sc = plain()
	sc.Replicas = rapid.IntRange(1, 3).Draw(t, "replicas")
	sc.GPUs = sc.Replicas
	sc.Prefills = rapid.IntRange(0, sc.Replicas-1).Draw(t, "prefills")
	sc.Router = rapid.SampledFrom([]string{"", leastLoaded, byPrefix}).Draw(t, "router")
	sc.Limits = engine.Limits{
		MaxNumSeqs: rapid.IntRange(1, 40).Draw(t, "seqs"), MaxBatchedTokens: rapid.IntRange(40, 500).Draw(t, "budget"),
		Drafts: rapid.IntRange(0, 4).Draw(t, "drafts"), Headroom: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "headroom"),
		MinShare: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "share"),
	}
	sc.MaxQueue = rapid.SampledFrom([]int{engine.Unlimited, 0, 3, 50}).Draw(t, "queue")
	sc.NoPrefix = rapid.Bool().Draw(t, "noprefix")
	sc.Slots = rapid.IntRange(1, 4).Draw(t, "slots")
	sc.Seed = rapid.Uint64().Draw(t, "seed")
	for range rapid.IntRange(0, 8).Draw(t, "turns") {
		k := rapid.SampledFrom(turnable).Draw(t, "knob")
		target := knob.All
		if s := knob.Table[k.id].Scope; s != knob.Whole && rapid.Bool().Draw(t, "one") {
			target = rapid.IntRange(0, sc.Replicas-1).Draw(t, "target")
		}
		sc.Timeline = append(sc.Timeline, Event{
			At:     time.Duration(rapid.IntRange(0, 10_000).Draw(t, "at")) * time.Millisecond,
			Change: knob.Change{Knob: k.id, Target: target, Value: rapid.SampledFrom(k.values).Draw(t, "value"), Reset: rapid.IntRange(0, 4).Draw(t, "reset") == 0},
		})
	}
	blocks := rapid.IntRange(40, 400).Draw(t, "blocks")
	return sc, func(p *Parts) { p.Blocks = blocks }, float64(rapid.IntRange(1, 40).Draw(t, "rate"))
}

// life runs a scenario for a while and then until nothing is left to do, with what is
// turned put right, and checks at each interval what must always hold.
type life struct {
	t       *rapid.T
	sim     *Simulation
	pages   []*listener
	records []string
	kernel  []time.Duration
}

func live(t *rapid.T, sc Scenario, change func(*Parts), rate float64) *life {
	l := &life{t: t, kernel: make([]time.Duration, sc.Replicas)}
	p := Parts{Front: DefaultFront, Blocks: 100, TokenBytes: 131072, Wire: 1e9, Source: poisson(sc.Seed, rate, int(10*rate), anything)}
	p.Front.Load = 3 * time.Second
	for range sc.Replicas {
		p.Models = append(p.Models, linear())
	}
	change(&p)
	var err error
	if l.sim, err = NewSimulation(sc, knob.NewBoard(sc.GPUs, sc.Replicas), p); err != nil {
		t.Fatal(err)
	}
	for n := range sc.Replicas {
		l.pages = append(l.pages, &listener{t: t})
		l.sim.Show(n, l.pages[n])
	}
	for at := time.Second; at <= 13*time.Second; at += time.Second {
		l.advance(at)
	}
	for id := range knob.NumKnobs {
		if err := l.sim.Turn(knob.Change{Knob: id, Target: knob.All, Reset: true}); err != nil {
			t.Fatal(err)
		}
	}
	for at := 14 * time.Second; at < 4000*time.Second && (l.sim.InFlight() > 0 || !l.up()); at += time.Second {
		l.advance(at)
	}
	l.advance(l.sim.Now() + 100*time.Second)
	return l
}

func (l *life) up() bool {
	return !slices.ContainsFunc(l.sim.replicas, func(r *replica) bool { return !r.up })
}

func (l *life) advance(to time.Duration) {
	s := l.sim
	if err := s.Advance(to); err != nil {
		l.t.Fatal(err)
	}
	c := s.Tally()
	if sum := c.Finished + c.Failed + c.Aborted + c.Rejected + uint64(s.InFlight()); sum != c.Arrived {
		l.t.Fatalf("at %s: %d arrived, %+v and %d in flight", to, c.Arrived, c, s.InFlight())
	}
	inFlight, computed := uint64(0), uint64(0)
	for _, r := range s.replicas {
		for j := r.jobs.first; j != nil; j = j.after {
			inFlight += uint64(len(j.seq.Output))
			computed += uint64(j.seq.Computed())
		}
		l.replica(r, to)
	}
	if c.Sampled != c.Delivered+c.Dropped+inFlight {
		l.t.Fatalf("at %s: %d tokens sampled, %d delivered, %d dropped, %d in flight", to, c.Sampled, c.Delivered, c.Dropped, inFlight)
	}
	lost := c.Preempted
	for _, r := range s.replicas {
		if r.up {
			lost += r.scheduler.Stats().PreemptedTokens - r.stats.PreemptedTokens
		}
	}
	if c.Computed+c.Cached != lost+c.Settled+computed {
		l.t.Fatalf("at %s: %d tokens computed and %d found; %d lost, %d settled, %d in flight", to, c.Computed, c.Cached, lost, c.Settled, computed)
	}
}

func (l *life) replica(r *replica, to time.Duration) {
	busy, idle := l.sim.Busy(r.index)
	if busy+idle != to {
		l.t.Fatalf("at %s: busy for %s, idle for %s", to, busy, idle)
	}
	held := map[int]bool{}
	for _, b := range r.withheld.table {
		held[b] = true
	}
	for j := r.jobs.first; j != nil; j = j.after {
		for _, b := range j.seq.Blocks() {
			held[b] = true
		}
	}
	if r.up && len(held) != r.blocks.Used() {
		l.t.Fatalf("at %s: %d blocks are in tables, %d are used", to, len(held), r.blocks.Used())
	}
	for _, g := range l.sim.GPULoads(r.index) {
		l.kernel[r.index] += g.Kernel
		if g.Idle > g.Kernel {
			l.t.Fatalf("GPU load %+v", g)
		}
	}
	if l.kernel[r.index] > busy {
		l.t.Fatalf("kernels for %s, busy for %s", l.kernel[r.index], busy)
	}
	l.sim.HostLoad(r.index)
	section := l.sim.Requests(r.index, "x")
	for _, q := range section.Finished {
		l.request(q)
		if q.State != "finished" || q.Finish == "" {
			l.t.Fatalf("finished: %+v", q)
		}
	}
	for _, q := range section.Running {
		l.request(q)
		if elapsed := l.sim.time(to).Sub(q.Arrived).Seconds(); math.Abs(sum(q)-elapsed) > 3e-6 {
			l.t.Fatalf("in flight for %v s, the stages have %v: %+v", elapsed, sum(q), q)
		}
	}
}

// request holds a record against itself.
func (l *life) request(q *probes.Request) {
	l.records = append(l.records, fmt.Sprint(*q))
	if e2e, ok := q.E2ESeconds.Get(); ok && math.Abs(sum(q)-e2e) > 1e-9 {
		l.t.Fatalf("%v s in stages of %v: %+v", sum(q), e2e, q)
	}
	if ttft := q.TTFTSeconds.Or(0); q.CachedTokens >= q.PromptTokens || ttft > sum(q)+3e-6 {
		l.t.Fatalf("request %+v", q)
	}
}

func sum(q *probes.Request) (s float64) {
	for _, v := range q.Stages {
		s += v
	}
	return s
}

// TestConservation: whatever the scenario and whatever is turned, requests, tokens, blocks
// and seconds add up, everything ends, and the same seed tells the same in every detail.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc, change, rate := drawScenario(t)
		a := live(t, sc, change, rate)
		if n := a.sim.InFlight(); n > 0 {
			t.Fatalf("%d requests are in flight for ever", n)
		}
		for i, r := range a.sim.replicas {
			if r.blocks.Used() != len(r.withheld.table) || r.jobs.count != 0 || r.waits.all != 0 || r.queued != [engine.NumClasses]int{} || r.swapped != 0 || r.guided != 0 || r.back != 0 || r.adapters.active != 0 {
				t.Fatalf("replica %d is at rest with %d blocks used, %d jobs, waits %+v, %v queued", i, r.blocks.Used(), r.jobs.count, r.waits, r.queued)
			}
			if p := a.pages[i]; p.restarts == 0 && (p.arrived != p.finished || p.queued < p.admitted || p.admitted < p.firsts) {
				t.Fatalf("the page has heard of %d arrivals, %d queued, %d admitted, %d first tokens, %d ends", p.arrived, p.queued, p.admitted, p.firsts, p.finished)
			}
		}
		if open := a.sim.jobs.open(); open != 0 || a.sim.held != 0 {
			t.Fatalf("%d jobs and %d tokens are kept", open, a.sim.held)
		}
		b := live(t, sc, change, rate)
		if !slices.Equal(a.records, b.records) || a.sim.Tally() != b.sim.Tally() {
			t.Fatal("the same seed has told something else")
		}
		for i := range a.pages {
			if digest(a.pages[i].log) != digest(b.pages[i].log) {
				t.Fatalf("page %d has heard something else", i)
			}
		}
	})
}
