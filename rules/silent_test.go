package rules_test

import (
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// Engines that do not answer beside one that does are said, whatever the verdict.
func TestEnginesThatDoNotAnswer(t *testing.T) {
	const gone = "http://b:1/metrics: nothing listens there (connection refused)"
	for name, c := range map[string]struct {
		probes []probes.ProbeStatus
		want   string
	}{
		"all answer":           {[]probes.ProbeStatus{{Name: "scrape http://a:1"}, {Name: "scrape http://b:1"}, {Name: "scrape search", Err: "none"}}, ""},
		"one does not":         {[]probes.ProbeStatus{{Name: "scrape http://a:1"}, {Name: "scrape http://b:1", Err: gone}}, "1 of 2 engines does not answer: " + gone},
		"two, one of a socket": {[]probes.ProbeStatus{{Name: "scrape http://a:1"}, {Name: "scrape http://b:1", Err: gone}, {Name: "scrape unix:/x", Err: "x"}}, "2 of 3 engines do not answer, first " + gone},
		"it did once":          {[]probes.ProbeStatus{{Name: "scrape http://a:1"}, {Name: "scrape http://b:1", Err: gone, At: simStart.Add(-time.Hour)}}, "1 of 2 engines does not answer: " + gone},
		"in part":              {[]probes.ProbeStatus{{Name: "scrape http://a:1"}, {Name: "scrape http://b:1", Err: "7 series left out", At: simStart.Add(9 * time.Second)}}, ""},
		"other probes":         {[]probes.ProbeStatus{{Name: "scrape http://a:1"}, {Name: "requests http://a:1", Err: "404"}, {Name: "scrape search", Err: "none"}}, ""},
		"none answers":         {[]probes.ProbeStatus{{Name: "scrape http://a:1", Err: gone}, {Name: "scrape http://b:1", Err: gone}}, ""},
	} {
		s := newSim(3, 8)
		d := diagnoser(t)
		var got string
		for n := 1; n <= 9; n++ {
			x := s.sample(n)
			x.Probes = c.probes
			got = ""
			for _, note := range d.Observe(x).Diagnosis.Notes {
				if note.ID == "engine-silent" {
					got = note.Text
				}
			}
		}
		if got != c.want || strings.Contains(got, "search") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
