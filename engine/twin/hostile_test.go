package twin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// ends runs a scenario to its end: of the requests none is lost and none counted twice, and what is to be
// seen is dated and marked.
func ends(sc Scenario) error {
	r, err := New(sc)
	if err != nil {
		return fmt.Errorf("parsed, but: %w", err)
	}
	var last *probes.Sample
	for {
		s, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !s.Simulated || last != nil && (!s.At.After(last.At) || s.Seq != last.Seq+1) {
			return fmt.Errorf("sample %d at %s, marked %t", s.Seq, s.At, s.Simulated)
		}
		last = s
	}
	if last == nil || last.Mono > sc.Duration || last.Mono+sc.Interval <= sc.Duration {
		return fmt.Errorf("the last sample is %+v", last)
	}
	c, open := r.Tally(), uint64(r.sim.InFlight())
	if c.Arrived != c.Finished+c.Failed+c.Aborted+c.Rejected+open {
		return fmt.Errorf("%d in flight of %+v", open, c)
	}
	return nil
}

// extreme is a value of "0 to 9", "on, off" or "lengths": mostly at the edge of what is taken, now and then beyond.
func extreme(t *rapid.T, takes string) string {
	one := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "value") }
	if rapid.IntRange(1, 300).Draw(t, "hostile") == 300 {
		return one("-1", "NaN", "inf", "1e300", "0x1p4", "", "maybe", "lognormal:1", "bursty:2,1s,1s", "\x1b[31m")
	}
	if low, high, ok := strings.Cut(takes, " to "); ok {
		high, _, _ = strings.Cut(high, ",")
		return one(low, high)
	}
	switch takes {
	case "lengths":
		return one("1", "500", "2000000", "uniform:1,2000000", "lognormal:50,200000", "exponential:300", "bimodal:1,30000,0.5")
	case "none":
		return takes
	case "on, off":
		return one("on", "off")
	}
	return one("poisson", "constant", "gamma:10", "gamma:0.05", "bursty:1000,2s,1s", "diurnal:0.99", "gamma:3+bursty:4,1h,1s")
}

// wild is the text of a scenario, mostly of one that can be.
func wild(t *rapid.T) string {
	var b strings.Builder
	line := func(name string, options ...string) {
		fmt.Fprintf(&b, "%s\n", strings.Join(append([]string{name}, options...), rapid.SampledFrom([]string{" ", "\t", " \u00a0"}).Draw(t, "space")))
	}
	one := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "one of") }
	chance := func(n int) bool { return rapid.IntRange(1, n).Draw(t, "chance") == n }
	if chance(4) {
		line("linear", one("base=4ms", "base=1ns", "base=1m"), one("decode=1ms", "prefill=90us", "context=0s"))
		line("engine", "blocks="+one("16", "300", "100000"), "block="+one("1", "16", "1024"))
	} else {
		line("gpu", one("l4", "h100x2", "rtx4090x4", "l4x8", "b200"))
		line("model", one("llama-3-8b", "llama-3.1-8b", "mixtral-8x7b", "llama-3-70b"), one("int4", "fp8", "bf16"))
		var set []string
		for _, s := range Settings() {
			if chance(10) && s.Name != "blocks" {
				set = append(set, s.Name+"="+extreme(t, s.Takes))
			}
		}
		line("engine", append([]string{one(Personalities...)}, set...)...)
	}
	for _, s := range []string{"tp", "pp", "replicas", "disaggregate"} {
		if chance(16) {
			line(s, one("1", "2", "4"))
		}
	}
	for range rapid.IntRange(1, 2).Draw(t, "workloads") {
		set := []string{one("chat", "rag", "code", "agent", "longtail"), "rate=" + one("1", "10", "30")}
		for _, o := range workload.Options() {
			if o.Name != "rate" && o.Name != "share" && chance(12) {
				set = append(set, o.Name+"="+extreme(t, o.Takes))
			}
		}
		line("workload", set...)
	}
	line("duration", "12s")
	line("interval", one("1s", "700ms", "100ms", "5s"))
	line("warm", one("0s", "3s"))
	line("seed", fmt.Sprint(rapid.Uint64().Draw(t, "seed")))
	line("spread", one("0", "0.5"))
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		k := &knob.Table[rapid.IntRange(0, int(knob.NumKnobs)-1).Draw(t, "knob")]
		words := []string{fmt.Sprintf("%ds", rapid.IntRange(0, 10).Draw(t, "at"))}
		if how := one("", "", "for 1s", "over 1s", "for 200ms every 500ms"); how != "" && k.Kind != knob.Moment {
			words = append(words, how)
		}
		words = append(words, k.Name)
		if low, high, ok := strings.Cut(k.Takes(), " to "); ok {
			words = append(words, one(low, high, high))
		} else if k.Kind == knob.Switch {
			words = append(words, one("on", "off"))
		}
		line("at", words...)
	}
	return b.String()
}

// Whatever a scenario says, it is refused in one line or runs to its end.
func TestHostileScenarios(t *testing.T) {
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		text := wild(t)
		sc, err := parseText(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.scenario:") || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("no clear line: %q", err)
			}
			return
		}
		ran++
		if err := ends(sc); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
	t.Log(ran, "ran")
	if ran == 0 {
		t.Error("no scenario could be run")
	}
}

// Every knob may be turned as far as it goes either way, and back.
func TestKnobsAtTheirEnds(t *testing.T) {
	for id := range knob.Table {
		k := &knob.Table[id]
		t.Run(k.Name, func(t *testing.T) {
			values := []string{"on", "off"}
			if low, high, ok := strings.Cut(k.Takes(), " to "); ok {
				values = []string{low, high}
			} else if k.Kind == knob.Moment {
				values = []string{"", ""}
			}
			text := fmt.Sprintf("gpu l4x2\nmodel llama-3-8b int4\ntp 1\nworkload chat rate=8\nduration 12s\nwarm 2s\nat 1s %s %s\nat 5s %[1]s %[3]s\n", k.Name, values[0], values[1])
			if k.Kind != knob.Moment {
				text += "at 9s " + k.Name + " reset\n"
			}
			if k.Name == "kv_pool" || k.Name == "rate" {
				text = strings.ReplaceAll(text, "rate=8", "rate=2")
			}
			sc, err := parseText(text)
			if err == nil {
				err = ends(sc)
			}
			if err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}
