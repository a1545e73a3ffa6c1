package main

import (
	"time"

	"llmtop/probes"
	"llmtop/probes/host"
)

// hostProbes are those of the machine.
func (a *attached) hostProbes(interval time.Duration) []probes.Scheduled {
	return []probes.Scheduled{{Probe: host.NewHost("/"), Every: interval}}
}
