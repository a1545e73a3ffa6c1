package rules_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"llmtop/rules"
)

// stretch runs a small engine for some seconds and sums up those from the first on.
func stretch(seed uint64, rate float64, from, to int) *rules.Stretch {
	s, out := newSim(seed, rate), rules.NewStretch()
	for n := 1; n <= to; n++ {
		if x := s.sample(n); n >= from {
			out.Observe(x)
		}
	}
	return out
}

func change(t *testing.T, c rules.Comparison, name string) rules.Change {
	t.Helper()
	for _, x := range c.Changes {
		if x.Signal == name {
			return x
		}
	}
	t.Fatalf("no %s", name)
	return rules.Change{}
}

// TestCompareTellsWhatMoved holds a flood against calm.
func TestCompareTellsWhatMoved(t *testing.T) {
	calm, flood := stretch(1, 8, 20, 80), stretch(1, 120, 20, 80)
	flood.Judge(rules.Degraded, "queue-backlog")
	c := rules.Compare(calm, flood)
	ttft := change(t, c, "ttft.p50")
	if !ttft.Moved || *ttft.Ratio < 10 || *ttft.Difference <= 0 {
		t.Errorf("ttft.p50 %+v", ttft)
	}
	if x := change(t, c, "ttft.p95"); *x.After-*x.Before != *x.Difference {
		t.Errorf("ttft.p95 %+v", x)
	}
	if len(c.Added) == 0 || c.Added[0].Of != "ttft" || c.Added[0].Parts[0].Stage != "queue" || c.Added[0].Parts[0].Share < 0.9 {
		t.Errorf("added %+v, want mostly queue", c.Added)
	}
	for _, a := range c.Added {
		sum, seconds := 0.0, 0.0
		for _, p := range a.Parts {
			sum, seconds = sum+p.Share, seconds+p.DeltaSeconds
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(seconds-a.DeltaSeconds) > 1e-9 {
			t.Errorf("%s: shares add up to %g, seconds to %g of %g", a.Of, sum, seconds, a.DeltaSeconds)
		}
	}
	if got := c.After.VerdictText(); got != "degraded queue-backlog" {
		t.Errorf("verdict %q", got)
	}
}

// TestCompareIsSymmetric: the other way round, all goes down by as much.
func TestCompareIsSymmetric(t *testing.T) {
	calm, flood := stretch(1, 8, 20, 80), stretch(1, 120, 20, 80)
	up, down := rules.Compare(calm, flood), rules.Compare(flood, calm)
	for i := range up.Changes[:up.Moved()] {
		a, b := up.Changes[i], change(t, down, up.Changes[i].Signal)
		if !b.Moved || (a.Difference != nil && *a.Difference != -*b.Difference) {
			t.Errorf("%+v against %+v", a, b)
		}
	}
	if a, b := up.Added[0], down.Added[0]; math.Abs(a.DeltaSeconds+b.DeltaSeconds) > 1e-9 || a.Parts[0].Stage != b.Parts[0].Stage {
		t.Errorf("%+v against %+v", a, b)
	}
}

// TestSameTrafficDoesNotMove: of two stretches of one traffic hardly a signal moves.
func TestSameTrafficDoesNotMove(t *testing.T) {
	moved, all := 0, 0
	for seed := range uint64(10) {
		c := rules.Compare(stretch(2*seed, 8, 20, 140), stretch(2*seed+1, 8, 20, 140))
		moved, all = moved+c.Moved(), all+len(c.Changes)
		for _, x := range c.Changes[:c.Moved()] {
			t.Logf("seed %d: %s %g %g", seed, x.Signal, *x.Before, *x.After)
		}
	}
	if moved*50 > all {
		t.Errorf("%d of %d signals moved between stretches of the same traffic", moved, all)
	}
}

// TestCompareNothing: a stretch without samples moves nothing and divides nothing by zero.
func TestCompareNothing(t *testing.T) {
	c := rules.Compare(rules.NewStretch(), rules.NewStretch())
	if len(c.Changes) != 0 || c.Unseen != len(rules.Table()) || c.Moved() != 0 || len(c.Added) != 0 {
		t.Errorf("%+v", c)
	}
	if text := rules.CompareReport(c); !strings.Contains(text, "nothing moved") {
		t.Error(text)
	}
}

// TestCompareReportFits: 80 columns, 40 lines, the movers in order.
func TestCompareReportFits(t *testing.T) {
	calm, flood := stretch(1, 8, 20, 80), stretch(1, 120, 20, 80)
	for range 30 {
		calm.Judge(rules.Healthy, "")
		flood.Judge(rules.Degraded, "queue-backlog")
	}
	flood.Judge(rules.Unknown, "")
	c := rules.Compare(calm, flood)
	c.Before.Name, c.After.Name = "a.llmrec", "b.llmrec"
	text := rules.CompareReport(c)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(l), l)
		}
	}
	for _, want := range []string{"TTFT p50 +", "queue", "degraded queue-backlog 97 %", "within their noise"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestLongStretchIsBounded: the median of many samples stays right with few of them kept.
func TestLongStretchIsBounded(t *testing.T) {
	s, out := newSim(1, 8), rules.NewStretch()
	for n := 1; n <= 5000; n++ {
		out.Observe(s.sample(n))
	}
	c := rules.Compare(out, stretch(7, 8, 20, 400))
	if x := change(t, c, "ttft.p50"); x.Moved || c.Before.Samples != 5000 {
		t.Errorf("%+v of %d samples", x, c.Before.Samples)
	}
}
