package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"llmtop/rules"
)

// seeds is how many runs of each kind are tried; 20 were tried when the thresholds were set.
const seeds = 5

func diagnoser(t testing.TB) *rules.Diagnoser {
	t.Helper()
	b, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	return rules.NewDiagnoser(b, rules.Options{})
}

// TestHealthyTrafficNamesNothing: Poisson bursts, steps that jitter by 2–3×,
// stalls and long prompts at their usual ratio, for three minutes.
func TestHealthyTrafficNamesNothing(t *testing.T) {
	for _, c := range []struct {
		name                string
		rate, noise, stalls float64
		long                float64
	}{
		{"light", 5, 0.5, 0.05, 0}, {"noisy", 6, 1, 0.3, 0}, {"busy", 14, 0.5, 0.05, 0}, {"long prompts", 6, 0.5, 0.05, 0.08}, {"trickle", 0.7, 0.5, 0.1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(seeds) {
				s, d := newSim(seed, c.rate), diagnoser(t)
				s.noise, s.stalls, s.long = c.noise, c.stalls, c.long
				for n := 1; n <= 180; n++ {
					if got := d.Observe(s.sample(n)).Diagnosis; len(got.Causes) > 0 || len(got.Symptoms) > 0 {
						t.Errorf("seed %d, second %d:\n%s", seed, n, rules.Report(got))
						break
					}
				}
			}
		})
	}
}

// TestOverloadIsNamedInTime: a queue backlog is named within 12 s of its onset,
// stays the only name, and ends cleanly when the traffic does.
func TestOverloadIsNamedInTime(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		after       int
	}{{90, 0.5, 40}, {90, 1, 40}, {70, 0.5, 60}, {120, 0.5, 150}} {
		t.Run(fmt.Sprintf("%g a second after %d s", c.rate, c.after), func(t *testing.T) {
			latest := 0
			for seed := range uint64(seeds) {
				s, d := newSim(seed, 8), diagnoser(t)
				s.noise = c.noise
				named, ended := 0, 0
				for n := 1; n <= c.after+110; n++ {
					if n == c.after {
						s.rate = c.rate
					}
					if n == c.after+60 {
						s.rate = 8
					}
					got := d.Observe(s.sample(n)).Diagnosis
					switch {
					case n < c.after && len(got.Symptoms) > 0:
						t.Errorf("seed %d, second %d, before the fault:\n%s", seed, n, rules.Report(got))
					case len(got.Causes) > 0 && got.Causes[0].ID != "queue-backlog":
						t.Errorf("seed %d, second %d: named %s\n%s", seed, n, got.Causes[0].ID, rules.Report(got))
					case len(got.Causes) > 0 && named == 0:
						named = n
					case len(got.Causes) > 0 && ended > 0:
						t.Errorf("seed %d, second %d: named again", seed, n)
					case named > 0 && got.State == rules.Unknown:
						t.Errorf("seed %d, second %d: unknown after it was named\n%s", seed, n, rules.Report(got))
					case named > 0 && got.State == rules.Healthy && ended == 0:
						ended = n
					}
				}
				if named == 0 || named > c.after+12 {
					t.Errorf("seed %d: named at second %d, fault at %d", seed, named, c.after)
				}
				if ended < c.after+60 || ended > c.after+60+30 {
					t.Errorf("seed %d: ended at second %d, fault ended at %d", seed, ended, c.after+60)
				}
				latest = max(latest, named-c.after)
			}
			t.Logf("named at the latest %d s after the onset", latest)
		})
	}
}

// TestClockJumpIsNoIncident: the wall clock is set by an hour, either way; nothing is
// named and what is usual stays known.
func TestClockJumpIsNoIncident(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 20 * time.Second} {
		s, d := newSim(2, 8), diagnoser(t)
		for n := 1; n <= 160; n++ {
			x := s.sample(n)
			if n >= 80 {
				x.At, x.Requests[0].At = x.At.Add(jump), x.Requests[0].At.Add(jump)
			}
			got := d.Observe(x).Diagnosis
			if n >= 40 && (got.State != rules.Healthy || !strings.HasPrefix(got.Baseline, "window ")) {
				t.Fatalf("%s, second %d:\n%s", jump, n, rules.Report(got))
			}
		}
	}
}

// TestHealthyAgainSoon: 20 s after the traffic is as before the verdict is healthy, and
// what was learned before the incident is what is usual afterwards.
func TestHealthyAgainSoon(t *testing.T) {
	for seed := range uint64(seeds) {
		s, d := newSim(seed, 8), diagnoser(t)
		before, drained := 0.0, 0
		for n := 1; n <= 200; n++ {
			if n == 60 {
				s.rate = 90
			}
			if n == 100 {
				s.rate = 8
			}
			tick := d.Observe(s.sample(n))
			if n == 59 {
				before = tick.Baseline.Get("ttft.p50").Or(0)
			}
			if n > 100 && drained == 0 && len(s.waiting) == 0 {
				drained = n
			}
			if drained > 0 && n > drained+20 && tick.Diagnosis.State != rules.Healthy {
				t.Fatalf("seed %d, second %d, drained at %d:\n%s", seed, n, drained, rules.Report(tick.Diagnosis))
			}
			if after := tick.Baseline.Get("ttft.p50").Or(0); n == 200 && (after > 1.3*before || after <= 0) {
				t.Errorf("seed %d: baseline %g before, %g after", seed, before, after)
			}
		}
	}
}
