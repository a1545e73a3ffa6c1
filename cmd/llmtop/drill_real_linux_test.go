package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/inject"
	"llmtop/probes/record"
)

// TestRealDrill runs a drill for real, though for seconds only: the engine computes, the
// load measures, the recorder records, the fault is what it says.
func TestRealDrill(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes seconds of a real engine")
	}
	link := programIn(t, t.TempDir())
	r := inject.Runner{Exe: link, Log: t.Logf, Healthy: [2]time.Duration{4 * time.Second, 4200 * time.Millisecond}, Warm: 500 * time.Millisecond, Tries: 1, Threads: 1}
	inst := drill.Instance{Engine: "cpu", Severity: drill.Severe, Seed: 3, Drill: &drill.Drill{
		ID: "queue-backlog", Kind: drill.Fault, Symptom: "ttft.p50",
		CPU: &drill.OnCPU{
			Inject: "load", With: map[string]string{"rate": "{x}"}, Lasts: drill.Duration(5 * time.Second),
			Dial:    &drill.Dial{From: 0.1, To: 20, Severe: 8},
			Confirm: []drill.Confirm{{Signal: "queue.depth", Least: 1, Ever: true}},
		},
	}}
	path := filepath.Join(t.TempDir(), "r.llmrec")
	truth, err := r.Run(t.Context(), inst, path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(truth.Discard, "requests to measure") {
		t.Skip("the machine is too slow for a drill of seconds: " + truth.Discard)
	}
	if truth.Ratio < 3 || !truth.Confirmed[0].Holds || !truth.Counts() && !strings.Contains(truth.Discard, "the machine was busy") {
		t.Errorf("eight times what the engine can serve: %+v", truth)
	}
	reader, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if info := reader.Info(); info.Samples < 3 || len(info.Engines) != 1 || !info.CleanClose {
		t.Errorf("%+v, want one engine, recorded to the end", info)
	}
}
