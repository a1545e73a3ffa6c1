package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// pages is a server with these pages alone.
func pages(t *testing.T, bodies map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const runningPage = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3\n"

// A twin's GPUs and host stand in the place of this host's; what a real engine says of some does not.
func TestAttachToATwin(t *testing.T) {
	for name, c := range map[string]struct {
		body      string
		simulated bool
	}{
		"a twin":             {`{"simulated":"h100x8","gpu":{"devices":[{"name":"NVIDIA H100"}]},"host":{"cpus":4711}}`, true},
		"a real engine":      {"", false},
		"one that says junk": {`{"simulated":7}`, false},
	} {
		bodies := map[string]string{"/metrics": runningPage}
		if c.body != "" {
			bodies["/debug/simulated"] = c.body
		}
		a := attach(attachOptions{urls: []string{pages(t, bodies)}, interval: 50 * time.Millisecond, dcgm: noDCGM})
		s, err := a.Next(t.Context())
		for err == nil && (s.Host == nil || s.Simulated != c.simulated) && s.Seq < 100 { // a busy machine answers late
			s, err = a.Next(t.Context())
		}
		a.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cpus := 0
		if s.Host != nil {
			cpus = s.Host.CPUs
		}
		if s.Simulated != c.simulated || (cpus == 4711) != c.simulated {
			t.Errorf("%s: simulated %t, %d CPUs", name, s.Simulated, cpus)
		}
		i := slices.IndexFunc(s.Probes, func(p probes.ProbeStatus) bool { return p.Name == "host" })
		if i < 0 || c.simulated && (!s.Probes[i].Lacks || !strings.Contains(s.Probes[i].Err, "the engine is simulated")) {
			t.Errorf("%s: probes %+v", name, s.Probes)
		}
	}
}

// Beside a real engine the sample says which of them is simulated.
func TestAttachToATwinAndARealEngine(t *testing.T) {
	real := pages(t, map[string]string{"/metrics": runningPage})
	twin := pages(t, map[string]string{"/metrics": runningPage, "/debug/simulated": `{"simulated":"h100x8","host":{"cpus":4711}}`})
	a := attach(attachOptions{urls: []string{real, twin}, interval: 50 * time.Millisecond, dcgm: noDCGM})
	defer a.Close()
	s, err := a.Next(t.Context())
	for err == nil && !s.Simulated && s.Seq < 100 { // a busy machine answers late
		s, err = a.Next(t.Context())
	}
	if err != nil || !slices.Equal(s.SimulatedEngines, []string{twin}) {
		t.Errorf("%v, simulated: %v, want %s", err, s.SimulatedEngines, twin)
	}
}

// once is a probe that has read something once.
type once struct{ closed bool }

func (o *once) Name() string                                 { return "once" }
func (o *once) Read(context.Context) (probes.Section, error) { return &probes.Host{CPUs: 2}, nil }
func (o *once) Close() error                                 { o.closed = true; return nil }

// What a probe of this host has read is no more once an engine turns out to be simulated.
func TestRealProbes(t *testing.T) {
	a := &attached{}
	p := &once{}
	list := a.real([]probes.Scheduled{{Probe: p}})
	section, err := list[0].Probe.Read(t.Context())
	if h, ok := section.(*probes.Host); err != nil || !ok || h.CPUs != 2 {
		t.Fatalf("%v, %v", section, err)
	}
	target := &target{url: pages(t, map[string]string{"/debug/simulated": `{"simulated":"x"}`})}
	a.targets = append(a.targets, target)
	if _, err := target.simulations().Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	section, err = list[0].Probe.Read(t.Context())
	var s probes.Sample
	if section.AddTo(&s); !probes.IsLacking(err) || s.Host != nil {
		t.Errorf("%v, %+v", err, s)
	}
	if list[0].Probe.(*realProbe).Close(); !p.closed {
		t.Error("the probe is not closed")
	}
	if target.process() != 0 {
		t.Error("a simulated engine has a process of this host")
	}
}
