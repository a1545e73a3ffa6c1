package truth

import (
	"testing"

	"llmtop/rules"
)

// notRecomputed are signals of the book that are not worked out here, and why. It is to stay
// empty as long as there is no reason.
var notRecomputed = map[string]string{}

// TestBook: whatever a clause of the book may show is worked out here too.
func TestBook(t *testing.T) {
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, r := range book.Rules {
		for _, list := range [][]rules.RuleClause{r.Needs, r.Support, r.Unless} {
			for _, c := range list {
				for _, signal := range signalsIn(c.Text) {
					asked[signal] = true
				}
			}
		}
	}
	for signal := range asked {
		if Recomputes(signal) == (notRecomputed[signal] != "") {
			t.Errorf("%s is asked for by the book; worked out: %v, reason not to: %q", signal, Recomputes(signal), notRecomputed[signal])
		}
	}
	for signal := range notRecomputed {
		if !asked[signal] {
			t.Errorf("%s: nobody asks for it", signal)
		}
	}
	if len(asked) < 60 {
		t.Errorf("only %d signals in the book: they are not found", len(asked))
	}
	for _, symptom := range []string{"ttft.p50", "ttft.p95", "ttft.mean", "tpot.p50", "tpot.p95", "tpot.mean", "e2e.p50", "e2e.p95", "e2e.mean", "step.p99", "refused.share"} {
		if !Recomputes(symptom) {
			t.Errorf("%s may be a symptom and is not worked out", symptom)
		}
	}
	for _, row := range table {
		if _, known := rules.Lookup(row.signal); !known {
			t.Errorf("%s is no signal", row.signal)
		}
	}
}
