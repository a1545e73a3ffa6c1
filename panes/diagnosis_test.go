package panes

import (
	"strings"
	"testing"
)

// TestFirstStepIsSeenWithoutScrolling is what a person at 80x24 needs: a proof
// and what to do.
func TestFirstStepIsSeenWithoutScrolling(t *testing.T) {
	text := Plain(firingFrame(), 80, 24)
	for _, want := range [...]string{"✓ queue share", "→ Answer 429"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestTightLosesNothing compares the two orders of a diagnosis line by line.
func TestTightLosesNothing(t *testing.T) {
	v := newView(firingFrame(), 0, false)
	lines := func(tight bool) map[string]int {
		seen := map[string]int{}
		for _, r := range diagnosisOrdered(v, 80, tight) {
			seen[r.text()]++
		}
		return seen
	}
	wide, tight := lines(false), lines(true)
	if len(wide) != len(tight) {
		t.Errorf("%d lines, tight %d", len(wide), len(tight))
	}
	for line, n := range wide {
		if tight[line] != n {
			t.Errorf("tight lost %q", line)
		}
	}
}

// TestDiagnosisShowsEverything looks for each part of a diagnosis.
func TestDiagnosisShowsEverything(t *testing.T) {
	text := Plain(firingFrame(), 160, 48)
	for _, want := range [...]string{
		"TTFT +1.1 s", "queue  94 %", "1 queue-backlog", "high confidence", "since 12:01:46Z", "Requests arrive faster",
		"✓ queue depth rising over 10 s, now 41", "✗ KV cache full ruled out", "! longer prompts not ruled out", "? unseen: gpu.dram_active",
		"explains: traffic-burst", "[cheap: TPOT", "llmtop serve --max-num-seqs 16", "[expensive: its hardware]",
		"⚠ risk: the host's cores", "note: the engine is 4 min old", "symptom: E2E p95 1.2→3.6 s", "baseline: window 11:59:20",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
