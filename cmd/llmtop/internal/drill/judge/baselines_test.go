package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// signals are all missing but some.
func signals(some map[string]float64) rules.Signals {
	s := make(rules.Signals, len(table))
	for name, x := range some {
		s[rowOf(name)] = probes.Some(x)
	}
	return s
}

func second(n int) time.Time { return time.Unix(int64(1_700_000_000+n), 0) }

func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		signals map[string]float64
		causes  []string
	}{
		{nil, nil},
		{map[string]float64{"queue.depth": 5, "kv.usage": 0.95}, nil},
		{map[string]float64{"queue.depth": 6}, []string{"queue-backlog"}},
		{map[string]float64{"queue.depth": 6, "kv.preemption_rate": 0.1}, []string{"kv-preemption-storm", "queue-backlog"}},
		{map[string]float64{"gpu.limit_ratio": 0.5}, []string{"power-cap"}},
		{map[string]float64{"gpu.limit_ratio": 1}, nil},
		{map[string]float64{"gpu.temperature": 90, "gpu.throttle_thermal": 1, "process.throttled": 0.5, "queue.depth": 9, "ttft.p95": 9}, []string{"thermal-throttle", "cpu-quota-throttled", "queue-backlog"}},
	} {
		v := thresholds{}.verdict(second(0), signals(c.signals))
		if !slices.Equal(v.Causes, c.causes) || (v.State == "healthy") != (c.causes == nil) {
			t.Errorf("of %v: %+v, want %v", c.signals, v, c.causes)
		}
	}
}

// TestSigmas: a signal with noise leaves its past at 60 s.
func TestSigmas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := newSigmas()
	said := map[int][]string{}
	for n := range 100 {
		depth, clock := 10+r.Float64(), 0.99
		if n >= 60 {
			depth = 40
		}
		if n >= 80 {
			clock = 0.2
		}
		said[n] = s.verdict(second(n), signals(map[string]float64{"queue.depth": depth, "gpu.sm_clock_ratio": clock})).Causes
	}
	for n := range 62 {
		if said[n] != nil {
			t.Errorf("at %d s %v is said of noise", n, said[n])
		}
	}
	if got := said[62]; !slices.Equal(got, []string{"queue-backlog"}) {
		t.Errorf("after three ticks %v is said", got)
	}
	if got := said[85]; !slices.Equal(got, []string{"clocks-stuck-low", "queue-backlog"}) {
		t.Errorf("what is further out comes first: %v", got)
	}
}

// TestSigmasWarm: in the first 30 s nothing is out of its past.
func TestSigmasWarm(t *testing.T) {
	s := newSigmas()
	for n := range 30 {
		depth := 0.0
		if n > 15 {
			depth = 500
		}
		if v := s.verdict(second(n), signals(map[string]float64{"queue.depth": depth})); v.Causes != nil {
			t.Errorf("at %d s %v", n, v.Causes)
		}
	}
}

// TestTrail holds the spread against plain medians.
func TestTrail(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var tr trail
	var all []float64
	for i := range sigmaKeep + 200 {
		x := math.Round(r.NormFloat64()*20) / 4
		tr.add(x)
		if all = append(all, x); len(all) > sigmaKeep {
			all = all[1:]
		}
		if i < fewTrail {
			continue
		}
		sorted := slices.Sorted(slices.Values(all))
		median := sorted[len(sorted)/2]
		var far []float64
		for _, y := range all {
			far = append(far, math.Abs(y-median))
		}
		slices.Sort(far)
		if gotMedian, mad, ok := tr.spread(); !ok || gotMedian != median || mad != far[len(far)/2] {
			t.Fatalf("after %d: %v ± %v, want %v ± %v", i, gotMedian, mad, median, far[len(far)/2])
		}
	}
}

func TestVector(t *testing.T) {
	v := newVector()
	for n := range 41 {
		if v.ready() {
			t.Fatalf("ready after %d s", n)
		}
		v.observe(second(n), signals(map[string]float64{"tpot.p50": 0.020, "engine.age": float64(n), "self.cpu": 1}))
	}
	got := v.values(signals(map[string]float64{"tpot.p50": 0.0863, "engine.age": 50, "self.cpu": 1, "queue.depth": 4}))
	want := map[string]float64{"tpot.p50": 0.086, "tpot.p50~": 2, "queue.depth": 4}
	if len(got) != len(want) {
		t.Errorf("features %v, want %v", got, want)
	}
	for name, x := range want {
		if math.Abs(got[name]-x) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got[name], x)
		}
	}
}

// TestTreeJudge: what the tree says must stand for three ticks.
func TestTreeJudge(t *testing.T) {
	limit := 5.0
	m := &TreeModel{Nodes: []TreeNode{{Feature: "queue.depth", Below: &limit, Missing: "left", Left: 1, Right: 2},
		{Classes: []string{HealthyClass}}, {Classes: []string{"queue-backlog", HealthyClass, "traffic-burst"}}}}
	v := newVector()
	j := newTreeJudge(m, v)
	for n := range 60 {
		depth := 1.0
		if n == 45 || n >= 50 {
			depth = 9
		}
		s := signals(map[string]float64{"queue.depth": depth})
		v.observe(second(n), s)
		got := j.verdict(second(n), s)
		if want := n >= 52; want != (got.State == "degraded") || want && !slices.Equal(got.Causes, []string{"queue-backlog", "traffic-burst"}) {
			t.Errorf("at %d s %+v", n, got)
		}
	}
}

// TestTables: each signal has one meaning, and is one of the table.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range departures {
		if seen[d.signal] || d.rise == "" && d.falls == "" {
			t.Errorf("%s stands twice, or means nothing", d.signal)
		}
		seen[d.signal] = true
	}
	if len(newSigmas().rows) != len(departures) || len(alertRows) != len(alerts) {
		t.Error("rows are missing")
	}
}
