package score

import (
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// staying is the share of the time from then to the end in which the right cause must
// stand first for a moment to count as the one at which it was named.
const staying = 0.9

// Delay is the time from the onset until the right cause stands first and stays: it does so in
// 90 % of the time from then to the end. False when there is no such moment. What stood
// there before the onset already is 0.
func Delay(t *drill.Truth, verdicts []drill.Verdict) (time.Duration, bool) {
	all := stretches(verdicts, t.Onset, t.To)
	label := Label(t)
	var right time.Duration
	found, ok := time.Duration(0), false
	for i := len(all) - 1; i >= 0; i-- { // the earliest is found last
		s := &all[i]
		if said(t, s.verdict) != label {
			continue
		}
		right += s.length()
		if float64(right) >= staying*float64(t.To.Sub(s.from)) {
			found, ok = s.from.Sub(t.Onset), true
		}
	}
	return found, ok
}
