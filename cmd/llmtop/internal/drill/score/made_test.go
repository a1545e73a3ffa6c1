package score

import (
	"math"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// Runs made by hand begin at start; a fault's onset is at 100 s and its end at 200 s.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// says is a verdict from a second on: a state, or the causes named.
func says(second float64, words ...string) drill.Verdict {
	v := drill.Verdict{At: at(second), State: degraded, Causes: words}
	switch words[0] {
	case Healthy, Unknown, Unmeasurable:
		v.State, v.Causes = words[0], words[1:]
	}
	return v
}

func truth(id string, kind drill.Kind) drill.Truth {
	t := drill.Truth{Drill: id, Kind: kind, Engine: "twin", Severity: drill.Medium, Seed: 1, From: at(0), Onset: at(100), To: at(200)}
	switch kind {
	case drill.Healthy:
		t.Severity, t.Onset = "", time.Time{}
	case drill.Outside:
	default:
		t.Expects = []string{id}
	}
	return t
}

func fault(id string) drill.Truth { return truth(id, drill.Fault) }

// run is one that the product judged.
func run(t drill.Truth, verdicts ...drill.Verdict) Run {
	return Run{Truth: t, Judged: drill.Judged{Verdicts: map[string][]drill.Verdict{drill.Product: verdicts}}}
}

// namedAs is a run whose fault is healthy until its onset and then called what after a delay.
func namedAs(t drill.Truth, delay float64, what ...string) Run {
	return run(t, says(0, Healthy), says(100+delay, what...))
}

func product(runs []Run, pairs ...Pair) Judge { return Of(runs, pairs).Judges[0] }

func wantValue(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	switch {
	case got == nil && !math.IsNaN(want):
		t.Errorf("%s: nothing, want %g", what, want)
	case got != nil && math.IsNaN(want):
		t.Errorf("%s: %g, want nothing", what, *got)
	case got != nil && math.Abs(*got-want) > 1e-9:
		t.Errorf("%s: %g, want %g", what, *got, want)
	}
}

var nothing = math.NaN()
