package truth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"llmtop/engine/twin"
	"llmtop/probes"
	"llmtop/rules"
)

// play runs a scenario in virtual time and shows each sample and its diagnosis.
func play(t testing.TB, scenario string, visit func(*probes.Sample, *rules.Diagnosis)) {
	t.Helper()
	if underRace {
		t.Skip("one goroutine, and long")
	}
	sc, err := twin.Parse(strings.NewReader(scenario), "test.scenario")
	if err != nil {
		t.Fatal(err)
	}
	run, err := twin.New(sc)
	if err != nil {
		t.Fatal(err)
	}
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	d := rules.NewDiagnoser(book, rules.Options{})
	for {
		s, err := run.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(s, &d.Observe(s).Diagnosis)
	}
}

const deployment = "gpu h100x4\nmodel llama-3-70b\ntp 4\nworkload summarise rate=1.2\nduration 130s\n"

// incidents are runs of 130 s in which something befalls, under several kinds of engines and
// with parts left out: between them every family of signals is shown.
var incidents = []struct{ name, text, cause string }{
	{"power cap", deployment + "engine vllm\nat 70s power_cap 250W\n", "power-cap"},
	{"kv, metrics alone", deployment + "engine sglang\nwithout stages profile gpu\nat 70s kv_pool ×0.2\n", "kv-preemption-storm"},
	{"longer prompts", deployment + "engine trtllm\nat 70s prompt_tokens ×2\n", "mix-shift"},
	{"slow disk", deployment + "engine llmtop\nat 70s disk 1000ms\n", "disk-stall"},
	{"shared, metrics alone", deployment + "engine vllm\nwithout stages profile\nat 70s other_kernels 0.6\n", "gpu-shared"},
	{"slow readers", deployment + "engine tgi\nat 70s slow_readers 0.9\n", "slow-reader"},
}

// TestNothingIsInvented looks at everything that is shown at every tick. A root that is kept
// while its clauses no longer hold may be shown with numbers that were true when it was named:
// they are called untrue, and there is a moment at which they were not.
func TestNothingIsInvented(t *testing.T) {
	for _, run := range incidents {
		t.Run(run.name, func(t *testing.T) {
			c, all, named := New(), 0, false
			play(t, run.text, func(s *probes.Sample, d *rules.Diagnosis) {
				c.Observe(s, d)
				shown, untrue := c.Check(d)
				all += shown
				for _, lie := range untrue {
					if !strings.Contains(lie, wasTrue) {
						t.Error(lie)
					}
				}
				for i := range d.Causes {
					named = named || d.Causes[i].ID == run.cause
				}
			})
			if all < 200 || !named {
				t.Errorf("%d numbers looked at, %s named: %v", all, run.cause, named)
			}
		})
	}
}

// lies are ways to show something else than what is.
var lies = []struct {
	name string
	tell func(d *rules.Diagnosis) bool // false: nothing to change
}{
	{"symptom to", func(d *rules.Diagnosis) bool { d.Symptoms[0].To *= 1.2; return true }},
	{"symptom from", func(d *rules.Diagnosis) bool { d.Symptoms[0].From *= 0.8; return true }},
	{"delta", func(d *rules.Diagnosis) bool { d.Attribution[0].DeltaSeconds *= 1.1; return true }},
	{"share", func(d *rules.Diagnosis) bool { d.Attribution[0].Share -= 0.05; return true }},
	{"stage", func(d *rules.Diagnosis) bool { d.Attribution[0].Stage = "auth"; return true }},
	{"value", func(d *rules.Diagnosis) bool { d.Causes[0].Evidence[0].Values[0].Value *= 1.05; return true }},
	{"baseline of a value", func(d *rules.Diagnosis) bool {
		return each(d, func(e *rules.Evidence) bool {
			for i := range e.Values {
				if b := e.Values[i].Baseline; b != nil && *b != 0 {
					*b *= 1.1
					return true
				}
			}
			return false
		})
	}},
	{"against", func(d *rules.Diagnosis) bool { return shift(d.Causes[0].Against) }},
	{"what is not seen", func(d *rules.Diagnosis) bool {
		d.Causes[0].Evidence[0].Values[0] = rules.Value{Signal: "log.failures", Value: 3, Unit: "count"}
		return true
	}},
	{"a digit in words", func(d *rules.Diagnosis) bool {
		return each(d, func(e *rules.Evidence) bool { return bump(&e.Says, "") })
	}},
	{"a limit in words", func(d *rules.Diagnosis) bool {
		return each(d, func(e *rules.Evidence) bool { return bump(&e.Says, "(") })
	}},
	{"a change in words", func(d *rules.Diagnosis) bool {
		return each(d, func(e *rules.Evidence) bool { return bump(&e.Says, ": ") })
	}},
	{"words about nothing", func(d *rules.Diagnosis) bool {
		d.Causes[0].Evidence[0].Says = "the moon is 4 s away"
		return true
	}},
	{"requests of the baseline", func(d *rules.Diagnosis) bool { return bump(&d.Baseline, "part, ") }},
	{"another moment", func(d *rules.Diagnosis) bool { d.Time = d.Time.Add(-1); return true }},
}

func each(d *rules.Diagnosis, change func(*rules.Evidence) bool) bool {
	for i := range d.Causes[0].Evidence {
		if change(&d.Causes[0].Evidence[i]) {
			return true
		}
	}
	return false
}

func shift(list []rules.Evidence) bool {
	for i := range list {
		for j := range list[i].Values {
			if v := &list[i].Values[j]; v.Value != 0 {
				v.Value *= 1.3
				return true
			}
		}
	}
	return false
}

// bump makes the first digit after a mark another.
func bump(text *string, after string) bool {
	i := strings.Index(*text, after)
	if i < 0 {
		return false
	}
	for ; i < len(*text); i++ {
		if c := (*text)[i]; c >= '1' && c <= '9' && (i == 0 || (*text)[i-1] == ' ' || (*text)[i-1] == '(') {
			*text = (*text)[:i] + string('1'+(c-'0')%9) + (*text)[i+1:]
			return true
		}
	}
	return false
}

// TestLiesAreCaught changes one thing that is shown and looks again.
func TestLiesAreCaught(t *testing.T) {
	told := map[string]int{}
	c := New()
	play(t, incidents[0].text, func(s *probes.Sample, d *rules.Diagnosis) {
		c.Observe(s, d)
		if len(d.Causes) == 0 || s.Seq%4 != 0 {
			return
		}
		for _, l := range lies {
			changed := clone(t, d)
			if !l.tell(changed) {
				continue
			}
			c.past.moments[len(c.past.moments)-1].said.baseline = changed.Baseline
			shown, untrue := c.Check(changed)
			if len(untrue) == 0 {
				t.Errorf("%s: %s: not one of %d numbers is called untrue", clock(d.Time), l.name, shown)
			}
			told[l.name]++
		}
		c.past.moments[len(c.past.moments)-1].said.baseline = d.Baseline
	})
	for _, l := range lies {
		if told[l.name] == 0 {
			t.Errorf("%s: never told", l.name)
		}
	}
}

// TestOldEvidence: what was true half a minute ago is not what is.
func TestOldEvidence(t *testing.T) {
	c := New()
	var old *rules.Diagnosis
	checked := false
	play(t, incidents[0].text, func(s *probes.Sample, d *rules.Diagnosis) {
		c.Observe(s, d)
		switch {
		case old == nil && len(d.Causes) > 0:
			old = clone(t, d)
		case old != nil && !checked && !d.Ending() && d.Time.Sub(old.Time).Seconds() >= 30:
			late := clone(t, d)
			late.Causes = old.Causes
			_, untrue := c.Check(late)
			if checked = true; len(untrue) == 0 {
				t.Error("evidence that is 30 s old is taken for what is")
			}
		}
	})
	if !checked {
		t.Error("nothing stood for 30 s")
	}
}

func clone(t *testing.T, d *rules.Diagnosis) *rules.Diagnosis {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	out := &rules.Diagnosis{}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCheckAtOnce has all samples and one diagnosis.
func TestCheckAtOnce(t *testing.T) {
	var samples []*probes.Sample
	var last *rules.Diagnosis
	play(t, incidents[0].text, func(s *probes.Sample, d *rules.Diagnosis) {
		samples, last = append(samples, s), d
	})
	shown, untrue := Check(samples, last)
	if shown < 20 || len(untrue) > 0 {
		t.Errorf("%d numbers, untrue %q", shown, untrue)
	}
	last.Causes[0].Evidence[0].Values[0].Value = 0.123
	if _, untrue := Check(samples, last); len(untrue) == 0 {
		t.Error("a wrong value is not called untrue")
	}
	if _, untrue := Check(nil, last); len(untrue) == 0 {
		t.Error("without samples nothing can be true")
	}
}

// TestWords: what cannot be read is not true.
func TestWords(t *testing.T) {
	c := New()
	c.Observe(&probes.Sample{}, &rules.Diagnosis{})
	for _, says := range []string{"4 s", "TTFT p95 in 4 s", "TTFT p95 4 s", "TTFT p95 up: 4 s", "TTFT p95 4 s (≥ 3 s = 7 × TTFT p50)", "correlation of TTFT p95 and TTFT p50 80 %"} {
		if lies := c.words(0, says, "ttft.p95 >= 3 * ttft.p50"); len(lies) == 0 {
			t.Errorf("%q is taken to be true", says)
		}
	}
	if lies := c.words(0, "TTFT p95 not seen, not for 3 s", `held(ttft.p95 >= 2s, "3s")`); len(lies) > 0 {
		t.Errorf("untrue %q", lies)
	}
}

func TestQuantity(t *testing.T) {
	for _, x := range []struct {
		v    float64
		unit string
	}{{0.0853, "s"}, {2.4, "s"}, {12e-6, "s/token"}, {0.914, "ratio"}, {0.5, "1/s"}, {3e9, "bytes"}, {2048, "bytes/s"}, {12, "tokens"},
		{1.5, "cores"}, {85.4, "°C"}, {431, "W"}, {7, "count"}, {0, "s"}} {
		text := rules.Format(x.v, x.unit)
		q, rest, ok := quantity(text+" (≥ 3)", x.unit)
		if !ok || rest != " (≥ 3)" || !q.holds(x.v) || q.holds(x.v*1.2+2*q.digit) {
			t.Errorf("%q is read as %+v, then %q", text, q, rest)
		}
	}
	if got := fmt.Sprintf("%.4g", literals(`held(queue.depth >= 4, "10s") or kv.usage > 95% and x < 2 * step.p50 or y > 256MiB`)); got != "[4 10 0.95 2 2.684e+08]" {
		t.Errorf("literals %s", got)
	}
}
