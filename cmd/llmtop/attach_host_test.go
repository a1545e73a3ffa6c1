package main

import (
	"os"
	"slices"
	"testing"
	"time"

	"llmtop/probes/host"
)

func TestHostProbes(t *testing.T) {
	for interval, neighbours := range map[time.Duration]time.Duration{time.Second: host.NeighboursEvery, 5 * time.Second: 5 * time.Second} {
		list := new(attached).hostProbes(interval)
		if len(list) != 2 || list[0].Probe.Name() != "host" || list[0].Every != interval || list[1].Probe.Name() != "neighbours" || list[1].Every != neighbours {
			t.Errorf("every %s: %+v", interval, list)
		}
	}
}

// Of all engines those have a process that runs on this host.
func TestPIDsOfAllEngines(t *testing.T) {
	here := &target{url: "http://127.0.0.1:8000"}
	process, ok := host.Meet("/", os.Getpid())
	if !ok {
		t.Fatal("this process is not to be met")
	}
	here.seen.Store(&sighting{pid: os.Getpid(), process: process})
	again := &target{url: "http://127.0.0.1:8001"}
	again.seen.Store(here.seen.Load())
	a := &attached{targets: []*target{{url: "http://192.0.2.1:8000"}, here, again}}
	if got, want := a.pids(), []int{os.Getpid(), os.Getpid()}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
