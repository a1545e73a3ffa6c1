package rules_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"llmtop/probes"
	"llmtop/rules"
)

// incidentSamples is an engine that is well for 40 s and overloaded for 30 s.
func incidentSamples() []*probes.Sample {
	s := newSim(3, 8)
	var out []*probes.Sample
	for n := 1; n <= 70; n++ {
		if n == 40 {
			s.rate = 90
		}
		out = append(out, s.sample(n))
	}
	return out
}

// TestSameSamplesSameBytes: live and replay cannot differ.
func TestSameSamplesSameBytes(t *testing.T) {
	samples := incidentSamples()
	first, second := diagnoser(t), diagnoser(t)
	for i, s := range samples {
		a, err := json.Marshal(first.Observe(s).Diagnosis)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(second.Observe(s).Diagnosis)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Fatalf("sample %d:\n%s\n%s", i, a, b)
		}
		if bytes.Contains(a, []byte("null")) {
			t.Fatalf("sample %d has a null: %s", i, a)
		}
	}
}

// TestSharesAddUp: the parts of an added latency are all of it.
func TestSharesAddUp(t *testing.T) {
	d, checked := diagnoser(t), 0
	for _, s := range incidentSamples() {
		tick := d.Observe(s)
		share := map[string]float64{}
		for _, a := range tick.Diagnosis.Attribution {
			share[a.Of] += a.Share
		}
		for of, sum := range share {
			if checked++; math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: shares of %s add up to %g", tick.Diagnosis.Time, of, sum)
			}
		}
	}
	if checked == 0 {
		t.Error("nothing was attributed")
	}
}

// TestCausesAreComplete: two kinds of evidence, cheapest step first, no evidence that does not hold.
func TestCausesAreComplete(t *testing.T) {
	d, named := diagnoser(t), 0
	for _, s := range incidentSamples() {
		got := d.Observe(s).Diagnosis
		for _, c := range got.Causes {
			named++
			kinds := map[string]bool{}
			for _, e := range c.Evidence {
				kinds[e.Kind] = true
				if !e.Holds || len(e.Values) == 0 || e.Says == "" {
					t.Errorf("evidence %+v", e)
				}
			}
			if len(kinds) < 2 || len(c.Next) == 0 || c.Score <= 0 || c.Score > 1 || c.Since.IsZero() {
				t.Errorf("cause %+v", c)
			}
			for i, n := range c.Next {
				if n.Price == "" || n.CostClass < 1 || (i > 0 && n.CostClass < c.Next[i-1].CostClass) {
					t.Errorf("next %+v", c.Next)
				}
			}
		}
		for i, line := range strings.Split(rules.Report(got), "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("line %d is longer than 80 columns: %q", i, line)
			}
		}
	}
	if named == 0 {
		t.Error("nothing was named")
	}
}

// TestAskedTwiceCountsOnce: the same engine given twice changes nothing.
func TestAskedTwiceCountsOnce(t *testing.T) {
	once, twice := diagnoser(t), diagnoser(t)
	for i, s := range incidentSamples() {
		again, second := *s, *s.Requests[0]
		second.At = second.At.Add(time.Millisecond)
		again.Requests = append(again.Requests[:1:1], &second)
		a, b := once.Observe(s), twice.Observe(&again)
		for _, row := range rules.Table() {
			if x, y := a.Signals.Get(row.Name), b.Signals.Get(row.Name); x != y {
				t.Fatalf("sample %d: %s is %v once and %v twice", i, row.Name, x, y)
			}
		}
	}
}

func TestReportFirstLine(t *testing.T) {
	d := diagnoser(t)
	var last rules.Diagnosis
	for _, s := range incidentSamples() {
		last = d.Observe(s).Diagnosis
	}
	first, _, _ := strings.Cut(rules.Report(last), "\n")
	for _, want := range []string{"DEGRADED  queue-backlog (high)", "TTFT p", "% queue"} {
		if !strings.Contains(first, want) {
			t.Errorf("first line %q lacks %q", first, want)
		}
	}
}

func empty(n int) *probes.Sample {
	return &probes.Sample{Seq: uint64(n), At: simStart.Add(time.Duration(n) * time.Second), Interval: time.Second}
}

func TestNothingToJudgeBy(t *testing.T) {
	d := diagnoser(t)
	got := d.Observe(empty(1)).Diagnosis
	if got.State != rules.Unmeasurable || got.Reason != "no engine answered" {
		t.Errorf("%s: %s", got.State, got.Reason)
	}
	for n := 2; n < 5; n++ {
		s := empty(n)
		s.Requests = []*probes.Requests{{At: s.At, Endpoint: "http://x"}}
		got = d.Observe(s).Diagnosis
	}
	if got.State != rules.Unmeasurable || got.Reason != "no requests yet" {
		t.Errorf("%s: %s", got.State, got.Reason)
	}
	s := newSim(1, 8)
	for n := 5; n < 15; n++ {
		got = d.Observe(s.sample(n)).Diagnosis
	}
	if got.State != rules.Healthy || got.Baseline != "SLO floor (TTFT p95 ≤ 2 s, TPOT ≤ 100 ms); learning what is usual: 9 s of 20 s" {
		t.Errorf("%s: %s: %s", got.State, got.Reason, got.Baseline)
	}
	for n := 15; n < 60; n++ {
		got = d.Observe(s.sample(n)).Diagnosis
	}
	if got.State != rules.Healthy || !strings.HasPrefix(got.Baseline, "window ") {
		t.Errorf("%s (%s), baseline %s", got.State, got.Reason, got.Baseline)
	}
	for n := 60; n < 64; n++ {
		got = d.Observe(empty(n)).Diagnosis
	}
	if got.State != rules.Unmeasurable || got.Reason != "the engine no longer answers" {
		t.Errorf("%s: %s", got.State, got.Reason)
	}
}

// TestStaleSectionsAreNoLife: a section that a failing probe carries along does not count as an answer.
func TestStaleSectionsAreNoLife(t *testing.T) {
	d, s := diagnoser(t), newSim(1, 8)
	var last *probes.Sample
	for n := 1; n <= 40; n++ {
		last = s.sample(n)
		d.Observe(last)
	}
	var got rules.Diagnosis
	for n := 41; n < 50; n++ {
		x := empty(n)
		x.Requests = last.Requests
		got = d.Observe(x).Diagnosis
	}
	if got.State != rules.Unmeasurable || got.Reason != "the engine no longer answers" {
		t.Errorf("%s: %s", got.State, got.Reason)
	}
}

// TestClockThatJumpsBackStartsAfresh: nothing of before is held against what comes.
func TestClockThatJumpsBackStartsAfresh(t *testing.T) {
	d := diagnoser(t)
	for _, s := range incidentSamples() {
		d.Observe(s)
	}
	got := d.Observe(empty(-100)).Diagnosis
	if len(got.Symptoms) != 0 || got.State == rules.Degraded {
		t.Errorf("%+v", got)
	}
}

// TestBookErrorsSayWhere: file and line for each kind of mistake.
func TestBookErrorsSayWhere(t *testing.T) {
	good := `- id: a-rule
  title: T
  symptom: {ttft: [queue]}
  needs:
    - queue.depth > 1
    - clause: kv.usage > 1%
      names: cache
  next:
    - {step: s, price: p, cost_class: 1}
  source: test
  delay_class: fast
`
	if rs, err := rules.ParseRules("x.yaml", []byte(good)); err != nil || len(rs) != 1 {
		t.Fatalf("%v", err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"queue.depth > 1", "queue.deep > 1", `x.yaml:5: rule a-rule: needs: column 1: unknown signal`},
		{"kv.usage > 1%", "kv.usage > 2s", `x.yaml:6: rule a-rule: needs: "kv.usage" > "2s": ratio against s`},
		{"[queue]", "[sleep]", `x.yaml:3: rule a-rule: unknown stage "sleep"`},
		{"ttft:", "itl:", `x.yaml:3: rule a-rule: unknown symptom "itl"`},
		{"cost_class: 1", "cost_class: 4", `x.yaml:8: rule a-rule: a step has`},
		{"delay_class: fast", "delay_class: soon", `x.yaml:11: rule a-rule: delay_class`},
		{"  source: test\n", "", `rule a-rule: no source`},
		{"title: T", "titel: T", `x.yaml: [2:3]`},
		{"a-rule", "A rule", `x.yaml:1: rule A rule: an id is`},
		{"  title: T", "  title: T\n  class: fate", `x.yaml:3: rule a-rule: unknown class`},
	} {
		_, err := rules.ParseRules("x.yaml", []byte(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v\nwant %q", c.to, c.from, err, c.want)
		}
	}
}

// FuzzParseRules: no text panics the loader.
func FuzzParseRules(f *testing.F) {
	f.Add([]byte("- id: a\n  title: b\n  needs: [queue.depth > 1]\n"))
	f.Add([]byte("- {id: a, needs: {x: y}, symptom: [1]}"))
	f.Add([]byte("a: &x [*x]"))
	f.Add([]byte("- id: a\n  title: b\n  needs: !0000000000000000 ")) // panics in the YAML parser
	f.Fuzz(func(t *testing.T, text []byte) {
		rs, err := rules.ParseRules("f.yaml", text)
		for _, r := range rs {
			if err == nil && (r.ID == "" || len(r.Needs) == 0) {
				t.Errorf("%q gave %+v", text, r)
			}
		}
	})
}
