package rules

import (
	"math"
	"reflect"
	"testing"

	"llmtop/probes"
)

func TestMergeOfDifferentBuckets(t *testing.T) {
	a := &probes.Histogram{Bounds: []float64{1, 2, 5}, Cumulative: []float64{1, 3, 6}, Count: 7, Sum: 30}
	b := &probes.Histogram{Bounds: []float64{0.5, 2, 4, 5}, Cumulative: []float64{1, 2, 3, 4}, Count: 4, Sum: 10}
	m := merge(a, b)
	want := &probes.Histogram{Bounds: []float64{2, 5}, Cumulative: []float64{5, 10}, Count: 11, Sum: 40}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, want %+v", m, want)
	}
	if merge(nil, a) != a || merge(a, nil) != a || merge(nil, nil) != nil {
		t.Error("nothing and a is a")
	}
	none := merge(a, &probes.Histogram{Bounds: []float64{3}, Cumulative: []float64{1}, Count: 1, Sum: 1})
	if q, _, _ := none.Quantile(0.5); q.Seen() || none.Mean().Or(0) != 31./8 {
		t.Errorf("no shared bound: quantile %v, mean %v", q, none.Mean())
	}
}

// twoEngines looks at points that each have two engines.
func twoEngines(second func(i int, e *probes.Engine)) *now {
	w := probes.NewWindow(baseKeep, func(s *probes.Sample) *probes.Point {
		i := int(s.Seq)
		p := engineAt(float64(i), func(e *probes.Engine) { e.Endpoint = "http://a"; fillEngine(e, float64(i), 3) })
		q := engineAt(float64(i), func(e *probes.Engine) { e.Endpoint = "http://b"; fillEngine(e, float64(i), 5); second(i, e) })
		p.Engines = append(p.Engines, q.Engines...)
		return p
	})
	var n *now
	for i := range 12 {
		n = look(w, w.Push(&probes.Sample{Seq: uint64(i), At: at(float64(i))}))
	}
	return n
}

func fillEngine(e *probes.Engine, second, perSecond float64) {
	e.Finished, e.Waiting, e.Running = probes.Some(perSecond*second), probes.Some(perSecond), probes.Some(1.0)
	e.KVUsage = probes.Some(perSecond / 10)
	e.TTFT = &probes.Histogram{Bounds: []float64{1, 2}, Cumulative: []float64{perSecond * second, perSecond * second}, Count: perSecond * second, Sum: perSecond * second / 2}
}

// TestTwoEnginesAddUp: counts are summed, histograms merged, the fullest cache counts.
func TestTwoEnginesAddUp(t *testing.T) {
	check := func(name string, s Signals, want map[string]float64) {
		for signal, v := range want {
			if got, ok := s.Get(signal).Get(); !ok || math.Abs(got-v) > 1e-9 {
				t.Errorf("%s: %s = %g (%v), want %g", name, signal, got, s.Get(signal).Why(), v)
			}
		}
	}
	check("two", compute(twoEngines(func(int, *probes.Engine) {})), map[string]float64{
		"queue.depth": 8, "batch.running": 2, "requests.rate": 8, "kv.usage": 0.5, "ttft.mean": 0.5, "queue.slope": 0})
	check("one gone stale", compute(twoEngines(func(i int, e *probes.Engine) { e.At = at(0) })), map[string]float64{"queue.depth": 3, "kv.usage": 0.3})
	check("other buckets", compute(twoEngines(func(_ int, e *probes.Engine) { e.TTFT.Bounds = []float64{1, 3} })), map[string]float64{"ttft.mean": 0.5})
}
