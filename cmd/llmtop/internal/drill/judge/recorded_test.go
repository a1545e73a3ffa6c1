package judge

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/engine/twin"
	"llmtop/probes/record"
)

// simulates leaves a test out that runs long simulations under the race detector.
func simulates(t testing.TB) {
	t.Helper()
	if underRace {
		t.Skip("one goroutine, and long")
	}
}

// recorded makes a recording of a scenario, as llmtop would have kept it.
func recorded(t testing.TB, scenario string) string {
	t.Helper()
	sc, err := twin.Parse(strings.NewReader(scenario), "test.scenario")
	if err != nil {
		t.Fatal(err)
	}
	run, err := twin.New(sc)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "1.llmrec")
	c, err := record.NewCopy(path, record.Manifest{Created: sc.Start, Interval: sc.Interval, Simulated: true, Host: "twin", Facts: run.Facts()})
	if err != nil {
		t.Fatal(err)
	}
	for {
		s, err := run.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.Add(t.Context(), record.Entry{Sample: s})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	host      = "gpu h100x4\nmodel llama-3-70b\ntp 4\nworkload summarise rate=1.2\nduration 130s\n"
	powerDrop = host + "engine vllm\nat 70s power_cap 250W\n"
	kvShrinks = host + "engine sglang\nwithout gpu\nat 70s kv_pool ×0.2\n"
	slowDisk  = host + "engine llmtop\nat 70s disk 1000ms\n"
	quiet     = "gpu h100x4\nmodel llama-3-70b\ntp 4\nengine vllm\nworkload summarise rate=0.8\nduration 60s\n"
)
