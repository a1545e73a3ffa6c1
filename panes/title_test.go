package panes

import (
	"strings"
	"testing"

	"llmtop/probes"
	"llmtop/rules"
)

// GPUs and host are simulated with an engine; where another is real, the title says so.
func TestTitleSaysWhatIsSimulated(t *testing.T) {
	const one, other = "http://127.0.0.1:8000", "http://127.0.0.1:8001"
	for _, c := range []struct {
		name      string
		simulated bool
		engines   []string
		of        []string
		width     int
		want      string
	}{
		{"nothing", false, []string{one}, nil, 160, ""},
		{"one", true, []string{one}, []string{one}, 160, "SIMULATED"},
		{"a run in virtual time", true, []string{one, other}, nil, 160, "SIMULATED"},
		{"all", true, []string{one, other}, []string{one, other}, 160, "SIMULATED"},
		{"one of two", true, []string{one, other}, []string{other}, 160, "SIMULATED: GPUs, host and :8001"},
		{"two of three", true, []string{one, other, "http://gpu-7:8000"}, []string{one, other}, 160, "SIMULATED: GPUs, host and 2 of 3 engines"},
		{"one of two, narrow", true, []string{one, other}, []string{one}, 40, "SIMULATED 1 OF 2"},
	} {
		tick := &rules.Tick{Point: &probes.Point{Sample: &probes.Sample{Simulated: c.simulated, SimulatedEngines: c.of}}}
		for _, e := range c.engines {
			tick.Instances = append(tick.Instances, rules.Instance{Engine: &probes.Engine{Endpoint: e}})
		}
		if got := strings.TrimSpace(simulatedRow(tick, c.width).text()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
