package rules

import (
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func TestParseClauseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"queue.deep > 3", `unknown signal "queue.deep"`},
		{"ttft.p95 > 2", "s against no unit"},
		{"ttft.p95 > 90%", "s against ratio"},
		{"ttft.p95 > queue.depth", "s against count"},
		{"kv.usage > 2s", "ratio against s"},
		{"ttft.p95 + kv.usage > 0", "s against ratio"},
		{"host.memory_available < 5", "bytes against no unit"},
		{"host.net_rx > 5", "bytes/s against no unit"},
		{"host.net_rx > 5MiB", "bytes/s against bytes"},
		{"queue.depth", "not a condition"},
		{"queue.depth and kv.usage > 1", "is a number, not a condition"},
		{"not queue.depth", "not a condition"},
		{"up(ttft.p95 > 2s)", "wanted up(x)"},
		{"up()", "wanted up(x)"},
		{"up(ttft.p95, 2, 3)", "wanted up(x)"},
		{`held(queue.depth, "5s")`, "wanted held"},
		{`held(queue.depth > 1, "five")`, "wanted held"},
		{`held(queue.depth > 1)`, "wanted held"},
		{`rising(queue.depth, "2h")`, "wanted rising"},
		{"before(ttft.p95)", "wanted before"},
		{"corr(ttft.p95) > 1", "wanted corr"},
		{`added("ttft", "sleep") > 10%`, `unknown stage "sleep"`},
		{`added("itl", "queue") > 10%`, "wanted added"},
		{"level(ttft.p95)", `unknown function "level"`},
		{"ttft.p95 > 2 parsecs", "s against no unit"},
		{"ttft.p95 > 2parsecs", `unknown unit "parsecs"`},
		{"ttft.p95 > 1.2.3s", "is not a number"},
		{"ttft.p95 > 2s kv.usage", `unexpected "kv.usage"`},
		{"(ttft.p95 > 2s", "missing )"},
		{`added("ttft`, "closing quote"},
		{"ttft.p95 § 2s", "unexpected character"},
		{"", "expected a signal"},
		{`"text"`, "not a condition"},
		{`"a" == "b"`, "is not a number"},
		{"(queue.depth > 1) + 2 > 3", "is not a number"},
		{"(queue.depth > 1) * 2 > 3", "is not a number"},
		{strings.Repeat("(", 100) + "queue.depth > 1" + strings.Repeat(")", 100), "nested deeper"},
		{strings.Repeat("not ", 100) + "queue.depth > 1", "nested deeper"},
		{strings.Repeat("-", 100) + "1 > queue.depth", "nested deeper"},
		{strings.Repeat("queue.depth > 1 or ", 200), "longer than"},
	} {
		_, err := ParseClause(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseClause(%.60q) = %v, want an error with %q", c.text, err, c.want)
		}
	}
}

func TestBytesASecond(t *testing.T) {
	for _, text := range []string{"host.net_rx > 5MiB/s", "host.net_rx + 1KiB/s >= gpu.pcie_tx", "1GiB/self.cpu > 0", "host.net_rx > 0"} {
		if _, err := ParseClause(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// scenes for evaluation: values now, their baselines, all else unseen.
func sceneOf(now, base map[string]float64) *scene {
	s := &scene{at: time.Unix(1000, 0), now: make(Signals, len(table)), past: &history{keep: time.Hour},
		onset: make([]time.Time, len(table)), held: map[*node]time.Time{}}
	for name, v := range now {
		s.now[tableIndex[name]] = probes.Some(v)
	}
	s.base = func(i int) probes.Opt[float64] {
		if v, ok := base[table[i].Name]; ok {
			return probes.Some(v)
		}
		return missing()
	}
	return s
}

func TestClauseTruth(t *testing.T) {
	s := sceneOf(map[string]float64{"queue.depth": 37, "kv.usage": 0.5, "ttft.p95": 2.4, "arrivals.rate": 9, "requests.rate": 6, "prompt.p50": 64, "tpot.p50": 0.021},
		map[string]float64{"ttft.p95": 0.12, "prompt.p50": 60, "queue.depth": 0, "tpot.p50": 0.02})
	s.added = []Attribution{{Of: "ttft", Stage: "queue", Share: 0.91}, {Of: "ttft", Stage: "prefill", Share: 0.09}}
	for _, c := range []struct {
		text string
		want truth
	}{
		{"queue.depth >= 8", yes}, {"queue.depth < 8", no}, {"queue.depth == 37", yes}, {"queue.depth != 37", no},
		{"ttft.p95 > 2s", yes}, {"ttft.p95 > 2500ms", no}, {"ttft.p95 <= 0", no}, {"kv.usage > 49%", yes}, {"kv.usage > 0.49", yes},
		{"arrivals.rate > 1.1 * requests.rate", yes}, {"arrivals.rate / requests.rate >= 1.5", yes}, {"arrivals.rate - requests.rate > 3", no},
		{"-queue.depth < 0", yes}, {"(queue.depth + 3) / 4 == 10", yes}, {"queue.depth / (kv.usage - 0.5) > 1", unknown},
		{"up(ttft.p95)", yes}, {"up(ttft.p95, 30)", no}, {"up(queue.depth)", yes}, {"down(ttft.p95)", no},
		{"flat(prompt.p50)", yes}, {"flat(prompt.p50, 1%)", yes}, {"flat(ttft.p95)", no}, {"up(tpot.p50)", no}, {"flat(tpot.p50, 1%)", yes},
		{"up(kv.usage)", unknown}, {"host.cpu_busy > 10%", unknown}, {"not host.cpu_busy > 10%", unknown},
		{"queue.depth > 100 and host.cpu_busy > 10%", no}, {"queue.depth > 1 and host.cpu_busy > 10%", unknown},
		{"queue.depth > 1 or host.cpu_busy > 10%", yes}, {"queue.depth > 100 or host.cpu_busy > 10%", unknown},
		{"not queue.depth > 100", yes}, {"queue.depth > 100 or kv.usage > 0 and queue.depth > 1", yes},
		{`added("ttft", "queue") >= 80%`, yes}, {`added("ttft", "queue", "prefill") > 99%`, yes}, {`added("ttft", "tokenize") > 1%`, no}, {`added("e2e", "queue") > 1%`, unknown},
		{"corr(ttft.p95, kv.usage) > 0", unknown}, {`rising(queue.depth, "10s")`, unknown},
		{"before(ttft.p95, kv.usage)", no}, {"before(kv.usage, ttft.p95)", unknown},
	} {
		clause, err := ParseClause(c.text)
		if err != nil {
			t.Errorf("ParseClause(%q): %v", c.text, err)
			continue
		}
		if got := s.cond(clause.root); got != c.want {
			t.Errorf("%s is %d, want %d", c.text, got, c.want)
		}
	}
}

// TestCoarseAttributionIsUnknownForFineStages: where the engine does not tell
// tokenizing from the rest of the frontend, nothing is said of it.
func TestCoarseAttributionIsUnknownForFineStages(t *testing.T) {
	s := sceneOf(nil, nil)
	s.coarse, s.added = true, []Attribution{{Of: "ttft", Stage: "frontend", Share: 1}}
	for text, want := range map[string]truth{
		`added("ttft", "tokenize") > 50%`: unknown, `added("ttft", "frontend") > 50%`: yes, `added("ttft", "queue", "batch") > 50%`: no,
	} {
		c, err := ParseClause(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.cond(c.root); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

func TestHeldNeedsEveryTick(t *testing.T) {
	c, err := ParseClause(`held(queue.depth >= 4, "5s")`)
	if err != nil {
		t.Fatal(err)
	}
	s := sceneOf(nil, nil)
	start := s.at
	for i, step := range []struct {
		depth float64
		want  truth
	}{{5, no}, {5, no}, {5, no}, {5, no}, {5, no}, {5, yes}, {5, yes}, {1, no}, {5, no}, {5, no}} {
		s.at = start.Add(time.Duration(i) * time.Second)
		s.now[tableIndex["queue.depth"]] = probes.Some(step.depth)
		if got := s.cond(c.root); got != step.want {
			t.Errorf("second %d, depth %g: %d, want %d", i, step.depth, got, step.want)
		}
	}
	s.now[tableIndex["queue.depth"]] = missing()
	if got := s.cond(c.root); got != unknown {
		t.Errorf("unseen: %d, want unknown", got)
	}
}

func TestHistoryFunctions(t *testing.T) {
	s := sceneOf(nil, nil)
	start := s.at
	for i := range 40 {
		v := make(Signals, len(table))
		v[tableIndex["queue.depth"]] = probes.Some(float64(3 * i))
		v[tableIndex["ttft.p95"]] = probes.Some(float64(i) * 0.5)
		v[tableIndex["kv.usage"]] = probes.Some(0.5)
		v[tableIndex["tpot.p50"]] = probes.Some(0.02 + 0.01*float64(i%2))
		s.at = start.Add(time.Duration(i) * time.Second)
		s.past.push(s.at, v)
		s.now = v
	}
	for text, want := range map[string]truth{
		`rising(queue.depth, "10s")`: yes, `rising(kv.usage, "10s")`: no, `rising(tpot.p50, "10s")`: no, `rising(host.cpu_busy, "10s")`: unknown,
		"corr(queue.depth, ttft.p95) > 0.99": yes, "corr(queue.depth, tpot.p50) > 0.6": no, "corr(queue.depth, kv.usage) > 0": unknown,
	} {
		c, err := ParseClause(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.cond(c.root); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

func TestEvidenceSays(t *testing.T) {
	s := sceneOf(map[string]float64{"queue.depth": 37, "ttft.p95": 2.4, "prompt.p50": 64, "arrivals.rate": 9, "requests.rate": 6},
		map[string]float64{"ttft.p95": 0.12, "prompt.p50": 60})
	s.added = []Attribution{{Of: "ttft", Stage: "queue", Share: 0.91}}
	for _, c := range []struct{ text, want string }{
		{"queue.depth >= 8", "queue depth 37 (≥ 8)"},
		{"queue.depth < 8", "queue depth 37 (≥ 8)"},
		{"arrivals.rate > 1.1 * requests.rate", "arrivals 9/s (> 6.6/s = 1.1 × completions)"},
		{"up(ttft.p95)", "TTFT p95 up: 120 ms → 2.4 s (20×)"},
		{"down(ttft.p95)", "TTFT p95 not down: 120 ms → 2.4 s (20×)"},
		{"flat(prompt.p50)", "prompt p50 flat: 60 tokens → 64 tokens"},
		{`added("ttft", "queue") >= 80%`, "queue share of the added TTFT 91 % (≥ 80 %)"},
		{"kv.usage > 90%", "KV cache not seen"},
		{"up(queue.depth)", "queue depth 37, no baseline to tell whether it is up"},
		{"queue.depth > 8 and kv.usage < 1 or ttft.p95 > 1s", "TTFT p95 2.4 s (> 1 s)"},
		{`held(queue.depth > 8, "5s")`, "queue depth 37 (> 8), not for 5 s"},
	} {
		clause, err := ParseClause(c.text)
		if err != nil {
			t.Fatal(err)
		}
		e, result, why := s.evidence(clause, "engine")
		if e.Says != c.want {
			t.Errorf("%s says %q, want %q", c.text, e.Says, c.want)
		}
		if (result == unknown) != (why != "") {
			t.Errorf("%s: result %d with why %q", c.text, result, why)
		}
	}
	clause, err := ParseClause("up(ttft.p95) and queue.depth > 1")
	if err != nil {
		t.Fatal(err)
	}
	e, _, _ := s.evidence(clause, "latency")
	if len(e.Values) != 2 || e.Values[0].Signal != "ttft.p95" || *e.Values[0].Baseline != 0.12 || e.Values[1].Baseline != nil {
		t.Errorf("values %+v", e.Values)
	}
}

// FuzzParseClause: no input panics; what parses keeps its text, parses again and can be evaluated.
func FuzzParseClause(f *testing.F) {
	b, err := DefaultBook()
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range b.Rules {
		for _, clauses := range [][]RuleClause{r.Needs, r.Support, r.Unless} {
			for _, c := range clauses {
				f.Add(c.Text)
			}
		}
	}
	f.Add(`-(1 + 2) * kv.usage < 3% or not before(ttft.p95, tpot.p50)`)
	s := sceneOf(map[string]float64{"queue.depth": 3, "kv.usage": 0.5}, map[string]float64{"queue.depth": 1})
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseClause(text)
		if err != nil {
			return
		}
		again, err := ParseClause(c.Text)
		if err != nil || again.root.text != c.root.text {
			t.Fatalf("%q parsed, its own text %q did not: %v", text, c.Text, err)
		}
		e, result, _ := s.evidence(c, "engine")
		if e.Holds != (result == yes) {
			t.Fatalf("%q: holds %v with result %d", text, e.Holds, result)
		}
	})
}
