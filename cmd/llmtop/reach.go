package main

import (
	"strings"

	"llmtop/probes"
)

// failedReads is how many samples in a row an engine must not answer before that is said:
// one missed page is no news.
const failedReads = 3

// reach says of a recording without a screen when an engine does not answer, and when it
// does again. Else a wrong address shows in the morning, as a night of nothing.
type reach struct {
	say    func(format string, a ...any)
	failed map[string]int // samples in a row, by the name of the engine's probe
}

func newReach(say func(format string, a ...any)) *reach {
	return &reach{say: say, failed: map[string]int{}}
}

// observe takes how the probes of a sample went.
func (r *reach) observe(status []probes.ProbeStatus) {
	for _, p := range status {
		if !strings.HasPrefix(p.Name, "scrape") {
			continue
		}
		if p.Err == "" {
			if r.failed[p.Name] >= failedReads {
				r.say("%s: it answers", p.Name)
			}
			r.failed[p.Name] = 0
			continue
		}
		if r.failed[p.Name]++; r.failed[p.Name] == failedReads {
			r.say("%s; recording goes on without the engine until it answers", p.Err)
		}
	}
}
