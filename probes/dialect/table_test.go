package dialect

import (
	"slices"
	"strings"
	"testing"

	"llmtop/probes"
)

// Names in tables are folded, readings exist, dialects are listed, a divided or counted
// row has what it needs: what a table cannot say is found here and not at night.
func TestTablesAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, tab := range tables() {
		if !slices.Contains(probes.Dialects, tab.name) {
			t.Errorf("%s is not in probes.Dialects", tab.name)
		}
		if tab.prefix == "" && len(tab.all) == 0 {
			t.Errorf("%s: nothing proves it", tab.name)
		}
		for _, r := range tab.rows {
			of, known := probes.LookupEngineReading(r.of)
			if !known {
				t.Errorf("%s: no reading %q", tab.name, r.of)
				continue
			}
			for _, names := range [][]string{r.names, r.plus, r.over, r.count, r.needs, r.lacks, r.less, r.gate, r.minus, r.times, tab.all, tab.modelIn, tab.atFinish} {
				for _, name := range names {
					if folded := fold(name, probes.Untyped); folded != name && !strings.HasSuffix(name, "_total") {
						t.Errorf("%s %s: %q is not folded: %q", tab.name, r.of, name, folded)
					}
				}
			}
			if len(r.names) == 0 || of.Histogram != nil && (len(r.over) > 0 || len(r.label) > 0) || of.Number != nil && len(r.count) > 0 || len(r.minus) > 0 && len(r.count) == 0 {
				t.Errorf("%s %s: row makes no sense", tab.name, r.of)
			}
			seen[r.of] = true
		}
	}
	if !seen["running"] || !seen["ttft_seconds"] {
		t.Error("no table tells the simplest things")
	}
}
