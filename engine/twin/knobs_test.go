package twin

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// seen is what a run of some minutes looks like from outside.
type seen struct {
	tally              Tally
	stages             [probes.NumStages]float64 // mean of the requests that finished, seconds
	ttft, itl, e2e     float64                   // means; itl is the longest of a request
	preemptions        int
	cached             float64 // share of the prompt tokens
	waiting, running   float64 // means
	used               float64 // blocks, mean
	blocked, locked    float64 // seconds
	cpu                [machine.NumParts]float64
	sendQueue, kernels float64
	byReplica          []int
	finished           int
	pages              []*listener
}

// watchFor runs three minutes, the first of which only warms up, with some knobs turned
// from the start.
func watchFor(t *testing.T, sc Scenario, turns []knob.Change, shape func(r *rand.Rand, q *workload.Request), change func(*Parts)) (v seen) {
	t.Helper()
	for _, c := range turns {
		sc.Timeline = append(sc.Timeline, Event{Change: c})
	}
	s := begin(t, sc, func(p *Parts) {
		p.Source = poisson(3, 10, 1<<40, shape)
		change(p)
	})
	v.byReplica = make([]int, sc.Replicas)
	for n := range sc.Replicas {
		v.pages = append(v.pages, &listener{t: t})
		s.Show(n, v.pages[n])
	}
	const from, to = 60, 180
	prompt, ticks := 0, 0.0
	for at := 1; at <= to; at++ {
		if err := s.Advance(time.Duration(at) * time.Second); err != nil {
			t.Fatal(err)
		}
		for n := range sc.Replicas {
			st, l := *s.State(n), s.HostLoad(n)
			all := s.Requests(n, "").Finished
			if at <= from {
				continue
			}
			ticks += 1 / float64(sc.Replicas)
			v.waiting += float64(st.Waiting)
			v.running += float64(st.Running)
			v.used += float64(st.Used)
			v.blocked += l.Blocked.Seconds()
			v.locked += l.Locked.Seconds()
			v.sendQueue += l.SendQueue
			for p := range l.CPU {
				v.cpu[p] += l.CPU[p].Seconds()
			}
			for _, q := range all {
				v.finished++
				v.byReplica[n]++
				for i, d := range q.Stages {
					v.stages[i] += d
				}
				v.ttft += q.TTFTSeconds.Or(0)
				v.itl += q.MaxITLSeconds.Or(0)
				v.e2e += q.E2ESeconds.Or(0)
				v.preemptions += q.Preemptions
				v.cached += float64(q.CachedTokens)
				prompt += q.PromptTokens
			}
		}
	}
	for _, sum := range []*float64{&v.waiting, &v.running, &v.used, &v.sendQueue} {
		*sum /= ticks
	}
	for i := range v.stages {
		v.stages[i] /= float64(v.finished)
	}
	for _, sum := range []*float64{&v.ttft, &v.itl, &v.e2e} {
		*sum /= float64(v.finished)
	}
	v.cached /= float64(prompt)
	v.tally = s.Tally()
	return v
}

func chat(r *rand.Rand, q *workload.Request) {
	q.Prompt = 100 + int(300*lognormal(r, 0.5))
	q.Output = 20 + r.IntN(100)
	q.Bytes = 4 * q.Prompt
	q.Prefix = []workload.Segment{{ID: uint64(r.IntN(3)), Tokens: 96}}
}

// TestKnobs: each knob moves what it is about and leaves alone what it is not.
func TestKnobs(t *testing.T) {
	healthy := watchFor(t, plain(), nil, chat, func(*Parts) {})
	if healthy.finished < 1000 || healthy.preemptions > 0 || healthy.waiting > 1 || healthy.cached < 0.15 || healthy.ttft > 0.2 {
		t.Fatalf("the healthy run: %+v", healthy)
	}
	same := func(a, b float64) bool { return math.Abs(a-b) <= 0.15*max(a, b)+2e-3 }
	for _, c := range []struct {
		name  string
		turns []knob.Change
		shape func(r *rand.Rand, q *workload.Request)
		check func(v *seen) bool
	}{
		{"max_num_seqs", all(knob.MaxNumSeqs, 5), nil, func(v *seen) bool {
			return v.running > 4.5 && v.running <= 5 && v.waiting > 20 && v.stages[engine.StageQueue] > 1 && v.preemptions == 0 && v.stages[engine.StageDecode] < healthy.stages[engine.StageDecode]
		}},
		{"token_budget", all(knob.TokenBudget, 40), nil, func(v *seen) bool {
			return v.stages[engine.StageQueue]+v.stages[engine.StagePrefill] > 5*(healthy.stages[engine.StageQueue]+healthy.stages[engine.StagePrefill]) && v.preemptions == 0
		}},
		{"kv_pool", all(knob.KVPool, 0.035), nil, func(v *seen) bool { return v.preemptions > 100 && v.used > 120 && v.used <= 175 }},
		{"kv_headroom", append(all(knob.KVPool, 0.035), all(knob.KVHeadroom, 0.3)...), nil, func(v *seen) bool {
			return v.preemptions < 50 && v.waiting > 1 && v.used > 80 && v.used <= 175
		}},
		{"prefix_caching", all(knob.PrefixCaching, 0), nil, func(v *seen) bool {
			return v.cached == 0 && v.stages[engine.StagePrefill] > 1.1*healthy.stages[engine.StagePrefill]
		}},
		{"admission", all(knob.Admission, 0), nil, func(v *seen) bool { return v.finished == 0 && v.running == 0 && v.waiting > 500 && v.used == 0 }},
		{"hang", all(knob.Hang, 1), nil, func(v *seen) bool { return v.finished == 0 && v.running >= 1 && v.waiting > 500 && v.used > 0 }},
		{"tokenizer", all(knob.Tokenizer, 100), nil, func(v *seen) bool {
			return v.stages[engine.StageTokenize] > 50*healthy.stages[engine.StageTokenize] && v.cpu[machine.Tokenize] > 80 && v.waiting < 1 && same(v.stages[engine.StageDecode], healthy.stages[engine.StageDecode])
		}},
		{"tokenizer_threads", append(all(knob.Tokenizer, 100), all(knob.TokenizerThreads, 8)...), nil, func(v *seen) bool {
			return v.stages[engine.StageTokenize] < 0.15 && v.stages[engine.StageTokenize] > 0.08
		}},
		{"parse", all(knob.Parse, 60), nil, func(v *seen) bool {
			return v.stages[engine.StageParse] > 20*healthy.stages[engine.StageParse] && same(v.stages[engine.StageTokenize], healthy.stages[engine.StageTokenize])
		}},
		{"assemble", all(knob.Assemble, 100), nil, func(v *seen) bool {
			return v.stages[engine.StageAssemble] > 10*healthy.stages[engine.StageAssemble] && v.cpu[machine.Assemble] > 20
		}},
		{"detokenizer", all(knob.Detokenizer, 150), nil, func(v *seen) bool {
			return v.stages[engine.StageDetokenize] > 50*healthy.stages[engine.StageDetokenize] && same(v.stages[engine.StageDecode], healthy.stages[engine.StageDecode]) && v.waiting < 1
		}},
		{"log_line", all(knob.LogLine, 12), nil, func(v *seen) bool { return v.blocked > 60 && v.ttft > 1.5*healthy.ttft && same(v.itl, healthy.itl) }},
		{"lock", all(knob.Lock, 0.9), nil, func(v *seen) bool {
			return v.locked > 30 && v.stages[engine.StageQueue] > 0.03 && same(v.stages[engine.StageTokenize], healthy.stages[engine.StageTokenize])
		}},
		{"gc", all(knob.GC, 0.1), nil, func(v *seen) bool {
			return v.itl > 3*healthy.itl && v.cpu[machine.GC] > 10 && v.cpu[machine.GC] < 14 && v.stages[engine.StageDecode] < 1.4*healthy.stages[engine.StageDecode]
		}},
		{"slow readers", nil, func(r *rand.Rand, q *workload.Request) { chat(r, q); q.Slow = r.IntN(4) == 0; q.Output += 80 }, func(v *seen) bool {
			return v.stages[engine.StageSend] > 0.3 && v.sendQueue > 1000 && v.waiting < 1
		}},
		{"network", all(knob.Network, 0.12), nil, func(v *seen) bool {
			return v.tally.ClientTTFT.Seconds()/float64(v.tally.Finished) > 3*healthy.tally.ClientTTFT.Seconds()/float64(healthy.tally.Finished) && same(v.stages[engine.StageDecode], healthy.stages[engine.StageDecode])
		}},
		{"proxy_buffer", all(knob.ProxyBuffer, 1), nil, func(v *seen) bool {
			return v.tally.ClientTTFT == v.tally.ClientE2E && v.ttft == healthy.ttft && v.tally.ClientE2E == healthy.tally.ClientE2E
		}},
		{"client_limit", all(knob.ClientLimit, 3), nil, func(v *seen) bool {
			return v.running <= 3 && v.waiting < 1 && v.finished < healthy.finished*9/10 && v.stages[engine.StageQueue] <= 1.2*healthy.stages[engine.StageQueue]
		}},
		{"images", nil, func(r *rand.Rand, q *workload.Request) { chat(r, q); q.Images = 2 }, func(v *seen) bool {
			return v.stages[engine.StageAssemble] > 0.1 && v.cpu[machine.Images] > 100
		}},
		{"upgrade", all(knob.Upgrade, 1.5), nil, func(v *seen) bool {
			return v.stages[engine.StageDecode] > 1.4*healthy.stages[engine.StageDecode] && v.tally.Failed > 10
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape := chat
			if c.shape != nil {
				shape = c.shape
			}
			v := watchFor(t, plain(), c.turns, shape, func(p *Parts) { p.Front.Load = 3 * time.Second })
			if !c.check(&v) {
				t.Errorf("saw     %+v\nhealthy %+v", v, healthy)
			}
		})
	}
}

func all(id knob.ID, value float64) []knob.Change {
	return []knob.Change{{Knob: id, Target: knob.All, Value: value}}
}

// TestSpeculation: guesses that hold make steps of several tokens; those that do not only
// cost time.
func TestSpeculation(t *testing.T) {
	sc := plain()
	sc.Limits.Drafts = 4
	good := watchFor(t, sc, nil, chat, func(*Parts) {})
	bad := watchFor(t, sc, all(knob.SpecAcceptance, 0.05), chat, func(*Parts) {})
	none := watchFor(t, plain(), nil, chat, func(*Parts) {})
	perStep := func(v *seen) float64 { return float64(v.tally.Sampled) / float64(v.tally.Steps) / v.running }
	if d := engine.StageDecode; good.stages[d] > 0.6*none.stages[d] || bad.stages[d] < none.stages[d] {
		t.Errorf("decode takes %.3f s with good guesses, %.3f with bad ones, %.3f without", good.stages[d], bad.stages[d], none.stages[d])
	}
	if perStep(&good) < 1.5*perStep(&bad) {
		t.Errorf("%.2f tokens a step with good guesses, %.2f with bad ones", perStep(&good), perStep(&bad))
	}
}

// TestLoRAAndGrammars: more adapters than slots, and grammars not seen before, hold
// requests back in the queue though there is room.
func TestLoRAAndGrammars(t *testing.T) {
	adapters := func(n int) func(r *rand.Rand, q *workload.Request) {
		return func(r *rand.Rand, q *workload.Request) { chat(r, q); q.Adapter = 1 + r.IntN(n) }
	}
	few, many := watchFor(t, plain(), nil, adapters(3), func(*Parts) {}), watchFor(t, plain(), nil, adapters(12), func(*Parts) {})
	if q := engine.StageQueue; few.stages[q] > 0.05 || many.stages[q] < 0.3 || many.used > few.used*2 {
		t.Errorf("queued for %.3f s with few adapters, %.3f with many", few.stages[q], many.stages[q])
	}
	schemas := func(n int) func(r *rand.Rand, q *workload.Request) {
		return func(r *rand.Rand, q *workload.Request) { chat(r, q); q.Schema = 1 + r.IntN(n) }
	}
	known, fresh := watchFor(t, plain(), nil, schemas(20), func(*Parts) {}), watchFor(t, plain(), nil, schemas(1e6), func(*Parts) {})
	if q := engine.StageQueue; known.stages[q] > 0.05 || fresh.stages[q] < 0.3 || fresh.cpu[machine.GrammarCompile] < 100 {
		t.Errorf("queued for %.3f s with known grammars, %.3f with new ones", known.stages[q], fresh.stages[q])
	}
}

// TestRouting: weights move requests, and the prefix router keeps what begins alike together.
func TestRouting(t *testing.T) {
	sc := plain()
	sc.Replicas, sc.GPUs = 3, 3
	even := watchFor(t, sc, nil, chat, func(*Parts) {})
	if least := min(even.byReplica[0], even.byReplica[1], even.byReplica[2]); least < even.finished*31/100 {
		t.Errorf("in turn: %v", even.byReplica)
	}
	uneven := watchFor(t, sc, []knob.Change{{Knob: knob.RouteWeight, Target: 1, Value: 6}}, chat, func(*Parts) {})
	if share := float64(uneven.byReplica[1]) / float64(uneven.finished); math.Abs(share-0.75) > 0.02 {
		t.Errorf("weight 6 of 8 gets %.2f", share)
	}
	turns := func(r *rand.Rand, q *workload.Request) {
		chat(r, q)
		q.Prefix = []workload.Segment{{ID: uint64(r.IntN(400)), Tokens: q.Prompt * 9 / 10}}
	}
	sc.Router = roundRobin
	apart := watchFor(t, sc, nil, turns, func(p *Parts) { p.Blocks = 1500 })
	sc.Router = byPrefix
	together := watchFor(t, sc, nil, turns, func(p *Parts) { p.Blocks = 1500 })
	if together.cached < 1.3*apart.cached {
		t.Errorf("found %.2f of the prompts by prefix, %.2f in turn", together.cached, apart.cached)
	}
}

// TestPrefillInstances: prompts are computed on one replica and come to the other, whose
// steps are then of decodes alone; a slow way between them shows in the queue there.
func TestPrefillInstances(t *testing.T) {
	sc := plain()
	sc.Replicas, sc.GPUs, sc.Prefills = 2, 2, 1
	run := func(turns []knob.Change) seen { return watchFor(t, sc, turns, chat, func(*Parts) {}) }
	v := run(nil)
	if v.byReplica[1] < 1100 || v.finished < 2200 || v.tally.Failed+v.tally.Aborted > 0 {
		t.Errorf("%v finished: %+v", v.byReplica, v.tally)
	}
	if v.tally.Received == 0 || v.pages[0].decodes != 0 || v.pages[1].decodes == 0 || v.pages[1].thrown+v.pages[1].again != 0 {
		t.Errorf("received %d; decoded %d and %d", v.tally.Received, v.pages[0].decodes, v.pages[1].decodes)
	}
	slow := run(all(knob.Transfer, 0.01))
	if slow.ttft < 2*v.ttft || slow.stages[engine.StageQueue] < v.stages[engine.StageQueue]+0.1 {
		t.Errorf("TTFT %.3f s over a slow way, %.3f over a fast one", slow.ttft, v.ttft)
	}
}

// TestRestart: what is in flight fails, for a while nobody is there, then the cache is empty.
func TestRestart(t *testing.T) {
	sc := plain()
	sc.Timeline = []Event{{At: 50 * time.Second, Change: knob.Change{Knob: knob.Restart, Target: knob.All}}}
	page := &listener{t: t}
	s := begin(t, sc, func(p *Parts) {
		p.Source, p.Front.Load = poisson(3, 10, 1<<40, chat), 20*time.Second
	})
	s.Show(0, page)
	state := func(at time.Duration) (up bool, since time.Duration, used int) {
		if err := s.Advance(at); err != nil {
			t.Fatal(err)
		}
		up, since = s.Up(0)
		return up, since, s.State(0).Used
	}
	if up, since, used := state(49 * time.Second); !up || since != 0 || used == 0 {
		t.Error("it does not serve at first")
	}
	if up, _, _ := state(60 * time.Second); up || s.InFlight() != 0 || s.HostLoad(0).Up {
		t.Error("it serves while it loads")
	}
	failed := s.Tally().Failed
	if failed < 80 {
		t.Errorf("%d requests failed", failed)
	}
	up, since, _ := state(120 * time.Second)
	if !up || since != 70*time.Second || page.restarts != 1 || s.Tally().Finished < 700 {
		t.Errorf("up: %t since %s, %+v", up, since, s.Tally())
	}
}

// TestOverloadIsBounded: when more comes than is served, for hours, memory does not grow.
func TestOverloadIsBounded(t *testing.T) {
	s := begin(t, plain(), func(p *Parts) {
		p.Models = []cost.Model{&cost.Linear{Base: time.Second}}
		p.Source = poisson(3, 200, 1<<40, func(_ *rand.Rand, q *workload.Request) { q.Prompt, q.Output = 30, 3 })
	})
	for at := time.Minute; at <= 20*time.Minute; at += time.Minute {
		if err := s.Advance(at); err != nil {
			t.Fatal(err)
		}
	}
	if c := s.Tally(); s.InFlight() > maxOpen || c.Refused == 0 || len(s.replicas[0].ring.records) > finishedKept || len(s.agenda.heap) > 2*maxOpen {
		t.Errorf("%d in flight, %d records, %d events, %+v", s.InFlight(), len(s.replicas[0].ring.records), len(s.agenda.heap), c)
	}
}

// TestImpossible: what cannot be is told in a line.
func TestImpossible(t *testing.T) {
	for _, change := range []func(sc *Scenario, p *Parts){
		func(sc *Scenario, _ *Parts) { sc.Replicas = 0 },
		func(sc *Scenario, _ *Parts) { sc.Prefills = 1 },
		func(sc *Scenario, _ *Parts) { sc.Router = "by-name" },
		func(sc *Scenario, _ *Parts) { sc.Limits.MaxNumSeqs = 0 },
		func(_ *Scenario, p *Parts) { p.Source = nil },
		func(_ *Scenario, p *Parts) { p.Blocks = 0 },
		func(_ *Scenario, p *Parts) { p.Models = nil },
	} {
		sc := plain()
		p := Parts{Source: poisson(1, 1, 1, chat), Models: []cost.Model{linear()}, Blocks: 10}
		change(&sc, &p)
		if _, err := NewSimulation(sc, knob.NewBoard(1, 1), p); err == nil {
			t.Errorf("accepted %+v", sc)
		}
	}
	sc := plain()
	sc.Timeline = []Event{{At: time.Second, Change: knob.Change{Knob: knob.Hang, Target: 7}}}
	s := begin(t, sc, func(p *Parts) { p.Source = poisson(1, 1, 1, chat) })
	if err := s.Advance(time.Minute); err == nil {
		t.Error("replica 7 of 1 was turned")
	}
}
