package rules

import (
	"fmt"
	"strings"

	"llmtop/probes"
)

// silent is a note on engines whose metrics are not to be had while those of others are:
// what is said of all is said without them. ok is false when there are none.
func (n *now) silent() (note Finding, ok bool) {
	all, quiet, why := 0, 0, ""
	for i := range n.point.Probes {
		p := &n.point.Probes[i]
		if !ofAnEngine(p) {
			continue
		}
		all++
		if p.Err == "" || !p.At.IsZero() && n.fresh(p.At) { // a page may be read in part
			continue
		}
		if quiet++; why == "" {
			why = p.Err
		}
	}
	if quiet == 0 || quiet == all {
		return Finding{}, false
	}
	text := fmt.Sprintf("%d of %d engines do not answer, first %s", quiet, all, why)
	if quiet == 1 {
		text = fmt.Sprintf("1 of %d engines does not answer: %s", all, why)
	}
	return Finding{ID: "engine-silent", Text: text}, true
}

// ofAnEngine reports the probe of an engine's metrics, by its name: "scrape" and an
// address. The search for engines is "scrape search".
func ofAnEngine(p *probes.ProbeStatus) bool {
	address, is := strings.CutPrefix(p.Name, "scrape ")
	return is && (strings.Contains(address, "://") || strings.HasPrefix(address, "unix:"))
}
