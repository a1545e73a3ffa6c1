package panes

import (
	"strings"
	"testing"
)

// Nobody reads "healthy" off a screen whose latency has just gone up.
func TestHealthyIsInDoubtWhileSomethingIsUp(t *testing.T) {
	const reason = "TTFT p95 58 ms → 2.4 s (41×) for 3 s: too short to tell a burst from trouble"
	f := normalFrame()
	f.Ticks[len(f.Ticks)-1].Diagnosis.Reason = reason
	for _, w := range []int{40, 80, 160} {
		var text []string
		for _, r := range verdictRows(newView(f, 0, false), w, 3) {
			for _, s := range r {
				text = append(text, s.text)
			}
		}
		all := strings.Join(strings.Fields(strings.Join(text, " ")), " ")
		if !strings.HasPrefix(all, "HEALTHY? TTFT p95 58 ms → 2.4 s (41×) for 3 s") {
			t.Errorf("%d: %s", w, all)
		}
	}
	if rows := diagnosisRows(newView(f, 0, false), 160, 20); rows[0][len(rows[0])-1].text != reason {
		t.Errorf("the diagnosis begins with %q", rows[0])
	}
}
