package main

import (
	"bytes"
	"strings"
	"testing"

	"llmtop/engine/load"
	"llmtop/probes"
)

// both are a client and an engine that agree: 100 answers of 11 tokens, whose TTFT is
// 0.2 s (0.201 as due), TPOT 0.05 s and E2E 0.7 s.
func both() (load.Report, *probes.Engine, *probes.Engine) {
	all := func(v float64) *load.Summary {
		return &load.Summary{Count: 100, Mean: v, P50: v, P90: v, P95: v, P99: v, Max: v}
	}
	r := load.Report{
		Sent: 100, Completed: 100, TTFT: all(0.201), TPOT: all(0.05), E2E: all(0.701), Output: all(11),
		Tokens: load.TokenThroughput{In: 5000, Out: 1100}, Client: load.Client{Lag: all(0.001)},
	}
	engine := func(n float64) *probes.Engine {
		h := func(per, v float64) *probes.Histogram {
			bounds := []float64{0.04, 0.06, 0.1, 0.25, 0.5, 1}
			out := &probes.Histogram{Bounds: bounds, Count: n * per, Sum: n * per * v}
			for _, b := range bounds {
				if v <= b {
					out.Cumulative = append(out.Cumulative, n*per)
				} else {
					out.Cumulative = append(out.Cumulative, 0)
				}
			}
			return out
		}
		some := probes.Some[float64]
		return &probes.Engine{
			Finished: some(n), PromptTokens: some(50 * n), GenerationTokens: some(11 * n),
			TTFT: h(1, 0.2), TPOT: h(1, 0.05), E2E: h(1, 0.7), StepTime: h(10, 0.05),
		}
	}
	return r, engine(7), engine(107)
}

func TestCompare(t *testing.T) {
	cases := []struct {
		name   string
		change func(*load.Report, *probes.Engine)
		want   []string // the rows that miss
	}{
		{"they agree", func(*load.Report, *probes.Engine) {}, nil},
		{"a request is missing", func(r *load.Report, e *probes.Engine) { e.Finished = probes.Some(103.0) }, []string{"requests finished"}},
		{"tokens are counted twice", func(r *load.Report, e *probes.Engine) { e.GenerationTokens = probes.Some(2277.0) }, []string{"tokens out"}},
		{"the mean is 3 % off", func(r *load.Report, e *probes.Engine) { e.TTFT.Sum += 100 * 0.2 * 0.03 }, []string{"TTFT mean"}},
		{"the mean is 1 % off", func(r *load.Report, e *probes.Engine) { e.TTFT.Sum += 100 * 0.2 * 0.01 }, nil},
		{"a tail that the engine does not see", func(r *load.Report, e *probes.Engine) { r.E2E.P99 = 3 }, nil},
		{"a tail two buckets away", func(r *load.Report, e *probes.Engine) { r.TTFT.P99 = 0.9 }, []string{"TTFT p99"}},
		{"steps are lost", func(r *load.Report, e *probes.Engine) { e.StepTime.Count -= 30 }, []string{"ITL count", "ITL mean"}},
		{"answers of many lengths say nothing of the ITL", func(r *load.Report, e *probes.Engine) { r.Output.Max = 12; e.StepTime.Count -= 30 }, nil},
	}
	for _, c := range cases {
		client, before, after := both()
		c.change(&client, after)
		rows, err := compare(client, before, after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			if !r.ok {
				got = append(got, r.what)
			}
		}
		if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
			t.Errorf("%s: missed %v, want %v", c.name, got, c.want)
		}
		var out bytes.Buffer
		if missed := report(&out, rows); missed != len(c.want) || strings.Count(out.String(), "MISS") != missed {
			t.Errorf("%s: %d missed in\n%s", c.name, missed, out.String())
		}
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	client, before, after := both()
	after.E2E = nil
	if _, err := compare(client, before, after); err == nil || err.Error() != "E2E is not told by both sides" {
		t.Errorf("got %v", err)
	}
	client, before, after = both()
	if _, err := compare(client, after, before); err == nil {
		t.Error("an engine that began anew is compared")
	}
	after.Finished = probes.None[float64](probes.NotExposed)
	if _, err := compare(client, before, after); err == nil || !strings.Contains(err.Error(), "does not tell requests finished") {
		t.Errorf("got %v", err)
	}
	for _, change := range []func(*load.Report){
		func(r *load.Report) { r.Completed = 9 },
		func(r *load.Report) { r.Completed = 99 },
		func(r *load.Report) { r.Client.Bottleneck = []string{"slow"} },
		func(r *load.Report) { r.Tokens.Estimated = true },
	} {
		client, _, _ := both()
		if err := fair(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		change(&client)
		if fair(t.Context(), client) == nil {
			t.Errorf("%+v is taken for fair", client)
		}
	}
}
