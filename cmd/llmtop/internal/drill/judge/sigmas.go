package judge

import (
	"cmp"
	"math"
	"slices"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/rules"
)

// How far a signal must leave its own past, and for how long.
const (
	sigmaWarm   = 30 * time.Second
	sigmaLeast  = 4.0
	sigmaTicks  = 3
	sigmaKeep   = 600    // readings of the past that are held, the newest
	madOfSigma  = 1.4826 // σ of a normal distribution over its median absolute deviation
	sigmaOfStep = 0.25   // of the smallest change that matters: a constant has no σ
)

// departure is what it means when a signal rises, or falls, out of its past.
type departure struct {
	signal      string
	rise, falls string // causes, "" where that way means nothing
}

var departures = []departure{
	{"arrivals.rate", "traffic-burst", "load-drop"},
	{"queue.depth", "queue-backlog", ""},
	{"stage.queue.mean", "queue-backlog", ""},
	{"refused.share", "queue-backlog", ""},
	{"prompt.p50", "mix-shift", ""},
	{"prompt.p95", "giant-prompt", ""},
	{"output.p50", "mix-shift", ""},
	{"step.p99", "prefill-interference", ""},
	{"prefix.hit_ratio", "", "prefix-cache-miss"},
	{"prefill.per_token", "prefill-compute-bound", ""},
	{"kv.usage", "kv-limited-queueing", ""},
	{"kv.preemption_rate", "kv-preemption-storm", ""},
	{"engine.stalled", "engine-hang", ""},
	{"spec.acceptance", "", "spec-decode-not-paying"},
	{"instance.silent", "bad-instance", ""},
	{"instance.ttft_factor", "bad-instance", ""},
	{"instance.tpot_factor", "bad-instance", ""},
	{"instance.queue_factor", "routing-imbalance", ""},
	{"stage.receive.mean", "network-bandwidth", ""},
	{"stage.tokenize.mean", "tokenize-bound", ""},
	{"stage.assemble.mean", "multimodal-preprocess", ""},
	{"stage.detokenize.mean", "detokenize-bound", ""},
	{"stage.send.mean", "slow-reader", ""},
	{"host.cpu_busy", "cpu-oversubscribed", ""},
	{"host.cpu_pressure", "cpu-noisy-neighbour", ""},
	{"host.other_cpu", "cpu-noisy-neighbour", ""},
	{"host.steal", "cpu-noisy-neighbour", ""},
	{"host.memory_available", "", "host-memory-pressure"},
	{"host.memory_pressure", "host-memory-pressure", ""},
	{"host.swap_in", "host-memory-pressure", ""},
	{"host.io_pressure", "disk-stall", ""},
	{"host.disk_busy", "disk-stall", ""},
	{"host.disk_wait", "disk-stall", ""},
	{"host.net_share", "network-bandwidth", ""},
	{"host.retransmits", "network-bandwidth", ""},
	{"process.run_wait", "cpu-noisy-neighbour", ""},
	{"process.switches", "lock-contention", ""},
	{"process.blocked", "disk-stall", ""},
	{"process.throttled", "cpu-quota-throttled", ""},
	{"process.busiest_thread", "scheduler-cpu-bound", ""},
	{"process.gil_suspects", "scheduler-cpu-bound", ""},
	{"process.numa_remote", "numa-remote", ""},
	{"socket.stuck", "slow-reader", ""},
	{"socket.send_queue", "slow-reader", ""},
	{"profile.tokenize_share", "tokenize-bound", ""},
	{"profile.detokenize_share", "detokenize-bound", ""},
	{"profile.gc_share", "gc-pause", ""},
	{"profile.lock_share", "lock-contention", ""},
	{"gpu.limit_ratio", "", "power-cap"},
	{"gpu.throttle_power", "power-cap", ""},
	{"gpu.throttle_thermal", "thermal-throttle", ""},
	{"gpu.temperature", "thermal-throttle", ""},
	{"gpu.power_braked", "power-brake", ""},
	{"gpu.sm_clock_ratio", "", "clocks-stuck-low"},
	{"gpu.spread", "", "straggler-gpu"},
	{"gpu.lost", "gpu-hardware-fault", ""},
	{"gpu.xid", "gpu-hardware-fault", ""},
	{"gpu.ecc_uncorrected", "gpu-hardware-fault", ""},
	{"gpu.other_processes", "gpu-shared", ""},
	{"gpu.other_active", "gpu-shared", ""},
	{"gpu.pcie_link", "", "interconnect-slow"},
	{"gpu.nvlinks_down", "interconnect-slow", ""},
	{"gpu.nvlink_tx", "", "interconnect-slow"},
	{"gpu.sm_active", "", "scheduler-cpu-bound"},
	{"gpu.tensor_active", "", "kernel-fallback"},
	{"gpu.dram_active", "bandwidth-bound-decode", ""},
	{"log.jit_rate", "jit-warmup", ""},
	{"log.lora_rate", "lora-swap", ""},
	{"canary.dial", "network-bandwidth", ""},
	{"canary.ttft_excess", "proxy-buffering", ""},
	{"canary.buffered", "proxy-buffering", ""},
}

// sigmas holds each signal against its own past in the recording: the median of what it was
// and 1.4826 times the median of the distances from it. The signal that is furthest out, for
// three ticks beyond 4 σ, names the cause.
type sigmas struct {
	rows  []int
	pasts []trail
	out   []int // for how many ticks each has been out
	began time.Time
}

func newSigmas() *sigmas {
	s := &sigmas{pasts: make([]trail, len(departures)), out: make([]int, len(departures))}
	for _, d := range departures {
		s.rows = append(s.rows, rowOf(d.signal))
	}
	return s
}

// farOut is a signal beyond its sigmas.
type farOut struct {
	sigmas float64
	cause  string
}

func (s *sigmas) verdict(at time.Time, signals rules.Signals) drill.Verdict {
	if s.began.IsZero() {
		s.began = at
	}
	warm := at.Sub(s.began) >= sigmaWarm
	var far []farOut
	for i := range departures {
		x, ok := signals[s.rows[i]].Get()
		z, cause := 0.0, ""
		if ok && warm {
			z, cause = s.departed(i, x)
		}
		if s.out[i]++; cause == "" {
			s.out[i] = 0
		}
		if s.out[i] >= sigmaTicks {
			far = append(far, farOut{z, cause})
		}
		if ok {
			s.pasts[i].add(x)
		}
	}
	slices.SortStableFunc(far, func(a, b farOut) int { return cmp.Compare(b.sigmas, a.sigmas) })
	v := drill.Verdict{At: at, State: string(rules.Healthy)}
	for _, f := range far {
		if len(v.Causes) < mostCauses && !slices.Contains(v.Causes, f.cause) {
			v.State, v.Causes = string(rules.Degraded), append(v.Causes, f.cause)
		}
	}
	return v
}

// departed is by how many sigmas a reading is out of its past, and what that means; "" where
// it is not out, or means nothing.
func (s *sigmas) departed(i int, x float64) (z float64, cause string) {
	median, mad, ok := s.pasts[i].spread()
	if !ok {
		return 0, ""
	}
	sigma := max(madOfSigma*mad, sigmaOfStep*table[s.rows[i]].Step)
	if z = math.Abs(x-median) / sigma; z <= sigmaLeast {
		return 0, ""
	}
	if x > median {
		return z, departures[i].rise
	}
	return z, departures[i].falls
}

// trail are the newest readings of a signal, as they came and in order.
type trail struct {
	came, sorted []float64
}

func (t *trail) add(x float64) {
	if len(t.came) == sigmaKeep {
		i, _ := slices.BinarySearch(t.sorted, t.came[0])
		t.sorted = slices.Delete(t.sorted, i, i+1)
		t.came = append(t.came[:0], t.came[1:]...)
	}
	i, _ := slices.BinarySearch(t.sorted, x)
	t.sorted, t.came = slices.Insert(t.sorted, i, x), append(t.came, x)
}

// fewTrail is how many readings a spread needs.
const fewTrail = 10

// spread is the median and the median of the distances from it. The distances grow from the
// median outwards on both sides, so the one in the middle is found by walking from there.
func (t *trail) spread() (median, mad float64, ok bool) {
	n := len(t.sorted)
	if n < fewTrail {
		return 0, 0, false
	}
	low, high := n/2, n/2+1
	median = t.sorted[n/2]
	for range n/2 + 1 {
		switch {
		case high == n || low >= 0 && median-t.sorted[low] <= t.sorted[high]-median:
			mad = median - t.sorted[low]
			low--
		default:
			mad = t.sorted[high] - median
			high++
		}
	}
	return median, mad, true
}
