package rules

import (
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// watching returns a function that shows a Diagnoser an engine, a second later each time.
func watching(t *testing.T) func(e probes.Engine) Diagnosis {
	t.Helper()
	book, err := DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	var shown *probes.Engine
	d := NewDiagnoser(book, Options{Decode: func(s *probes.Sample) *probes.Point {
		return &probes.Point{Sample: s, Engines: []*probes.Engine{shown}}
	}})
	second := 0
	return func(e probes.Engine) Diagnosis {
		second++
		e.Endpoint, e.At, shown = "http://x", at(float64(second)), &e
		return d.Observe(&probes.Sample{Seq: uint64(second), At: e.At, Interval: time.Second, Mono: time.Duration(second) * time.Second}).Diagnosis
	}
}

// withoutTTFT is an engine as TGI is: its requests are known by their ends.
func withoutTTFT(e2e ...float64) probes.Engine {
	n := float64(len(e2e))
	return probes.Engine{Dialect: "tgi", Running: probes.Some(4.0), E2E: histogramOf(e2e...), TPOT: times(len(e2e), 0.03), Finished: probes.Some(n)}
}

func more(values []float64, value float64) []float64 {
	return append(values, value, value, value)
}

// An engine that tells no TTFT is judged by the rest.
func TestRequestsWithoutTTFT(t *testing.T) {
	for _, c := range []struct{ name, baseline string }{{"young", "window "}, {"attached later", "the engine's life"}} {
		t.Run(c.name, func(t *testing.T) {
			show := watching(t)
			var e2e []float64
			wait := 40
			if c.name == "attached later" {
				wait = 3
				for range 40 {
					e2e = more(e2e, 0.9)
				}
			}
			var d Diagnosis
			for range wait {
				e2e = more(e2e, 0.9)
				d = show(withoutTTFT(e2e...))
			}
			if d.State != Healthy || d.Reason != "" || !strings.HasPrefix(d.Baseline, c.baseline) {
				t.Fatalf("%s (%s), baseline %s", d.State, d.Reason, d.Baseline)
			}
			brewed := false
			for range 40 {
				e2e = more(e2e, 9)
				d = show(withoutTTFT(e2e...))
				brewed = brewed || d.State == Healthy && strings.HasPrefix(d.Reason, "E2E p") && strings.HasSuffix(d.Reason, " s: too short to tell a burst from trouble")
			}
			if !brewed || len(d.Symptoms) == 0 {
				t.Errorf("brewed %v; then %s with %v", brewed, d.State, d.Symptoms)
			}
		})
	}
}

// An engine that tells no latency of requests (llama.cpp) is not said to have had none.
func TestNothingToldOfRequests(t *testing.T) {
	show := watching(t)
	var d Diagnosis
	for i := range 40 {
		d = show(probes.Engine{Dialect: "llamacpp", Running: probes.Some(2.0), TPOT: times(10*i, 0.03), GenerationTokens: probes.Some(float64(10 * i))})
	}
	if d.State != Unmeasurable || d.Reason != "this engine tells neither TTFT nor E2E: there is nothing to judge by" {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
	show = watching(t)
	if d = show(probes.Engine{Running: probes.Some(2.0), TTFT: times(0, 0), E2E: times(0, 0)}); d.Reason != "no requests have finished yet" {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
}
