package judge

import (
	"slices"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/rules"
)

// alert is an alert on one number: it fires above (or, with under, below) the threshold.
type alert struct {
	signal string
	limit  float64
	under  bool
	cause  string
}

// alerts are as they are found in the wild (rules reference §4: Kestra, modelship, Grafana;
// mixins for node and kubernetes; R: of a rule's own reference), what says most of its cause first.
var alerts = []alert{
	{"gpu.lost", 0, false, "gpu-hardware-fault"},                       // any
	{"gpu.xid", 0, false, "gpu-hardware-fault"},                        // DCGM_FI_DEV_XID_ERRORS above 0
	{"gpu.ecc_uncorrected", 0, false, "gpu-hardware-fault"},            // DCGM_FI_DEV_ECC_DBE_VOL_TOTAL above 0
	{"gpu.remap_pending", 0, false, "gpu-hardware-fault"},              // any
	{"gpu.nvlinks_down", 0, false, "interconnect-slow"},                // any
	{"engine.stalled", 10, false, "engine-hang"},                       // no token for 10 s
	{"instance.silent", 0, false, "bad-instance"},                      // up == 0
	{"gpu.throttle_brake_time", 0, false, "power-brake"},               // reason 0x80
	{"gpu.throttle_thermal", 0, false, "thermal-throttle"},             // reasons 0x20 and 0x40
	{"gpu.temperature", 85, false, "thermal-throttle"},                 // 85 °C, as the book's gpu-hot
	{"gpu.other_processes", 0, false, "gpu-shared"},                    // a second compute process (R46)
	{"process.throttled", 0.25, false, "cpu-quota-throttled"},          // kubernetes-mixin, CPUThrottlingHigh
	{"host.oom_kills", 0, false, "host-memory-pressure"},               // any
	{"host.memory_pressure", 0.1, false, "host-memory-pressure"},       // as the book's memory-short
	{"host.io_pressure", 0.1, false, "disk-stall"},                     // R75
	{"host.disk_wait", 0.1, false, "disk-stall"},                       // 100 ms a request
	{"host.steal", 0.05, false, "cpu-noisy-neighbour"},                 // R31
	{"host.cpu_pressure", 0.2, false, "cpu-noisy-neighbour"},           // R31
	{"host.cpu_busy", 0.9, false, "cpu-oversubscribed"},                // node-mixin, NodeCPUHighUsage
	{"host.retransmits", 0.01, false, "network-bandwidth"},             // R69
	{"host.net_share", 0.7, false, "network-bandwidth"},                // R69
	{"socket.stuck", 0, false, "slow-reader"},                          // R67
	{"kv.preemption_rate", 0, false, "kv-preemption-storm"},            // Kestra: any preemption
	{"kv.usage", 0.95, false, "kv-limited-queueing"},                   // modelship: KV above 95 %
	{"spec.acceptance", 0.3, true, "spec-decode-not-paying"},           // R72
	{"refused.share", 0.01, false, "queue-backlog"},                    // ten times what an SLO of 99.9 % leaves
	{"queue.depth", 5, false, "queue-backlog"},                         // Kestra: more than five wait
	{"gpu.pcie_link", 0.9, true, "interconnect-slow"},                  // R60: below its maximum
	{"gpu.limit_ratio", 0.99, true, "power-cap"},                       // R47: below the default
	{"gpu.throttle_power", 0.5, false, "power-cap"},                    // reason 0x4, most of the time
	{"gpu.sm_clock_ratio", 0.7, true, "clocks-stuck-low"},              // R50
	{"ttft.p95", 2, false, "queue-backlog"},                            // Grafana sample: TTFT p95 of 2 s
	{"tpot.p50", 0.1, false, "bandwidth-bound-decode"},                 // METHOD §2: 100 ms a token
	{"canary.failed_share", 0.5, false, "engine-hang"},                 // a black-box probe fails
	{"gpu.memory_used_ratio", 0.98, false, "memory-fragmentation-oom"}, // memory nearly full
}

// thresholds judges by alerts on one number each. What fires first in the order of the table
// is the cause, what fires after it the next two.
type thresholds struct{}

func (thresholds) verdict(at time.Time, s rules.Signals) drill.Verdict {
	v := drill.Verdict{At: at, State: string(rules.Healthy)}
	for i := range alerts {
		a := &alerts[i]
		x, ok := s[alertRows[i]].Get()
		fires := x > a.limit
		if a.under {
			fires = x < a.limit
		}
		if ok && fires && !slices.Contains(v.Causes, a.cause) && len(v.Causes) < mostCauses {
			v.State, v.Causes = string(rules.Degraded), append(v.Causes, a.cause)
		}
	}
	return v
}

// mostCauses that a verdict names.
const mostCauses = 3

// alertRows are the alerts' signals as rows of the table.
var alertRows = func() (rows []int) {
	for _, a := range alerts {
		rows = append(rows, rowOf(a.signal))
	}
	return rows
}()
