package main

import (
	"time"

	"llmtop/probes"
	"llmtop/probes/host"
)

// hostProbes are those of the machine and of who else uses it.
func (a *attached) hostProbes(interval time.Duration) []probes.Scheduled {
	return []probes.Scheduled{
		{Probe: host.NewHost("/", a.pids), Every: interval},
		{Probe: host.NewNeighbours("/", a.pids), Every: max(interval, host.NeighboursEvery)},
	}
}

// pids are the processes of the engines attached to, as far as they are known.
func (a *attached) pids() []int {
	var pids []int
	for _, t := range a.all() {
		if pid := t.process(); pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
