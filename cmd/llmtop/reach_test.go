package main

import (
	"fmt"
	"slices"
	"testing"

	"llmtop/probes"
)

// TestAnEngineThatDoesNotAnswerIsSaidOnce feeds one letter a sample: x the page cannot
// be read, . it can.
func TestAnEngineThatDoesNotAnswerIsSaidOnce(t *testing.T) {
	const lost, back = "refused; recording goes on without the engine until it answers", "scrape http://a: it answers"
	for samples, want := range map[string][]string{
		"....":        nil,
		"xx.xx.x":     nil,
		"xxxxxxx":     {lost},
		".xxxx.":      {lost, back},
		"xxx...xxx..": {lost, back, lost, back},
	} {
		var said []string
		r := newReach(func(format string, a ...any) { said = append(said, fmt.Sprintf(format, a...)) })
		for _, c := range samples {
			p := probes.ProbeStatus{Name: "scrape http://a"}
			if c == 'x' {
				p.Err = "refused"
			}
			r.observe([]probes.ProbeStatus{{Name: "nvml", Err: "no library"}, p, {Name: "scrape http://b"}})
		}
		if !slices.Equal(said, want) {
			t.Errorf("%s: said %q, want %q", samples, said, want)
		}
	}
}
