package main

import (
	"time"

	"llmtop/probes"
	"llmtop/probes/host"
)

// processProbes are those of the engines' processes.
func (a *attached) processProbes(interval time.Duration) []probes.Scheduled {
	return []probes.Scheduled{{Probe: host.NewProcess("/", a.pid), Every: interval}}
}
