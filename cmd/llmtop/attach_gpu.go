package main

import (
	"time"

	"llmtop/probes"
	"llmtop/probes/nvml"
)

// gpuProbes are those of the GPUs.
func (a *attached) gpuProbes(interval time.Duration) []probes.Scheduled {
	return []probes.Scheduled{{Probe: nvml.New(nvml.Options{}), Every: interval}}
}
