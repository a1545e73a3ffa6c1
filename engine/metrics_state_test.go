package engine

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// reading is the value of a series of a page, or the count and sum of a histogram's.
type reading struct {
	count uint64
	value float64
}

// readings are the series of one family, by the value of its own label ("" without one).
func readings(page map[string]*dto.MetricFamily, family string) map[string]reading {
	out := map[string]reading{}
	for _, m := range page[family].GetMetric() {
		key := ""
		for _, l := range m.GetLabel() {
			if n := l.GetName(); n != "engine" && n != "model_name" {
				key = l.GetValue()
			}
		}
		r := reading{m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum()}
		r.value += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		out[key] = r
	}
	return out
}

// What the scheduler counts is told as counters and gauges, all of one instant.
func TestStateMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		synctest.Wait()
		e.mu.Lock()
		e.state.Stats = Stats{
			Waiting: [NumClasses]int{1, 2, 3}, Running: [NumClasses]int{4, 5, 6},
			Used: 10, Cached: 20, Free: 34,
			PrefixQueries: 300, PrefixHits: 200, PreemptedTokens: 77, RecomputedTokens: 66,
		}
		e.mu.Unlock()
		page := scrape(t, e)
		for _, c := range []struct {
			family, series string
			kind           dto.MetricType
			want           float64
		}{
			{"llmtop:class_requests_waiting", "realtime", dto.MetricType_GAUGE, 1},
			{"llmtop:class_requests_waiting", "background", dto.MetricType_GAUGE, 3},
			{"llmtop:class_requests_running", "normal", dto.MetricType_GAUGE, 5},
			{"llmtop:kv_blocks", "used", dto.MetricType_GAUGE, 10},
			{"llmtop:kv_blocks", "cached", dto.MetricType_GAUGE, 20},
			{"llmtop:kv_blocks", "free", dto.MetricType_GAUGE, 34},
			{"llmtop:queue_limit", "", dto.MetricType_GAUGE, 12},
			{"vllm:prefix_cache_queries_total", "", dto.MetricType_COUNTER, 300},
			{"vllm:prefix_cache_hits_total", "", dto.MetricType_COUNTER, 200},
			{"llmtop:preempted_tokens_total", "", dto.MetricType_COUNTER, 77},
			{"llmtop:recomputed_tokens_total", "", dto.MetricType_COUNTER, 66},
		} {
			if got := readings(page, c.family)[c.series].value; got != c.want || page[c.family].GetType() != c.kind {
				t.Errorf("%s %s: %g (%s), want %g", c.family, c.series, got, page[c.family].GetType(), c.want)
			}
		}
	})
}

// A sequence is counted in its class from the moment it is handed over until it
// ends; its time in the queue when it has been answered.
func TestClassMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxNumSeqs, f.before = 1, g.before })
		defer e.stop()
		defer g.release()
		over := make(chan struct{})
		begin := func(class Class) {
			q := newSequence(3, 2, 1)
			q.Class = class
			j := newJob(q, e.log.open("id", time.Now()), e.queue.enter(Normal))
			if !e.submit(j) {
				t.Fatal("not taken")
			}
			go func() {
				newAnswer(e.Engine, j, textFilter{}, false).run(t.Context())
				over <- struct{}{}
			}()
		}
		want := func(family string, counts ...float64) {
			t.Helper()
			got := readings(scrape(t, e), family)
			for i, name := range classNames {
				if r := got[name]; r.value+float64(r.count) != counts[i] {
					t.Errorf("%s of class %s: %+v, want %g", family, name, r, counts[i])
				}
			}
		}
		begin(Normal)
		<-g.arrived
		begin(Background) // the loop stands in a step and has not seen it yet
		want("llmtop:class_requests_running", 0, 1, 0)
		want("llmtop:class_requests_waiting", 0, 0, 1)
		g.release()
		<-over
		<-over
		synctest.Wait()
		want("llmtop:class_requests_running", 0, 0, 0)
		want("llmtop:class_requests_waiting", 0, 0, 0)
		want("llmtop:class_queue_time_seconds", 0, 1, 1)
	})
}

func TestUnlimitedQueueMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxQueue = Unlimited })
		defer e.stop()
		if got := counterValue(t, e, "llmtop:queue_limit"); !math.IsInf(got, 1) {
			t.Errorf("%g", got)
		}
	})
}

// The real runner tells what it holds; one that does not know has no such family.
func TestMemoryBudget(t *testing.T) {
	e := startOncall(t, Config{NumBlocks: 32, BlockSize: 8})
	defer e.stop()
	b := e.Budget()
	for part, want := range map[string]int64{"weights": b.Weights, "kv_cache": b.KVCache, "activations": b.Activations, "buffer": b.Buffer} {
		if got := readings(scrape(t, e), "llmtop:memory_budget_bytes")[part].value; got != float64(want) || got == 0 {
			t.Errorf("%s takes %g bytes, want %d", part, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		fake := startFake(t, nil)
		defer fake.stop()
		if scrape(t, fake)["llmtop:memory_budget_bytes"] != nil {
			t.Error("a runner that does not know tells its memory")
		}
	})
}
