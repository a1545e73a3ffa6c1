package ruletest

import (
	"io"
	"time"

	"llmtop/probes"
)

// Samples are what the script describes, up to its last check; name stands in the errors.
func Samples(r io.Reader, name string) ([]*probes.Sample, error) {
	s, err := parse(r, name)
	if err != nil {
		return nil, err
	}
	var samples []*probes.Sample
	w := newWorld(s)
	for _, c := range s.checks {
		for time.Duration(w.step)*s.every <= c.at {
			samples = append(samples, w.next())
		}
	}
	return samples, nil
}
