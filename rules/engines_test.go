package rules

import (
	"testing"
	"time"

	"llmtop/probes"
)

// enginesAt is a point with several engines; fill is called for each.
func enginesAt(second float64, engines ...probes.Engine) *probes.Point {
	p := &probes.Point{Sample: &probes.Sample{At: at(second), Interval: time.Second}}
	for i := range engines {
		e := engines[i]
		e.At = at(second)
		p.Engines = append(p.Engines, &e)
	}
	return p
}

// times is a histogram of n equal observations.
func times(n int, value float64) *probes.Histogram {
	values := make([]float64, n)
	for i := range values {
		values[i] = value
	}
	return histogramOf(values...)
}

// A frontend and the workers behind it tell of the same requests: what users feel is the
// frontend's, the batch is the workers', nothing is added twice.
func TestFrontendAndWorkersAreNotAddedUp(t *testing.T) {
	mk := func(second float64, n int) *probes.Point {
		return enginesAt(second,
			probes.Engine{Endpoint: "http://front", Model: "acme/llama", Role: probes.Frontend, Waiting: probes.Some(9.0), Running: probes.Some(20.0),
				TTFT: times(n, 0.9), Finished: probes.Some(float64(n)), GenerationTokens: probes.Some(float64(40 * n))},
			probes.Engine{Endpoint: "http://w1", Model: "Acme/Llama", Waiting: probes.Some(1.0), Running: probes.Some(6.0), KVUsage: probes.Some(0.3),
				TTFT: times(n/2, 0.3), Finished: probes.Some(float64(n / 2)), GenerationTokens: probes.Some(float64(20 * n))},
			probes.Engine{Endpoint: "http://w2", Model: "Acme/Llama", Waiting: probes.Some(2.0), Running: probes.Some(5.0), KVUsage: probes.Some(0.7),
				TTFT: times(n/2, 0.3), Finished: probes.Some(float64(n / 2)), GenerationTokens: probes.Some(float64(20 * n))})
	}
	s := fromPoints(mk(0, 0), mk(10, 20))
	near(t, s, "ttft.mean", 0.9)
	near(t, s, "requests.rate", 2)
	near(t, s, "tokens.out.rate", 80)
	near(t, s, "queue.depth", 3)
	near(t, s, "batch.running", 11)
	near(t, s, "kv.usage", 0.7)
}

// A frontend whose page cannot be read any more leaves its place to the workers that can.
func TestSilentFrontend(t *testing.T) {
	mk := func(second float64, n int) *probes.Point {
		p := enginesAt(second,
			probes.Engine{Endpoint: "http://front", Model: "m", Role: probes.Frontend, TTFT: times(3, 0.9), Finished: probes.Some(3.0)},
			probes.Engine{Endpoint: "http://w", Model: "m", TTFT: times(n, 0.3), Finished: probes.Some(float64(n)), Waiting: probes.Some(1.0), Running: probes.Some(1.0)})
		p.Engines[0].At = at(-60)
		return p
	}
	s := fromPoints(mk(0, 0), mk(10, 20))
	near(t, s, "ttft.mean", 0.3)
	near(t, s, "requests.rate", 2)
	alone := enginesAt(0, probes.Engine{Endpoint: "http://front", Role: probes.Frontend, Waiting: probes.Some(3.0)}, probes.Engine{Endpoint: "http://other", Role: probes.Frontend})
	alone.Engines[0].At = at(-60)
	absent(t, fromPoints(alone), "queue.depth", probes.Stale)
}

// A frontend of one model says nothing of an engine of another; one that names no model
// belongs to the only service there is.
func TestServicesAreTold(t *testing.T) {
	engine := func(endpoint, model string, role probes.Role) *probes.Engine {
		return &probes.Engine{Endpoint: endpoint, Model: model, Role: role, TTFT: times(1, 1)}
	}
	front, own, other, unnamed := engine("f", "m", probes.Frontend), engine("o", "M", probes.Whole), engine("x", "n", probes.Whole), engine("u", "", probes.Whole)
	for _, c := range []struct {
		name    string
		engines []*probes.Engine
		want    string
	}{
		{"alone", []*probes.Engine{own}, "o"},
		{"frontend first", []*probes.Engine{own, front}, "f"},
		{"another model speaks for itself", []*probes.Engine{own, front, other}, "fx"},
		{"who names no model", []*probes.Engine{front, unnamed}, "f"},
		{"who names no model, of two services", []*probes.Engine{front, other, unnamed}, "fxu"},
		{"replicas", []*probes.Engine{own, engine("p", "m", probes.Whole)}, "op"},
		{"prefill and decode", []*probes.Engine{engine("p", "m", probes.Prefill), engine("d", "m", probes.Decode)}, "d"},
		{"a frontend that does not tell", []*probes.Engine{{Endpoint: "g", Model: "m", Role: probes.Frontend}, own}, "o"},
	} {
		got := ""
		for _, e := range speakers(c.engines, probes.Client, ttftHistogram.told) {
			got += e.Endpoint
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPrefillAndDecodeInstances(t *testing.T) {
	mk := func(second float64, n int) *probes.Point {
		return enginesAt(second,
			probes.Engine{Endpoint: "http://p", Role: probes.Prefill, Running: probes.Some(3.0), Queue: times(n, 0.2), Prefill: times(n, 0.4), TTFT: times(n, 0.6), PromptTokens: probes.Some(float64(100 * n))},
			probes.Engine{Endpoint: "http://d", Role: probes.Decode, Running: probes.Some(1.0), Queue: times(n, 0.1), TTFT: times(n, 0.8), E2E: times(n, 3), Decode: times(n, 2.2), PromptTokens: probes.Some(float64(100 * n))})
	}
	s := fromPoints(mk(0, 0), mk(10, 10))
	near(t, s, "ttft.mean", 0.8)
	near(t, s, "stage.queue.mean", 0.2)
	near(t, s, "stage.prefill.mean", 0.4)
	near(t, s, "tokens.in.rate", 100)
	near(t, s, "batch.running", 4)
}

// What an engine does not tell is worked out from what it does.
func TestStagesByDifference(t *testing.T) {
	empty := func(*probes.Engine) {}
	s := fromPoints(engineAt(0, func(e *probes.Engine) { e.TTFT, e.Queue, e.E2E = times(0, 0), times(0, 0), times(0, 0) }),
		engineAt(10, func(e *probes.Engine) { e.TTFT, e.Queue, e.E2E = times(10, 1), times(10, 0.7), times(10, 4) }))
	near(t, s, "stage.queue.mean", 0.7)
	near(t, s, "stage.prefill.mean", 0.3)
	near(t, s, "stage.decode.mean", 3)

	tgi := func(n int) func(e *probes.Engine) {
		return func(e *probes.Engine) {
			e.Frontend, e.Queue, e.Prefill, e.E2E = times(n, 0.05), times(n, 0.5), times(n, 0.25), times(n, 3)
		}
	}
	s = fromPoints(engineAt(0, tgi(0)), engineAt(10, tgi(10)))
	near(t, s, "ttft.mean", 0.8)
	absent(t, s, "ttft.p95", probes.NotSeen)
	near(t, s, "stage.frontend.mean", 0.05)
	near(t, s, "stage.queue.mean", 0.5)
	near(t, s, "stage.decode.mean", 2.2)

	s = fromPoints(engineAt(0, empty), engineAt(10, empty))
	absent(t, s, "stage.queue.mean", probes.NotSeen)
}

// Counters that move when requests end say nothing about a long request: only a longer
// silence makes the gauges stale.
func TestTokensAtFinishAreNoSilence(t *testing.T) {
	mk := func(atFinish bool, seconds int) Signals {
		var points []*probes.Point
		for i := range seconds {
			points = append(points, engineAt(float64(i), func(e *probes.Engine) {
				e.AtFinish, e.Running, e.Waiting = atFinish, probes.Some(2.0), probes.Some(0.0)
				e.GenerationTokens, e.PromptTokens, e.Finished = probes.Some(5.0), probes.Some(5.0), probes.Some(5.0)
			}))
		}
		return fromPoints(points...)
	}
	absent(t, mk(false, 12), "batch.running", probes.Stale)
	near(t, mk(true, 12), "batch.running", 2)
	absent(t, mk(true, 32), "batch.running", probes.Stale)
}

// Requests wait and nothing comes out: that is no healthy engine. While tokens come, or
// where they count at the end of requests, nothing of the kind is said.
func TestStuckEngine(t *testing.T) {
	for _, c := range []struct {
		name     string
		running  float64
		waiting  float64
		growth   float64
		atFinish bool
		want     State
	}{
		{"stuck", 12, 4, 0, false, Unknown},
		{"nothing runs and requests wait (vllm-metal #479, sglang #24140)", 0, 6, 0, false, Unknown},
		{"working", 12, 4, 30, false, Unmeasurable}, // no latency is told here
		{"nobody waits: the gauges may be stale", 12, 0, 0, false, Unmeasurable},
		{"tokens at finish", 12, 4, 0, true, Unmeasurable},
	} {
		i := -1
		d := NewDiagnoser(&Book{}, Options{Decode: func(s *probes.Sample) *probes.Point {
			i++
			e := &probes.Engine{At: s.At, Endpoint: "http://e", AtFinish: c.atFinish, Running: probes.Some(c.running), Waiting: probes.Some(c.waiting), GenerationTokens: probes.Some(100 + c.growth*float64(i))}
			return &probes.Point{Sample: s, Engines: []*probes.Engine{e}}
		}})
		var tick *Tick
		for second := range 15 {
			tick = d.Observe(&probes.Sample{At: at(float64(second)), Mono: time.Duration(second) * time.Second, Interval: time.Second})
		}
		if got := tick.Diagnosis.State; got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got, tick.Diagnosis.Reason, c.want)
		}
		if silent := tick.Signals.Get("engine.stalled").Or(-1); (silent >= 10) != (c.growth == 0) {
			t.Errorf("%s: stalled for %v s", c.name, silent)
		}
	}
}

func TestPrefixHits(t *testing.T) {
	mk := func(f, g func(e *probes.Engine)) Signals { return fromPoints(engineAt(0, f), engineAt(10, g)) }
	some := probes.Some[float64]
	counts := func(hits, queries float64) func(*probes.Engine) {
		return func(e *probes.Engine) { e.PrefixHits, e.PrefixQueries = some(hits), some(queries) }
	}
	near(t, mk(counts(0, 0), counts(30, 100)), "prefix.hit_ratio", 0.3)
	absent(t, mk(counts(0, 0), counts(130, 100)), "prefix.hit_ratio", probes.NotSeen)
	// Requests that wait are looked up again at each try.
	retried := func(n float64) func(*probes.Engine) {
		return func(e *probes.Engine) {
			counts(2*n, 3*n)(e)
			e.PromptTokens = some(n)
		}
	}
	absent(t, mk(retried(0), retried(100)), "prefix.hit_ratio", probes.NotSeen)
	// The sources tell the truth.
	near(t, mk(func(e *probes.Engine) {
		counts(0, 0)(e)
		e.PromptComputed, e.PromptCached = some(0), some(0)
	}, func(e *probes.Engine) {
		counts(2900, 3000)(e)
		e.PromptComputed, e.PromptCached, e.PromptReceived = some(75), some(25), some(0)
	}), "prefix.hit_ratio", 0.25)
	gauge := func(e *probes.Engine) { e.PrefixHitRatio = some(0.6) }
	near(t, mk(gauge, gauge), "prefix.hit_ratio", 0.6)
}

func TestSpeculation(t *testing.T) {
	mk := func(drafts, tokens, accepted float64) func(*probes.Engine) {
		return func(e *probes.Engine) {
			e.SpecDrafts, e.SpecDraftTokens, e.SpecAccepted = probes.Some(drafts), probes.Some(tokens), probes.Some(accepted)
		}
	}
	s := fromPoints(engineAt(0, mk(0, 0, 0)), engineAt(10, mk(100, 400, 300)))
	near(t, s, "spec.acceptance", 0.75)
	near(t, s, "spec.step_tokens", 4)
	s = fromPoints(engineAt(0, mk(1, 4, 3)), engineAt(10, mk(1, 4, 3)))
	absent(t, s, "spec.acceptance", probes.NotSeen)
	gauge := func(e *probes.Engine) { e.SpecAcceptance = probes.Some(0.5) }
	near(t, fromPoints(engineAt(0, gauge), engineAt(10, gauge)), "spec.acceptance", 0.5)
}

// One rank of four takes three times as long for a token and lets its queue grow.
func TestOneInstanceDiffers(t *testing.T) {
	mk := func(second float64, n int) *probes.Point {
		p := enginesAt(second, probes.Engine{Endpoint: "http://e"})
		for i, name := range []string{"0", "1", "2", "3"} {
			tpot, waiting := 0.2, 1.0
			if i == 2 {
				tpot, waiting = 0.6, 7
			}
			p.Engines[0].Parts = append(p.Engines[0].Parts, &probes.Engine{At: at(second), Endpoint: "http://e", Instance: name, TPOT: times(n, tpot), TTFT: times(n, 0.3), Waiting: probes.Some(waiting), GenerationTokens: probes.Some(float64(n))})
		}
		return p
	}
	s := fromPoints(mk(0, 0), mk(10, 20))
	near(t, s, "instance.count", 4)
	near(t, s, "instance.silent", 0)
	near(t, s, "instance.tpot_factor", 3)
	near(t, s, "instance.ttft_factor", 1)
	near(t, s, "instance.queue_factor", 4)
	alone := fromPoints(engineAt(0, func(*probes.Engine) {}))
	near(t, alone, "instance.count", 1)
	absent(t, alone, "instance.tpot_factor", probes.NotSeen)

	quiet := mk(10, 20)
	other := enginesAt(10, probes.Engine{Endpoint: "http://f"})
	quiet.Engines = append(quiet.Engines, other.Engines[0])
	quiet.Engines[1].At = at(-20)
	s = fromPoints(mk(0, 0), quiet)
	near(t, s, "instance.count", 5)
	near(t, s, "instance.silent", 1)
}

// An instance of another model or role is no peer.
func TestPeers(t *testing.T) {
	instance := func(model string, role probes.Role, tpot float64) Instance {
		return Instance{Engine: &probes.Engine{Model: model, Role: role}, TPOT: probes.Some(tpot)}
	}
	all := []Instance{instance("a", "", 0.1), instance("b", "", 0.9), instance("a", probes.Decode, 0.9), instance("a", "", 0.2)}
	againstPeers(all)
	for i, want := range []probes.Opt[float64]{probes.Some(0.5), missing(), missing(), probes.Some(2.0)} {
		if got := all[i].TPOTOfPeers; got != want {
			t.Errorf("instance %d: got %+v, want %+v", i, got, want)
		}
	}
}

// What a histogram cannot tell is not told: the lowest bucket says "less than", the last one "more than".
func TestBuckets(t *testing.T) {
	mk := func(values ...float64) func(*probes.Engine) {
		return func(e *probes.Engine) { e.TTFT = histogramOf(values...) }
	}
	i := tableIndex["ttft.p95"]
	for _, c := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"lowest bucket", []float64{0.01, 0.01, 0.02, 0.03, 0.04, 0.05}, "< 100 ms"},
		{"between", []float64{0.7, 0.7, 0.7, 0.7, 0.7, 0.7}, "975 ms"},
		{"beyond the last bound", []float64{9, 9, 9, 9, 9, 9}, "> 5 s"},
	} {
		points := []*probes.Point{engineAt(0, mk()), engineAt(10, mk(c.values...))}
		next := 0
		w := probes.NewWindow(time.Hour, func(*probes.Sample) *probes.Point { next++; return points[next-1] })
		w.Push(points[0].Sample)
		n := look(w, w.Push(points[1].Sample))
		v := compute(n)[i]
		if got := n.buckets[i].Format(v.Or(-1), "s"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := (Bucket{}).Format(0.25, "s"); got != "250 ms" {
		t.Errorf("exact: got %q", got)
	}
}
