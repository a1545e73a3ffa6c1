package drill

import (
	"sync"

	"llmtop/rules"
)

// Catalogue are the ids of the causes that are known of engines, in the order in which they
// are kept: those that the book has a rule for, and those that it has none for yet.
var Catalogue = []string{
	// Load and admission.
	"queue-backlog", "admission-cap", "token-budget-cap", "kv-admission-deadlock", "scheduler-conservative", "load-drop", "traffic-burst", "mix-shift",
	// Prefill.
	"prefill-interference", "giant-prompt", "prefill-compute-bound", "prefix-cache-miss", "prefix-cache-broken", "prefix-cache-thrash", "kv-offload-bound", "cold-cache",
	// KV cache and memory.
	"kv-preemption-storm", "kv-retraction-collapse", "kv-limited-queueing", "max-utilization-pausing", "memory-fragmentation-oom", "host-memory-pressure", "partial-offload",
	// CPU and runtime.
	"cpu-quota-throttled", "cpu-noisy-neighbour", "cpu-oversubscribed", "scheduler-cpu-bound", "gc-pause", "tokenize-bound", "detokenize-bound", "multimodal-preprocess",
	"grammar-compile", "grammar-mask", "cpu-sampling", "logging-blocking", "lock-contention", "numa-remote", "upgrade-regression",
	// GPU.
	"bandwidth-bound-decode", "gpu-shared", "power-cap", "power-brake", "thermal-throttle", "clocks-stuck-low", "idle-downclock", "gpu-hardware-fault", "cuda-graph-miss",
	"jit-warmup", "engine-hang", "kernel-fallback",
	// Several GPUs, network, features.
	"interconnect-slow", "allreduce-latency", "straggler-gpu", "pd-transfer-slow", "bad-instance", "routing-imbalance", "client-saturated", "slow-reader", "proxy-buffering",
	"network-bandwidth", "nagle-delay", "frame-quantum", "spec-decode-not-paying", "lora-swap", "cold-start", "disk-stall", "metrics-blind",
}

// known are all ids that a diagnosis may give: the catalogue's and those that only the book has.
var known = sync.OnceValues(func() ([]string, error) {
	book, err := rules.DefaultBook()
	if err != nil {
		return nil, err
	}
	ids, seen := []string{}, map[string]bool{}
	add := func(id string) {
		if !seen[id] {
			ids, seen[id] = append(ids, id), true
		}
	}
	for _, id := range Catalogue {
		add(id)
	}
	for _, r := range book.Rules {
		add(r.ID)
	}
	return ids, nil
})
