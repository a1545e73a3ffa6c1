package main

import (
	"time"

	"llmtop/probes"
	"llmtop/probes/host"
)

// socketsEvery is how often the connections are read: the kernel's tables of them are dear.
const socketsEvery = 2 * time.Second

// processProbes are those of the engines' processes and of their connections.
func (a *attached) processProbes(interval time.Duration) []probes.Scheduled {
	return []probes.Scheduled{
		{Probe: host.NewProcess("/", a.engines), Every: interval},
		{Probe: host.NewSockets("/", a.engines), Every: max(interval, socketsEvery)},
	}
}

// engines are those of this host, with their processes as far as they are known.
func (a *attached) engines() []host.Engine {
	var list []host.Engine
	for _, t := range a.all() {
		if e, err := probes.ParseEndpoint(t.url); err == nil {
			list = append(list, host.Engine{PID: t.process(), Endpoint: e.String(), Addr: localAddr(t.url)})
		}
	}
	return list
}
