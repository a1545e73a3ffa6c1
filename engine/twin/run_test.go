package twin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin/exposition"
	"llmtop/probes"
)

// runOf is a run of a scenario for a while.
func runOf(t testing.TB, sc Scenario, duration time.Duration) *Run {
	t.Helper()
	sc.Duration = duration
	r, err := New(sc)
	if err != nil {
		t.Fatalf("%s: %v", sc.Name, err)
	}
	return r
}

// samplesOf are all samples of a run.
func samplesOf(t testing.TB, r *Run) (out []*probes.Sample) {
	t.Helper()
	for {
		s, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
}

func example(t testing.TB, name string) Scenario {
	t.Helper()
	sc, err := ParseExample(name)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// Every scenario that comes along runs, and its samples are whole: dated by the run's clock,
// marked, with all sections of each replica.
func TestRunExamples(t *testing.T) {
	for _, name := range Examples() {
		t.Run(name, func(t *testing.T) {
			sc := example(t, name)
			r := runOf(t, sc, 20*time.Second)
			all := samplesOf(t, r)
			if len(all) != 20 {
				t.Fatalf("%d samples in 20 s", len(all))
			}
			for n, s := range all {
				at := sc.Start.Add(time.Duration(n+1) * time.Second)
				if !s.Simulated || !s.At.Equal(at) || s.Seq != uint64(n+1) || s.Mono != at.Sub(sc.Start) {
					t.Fatalf("sample %d is of %s, mono %s, simulated %v; want %s", s.Seq, s.At, s.Mono, s.Simulated, at)
				}
				if len(s.Scrapes) != sc.Replicas || len(s.Requests) != sc.Replicas || len(s.Configs) != sc.Replicas {
					t.Fatalf("%d scrapes, %d requests, %d configs of %d replicas", len(s.Scrapes), len(s.Requests), len(s.Configs), sc.Replicas)
				}
				if s.Host == nil || s.Process == nil || s.Sockets == nil || s.Neighbours == nil || s.Profile == nil {
					t.Fatal("a section is missing")
				}
				if s.GPU == nil || len(s.GPU.Devices) != sc.GPUs {
					t.Fatalf("%d GPUs are not all to be seen", sc.GPUs)
				}
			}
			if tally := r.Tally(); tally.Arrived == 0 || tally.Finished == 0 {
				t.Errorf("nothing was served: %+v", tally)
			}
		})
	}
}

// The same scenario and seed make the same samples, another seed makes others.
func TestRunRepeats(t *testing.T) {
	digest := func(seed uint64) string {
		sc := example(t, "chat")
		sc.Seed = seed
		h := uint64(0)
		for _, s := range samplesOf(t, runOf(t, sc, 15*time.Second)) {
			for _, v := range []any{s, s.Scrapes[0].Values, s.Scrapes[0].Schema} {
				b, err := json.Marshal(v)
				if err != nil {
					b = append(b, err.Error()...) // NaN has no JSON; Values may hold it
				}
				h = digestOf(h, b)
			}
		}
		return time.Duration(h).String()
	}
	first, again, other := digest(7), digest(7), digest(8)
	if first != again {
		t.Error("the same seed made other samples")
	}
	if first == other {
		t.Error("another seed made the same samples")
	}
}

func scenarioOf(text string) (Scenario, error) { return Parse(strings.NewReader(text), "test") }

func digestOf(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = mix(h ^ uint64(c))
	}
	return h
}

// What is hidden is not there, and nobody says that it was looked for.
func TestRunHides(t *testing.T) {
	sc := example(t, "chat")
	sc.Without = Sections
	for _, s := range samplesOf(t, runOf(t, sc, 5*time.Second)) {
		if s.GPU != nil || s.Host != nil || s.Process != nil || s.Requests != nil || s.Profile != nil {
			t.Fatal("something is to be seen that is hidden")
		}
		for _, p := range s.Probes {
			if !strings.HasPrefix(p.Name, "scrape ") {
				t.Errorf("there is a probe %q", p.Name)
			}
		}
	}
}

// While an engine restarts its page cannot be read: the last one is carried on, with its age.
func TestRunRestarts(t *testing.T) {
	sc, err := scenarioOf("gpu l4\nmodel qwen2.5-0.5b\nworkload chat rate=5\nat 5s restart\n")
	if err != nil {
		t.Fatal(err)
	}
	all := samplesOf(t, runOf(t, sc, 2*time.Minute))
	down := 0
	var restarts []uint64
	for _, s := range all {
		if status := s.Probes[0]; status.Err != "" {
			down++
			if !status.At.Before(s.At) || !s.Scrapes[0].At.Equal(status.At) {
				t.Fatalf("a page that cannot be read is of %s, its status of %s", s.Scrapes[0].At, status.At)
			}
		}
		for _, e := range s.Events {
			if e.Kind == probes.EventRestart {
				restarts = append(restarts, s.Seq)
			}
		}
	}
	if down < 10 || down > 110 {
		t.Errorf("the page was away for %d s", down)
	}
	if len(restarts) != 2 || restarts[0] != 5 || restarts[1] != uint64(5+down) {
		t.Errorf("restarts were seen at %v: want the process's at once, and the page's when it is back", restarts)
	}
}

// Each engine of the field can be the one that is simulated.
func TestRunPersonalities(t *testing.T) {
	for _, name := range exposition.Names() {
		sc := example(t, "chat")
		sc.Personality = name
		all := samplesOf(t, runOf(t, sc, 10*time.Second))
		last := all[len(all)-1]
		if len(last.Scrapes[0].Values) < 10 || last.Configs[0].Dialect == "llmtop" {
			t.Errorf("%s: %d series, dialect %s", name, len(last.Scrapes[0].Values), last.Configs[0].Dialect)
		}
	}
}

// BenchmarkRun is what a day of one engine of eight GPUs at 50 requests/s takes, by an hour of it.
func BenchmarkRun(b *testing.B) {
	begun := cpuTime()
	for b.Loop() {
		sc, err := scenarioOf("gpu h100x8\nmodel qwen3-30b-a3b fp8\ntp 8\nrate 50\nworkload chat\n")
		if err != nil {
			b.Fatal(err)
		}
		r := runOf(b, sc, time.Hour)
		for {
			if _, err := r.Next(b.Context()); err != nil {
				break
			}
		}
	}
	cpu := cpuTime() - begun // other processes do not count
	b.ReportMetric(24*cpu.Seconds()/float64(b.N), "cpu-s/day")
}
