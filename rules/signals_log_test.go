package rules

import (
	"slices"
	"strings"
	"testing"

	"llmtop/probes"
)

// logged is a section of a log in which kinds were counted: "oom", 2, "xid", 1.
func logged(source string, second float64, kindsAndTotals ...any) *probes.EngineLog {
	l := &probes.EngineLog{At: at(second), Source: source, Lines: probes.Some(0.), Skipped: probes.Some(0.)}
	for i := 0; i+1 < len(kindsAndTotals); i += 2 {
		l.Counts = append(l.Counts, probes.LogCount{Kind: kindsAndTotals[i].(string), Total: kindsAndTotals[i+1].(float64)})
	}
	return l
}

func logSample(second float64, logs ...*probes.EngineLog) *probes.Sample {
	s := sample(second)
	s.Logs = logs
	return s
}

func TestLogSignals(t *testing.T) {
	const a, b = "file:/a.log", "journal:b"
	s := signalsOf(
		logSample(0, logged(a, 0), logged(b, 0, "oom", 5.)), // those five are of before
		logSample(5, logged(a, 5, "preemption", 10.), logged(b, 5, "oom", 6.)),
		logSample(10, logged(a, 10, "preemption", 20., "retraction", 5., "jit-compile", 1.), logged(b, 10, "kv-pool-full", 30., "oom", 7., "xid", 1.)))
	near(t, s, "log.preemption_rate", 2.5)
	near(t, s, "log.kv_pool_full_rate", 3)
	near(t, s, "log.jit_rate", 0.1)
	near(t, s, "log.graph_capture_rate", 0)
	near(t, s, "log.oom", 2)
	near(t, s, "log.xid", 1)
	near(t, s, "log.failures", 3)
}

func TestLogSignalsOfNoLogAreMissing(t *testing.T) {
	rows := logRows()
	all := func(s Signals, why probes.Absence) {
		t.Helper()
		for _, r := range rows {
			absent(t, s, r.Name, why)
		}
	}
	all(signalsOf(sample(0), sample(5)), probes.NotSeen)
	all(signalsOf(logSample(5, logged("a", 5, "oom", 3.))), probes.NotSeen) // one reading is no increase
	old := logged("a", 1, "oom", 3.)
	all(signalsOf(logSample(0, logged("a", 0)), logSample(1, old), logSample(20, old)), probes.Stale)

	// A log that is read no more takes nothing from another; one that counts anew begins at 0.
	s := signalsOf(logSample(0, logged("b", 0, "oom", 9.)), logSample(1, old, logged("b", 1, "oom", 9.)), logSample(20, old, logged("b", 20, "oom", 4.)))
	near(t, s, "log.oom", 4)
}

// TestLogSignalsKnowTheirKinds: a misspelt kind would be 0 for ever.
func TestLogSignalsKnowTheirKinds(t *testing.T) {
	for _, kind := range probes.LogKinds {
		s := signalsOf(logSample(0, logged("a", 0)), logSample(10, logged("a", 10, kind, 10.)))
		moved := 0
		for _, r := range logRows() {
			if s.Get(r.Name).Or(0) > 0 {
				moved++
			}
		}
		// What only informs has no signal: other sources tell it better, or nobody asks.
		if informs := slices.Contains([]string{"grammar", "weights-loaded", "ready", "throughput"}, kind); (moved == 0) != informs {
			t.Errorf("%s moves %d signals", kind, moved)
		}
	}
	for _, r := range Table() {
		if strings.HasPrefix(r.Name, "log.") != (r.Kind == "log") {
			t.Errorf("%s is of kind %s", r.Name, r.Kind)
		}
	}
}
