package panes

import (
	"strings"
	"testing"

	"llmtop/probes"
)

// Metrics that fail are told before pages that many engines do not have.
func TestTroubledMetricsComeFirst(t *testing.T) {
	var names []string
	for _, p := range troubledFirst([]probes.ProbeStatus{{Name: "scrape a"}, {Name: "requests a", Err: "404"}, {Name: "scrape b", Err: "x"}, {Name: "host"},
		{Name: "scrape c", PendingSeconds: probes.Some(60.0), EverySeconds: 1}}) {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, ", "); got != "scrape b, scrape c, requests a, scrape a, host" {
		t.Error(got)
	}
}

// A page that the engine does not have is no trouble.
func TestWhatIsNotExposedIsNoTrouble(t *testing.T) {
	p := probes.ProbeStatus{Name: "profile http://a:1", Err: "CPU profiles are not exposed by this engine: http://a:1/debug: 404"}
	if word, tone := probeWord(&view{}, &p); word != missing || tone != faint {
		t.Errorf("says %q in tone %v", word, tone)
	}
	if got := troubledFirst([]probes.ProbeStatus{{Name: "scrape a"}, p, {Name: "b", Err: "x"}}); got[0].Name != "b" || got[2].Name != p.Name {
		t.Errorf("got %v", got)
	}
}
