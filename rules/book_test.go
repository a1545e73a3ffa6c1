package rules

import "testing"

func TestDefaultBookLoads(t *testing.T) {
	b, err := DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"queue-backlog", "tokenize-bound", "prefill-interference", "mix-shift", "kv-preemption-storm",
		"cpu-noisy-neighbour", "bandwidth-bound-decode", "power-cap", "thermal-throttle", "cpu-quota-throttled", "scheduler-cpu-bound", "numa-remote",
		"gpu-hardware-fault", "gpu-lost", "gpu-memory-errors", "gpu-shared", "power-brake", "interconnect-slow", "pcie-downtrained",
		"disk-stall", "kernel-hang", "host-memory-pressure", "slow-reader", "clients-not-reading", "descriptors-short"} {
		found := false
		for _, r := range b.Rules {
			found = found || r.ID == id
		}
		if !found {
			t.Errorf("no rule %s", id)
		}
	}
}
