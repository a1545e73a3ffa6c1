package twin_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin"
	"llmtop/engine/twin/exposition"
	"llmtop/probes"
	"llmtop/rules"
)

// TestHealthyIsHealthy: with nothing wrong the book finds nothing wrong, whichever engine it is,
// and nothing happens but that boards touch their power limit at prefills, as they do.
func TestHealthyIsHealthy(t *testing.T) {
	if twin.UnderRace {
		t.Skip("a run has one goroutine: nothing to race, and ten times as long")
	}
	for _, name := range exposition.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc, err := twin.Parse(strings.NewReader(worlds["tp"]), "test")
			if err != nil {
				t.Fatal(err)
			}
			sc.Personality, sc.Duration = name, 5*time.Minute
			run, err := twin.New(sc)
			if err != nil {
				t.Fatal(err)
			}
			book, err := theBook()
			if err != nil {
				t.Fatal(err)
			}
			for d := rules.NewDiagnoser(book, rules.Options{}); ; {
				s, err := run.Next(t.Context())
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range s.Events {
					if e.Kind != probes.EventGPUThrottle || !strings.Contains(e.Text, "power cap") {
						t.Errorf("%s: %s: %s", s.Mono, e.Kind, e.Text)
					}
				}
				if found := d.Observe(s).Diagnosis; s.Mono > warm && found.State != rules.Healthy { // some engines need a moment to be told from their page
					t.Fatalf("%s: %s: %+v", s.Mono, found.State, found.Causes)
				}
			}
		})
	}
}
