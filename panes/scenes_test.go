package panes

import (
	"math"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// noon is when the scenes happen.
var noon = time.Date(2031, 4, 1, 12, 0, 0, 0, time.UTC)

const history = 120 // ticks in a scene

type values map[string]float64

// signals places values by name in the table's order; a name that is not in the
// table panics, so that a scene cannot show a number nobody computes.
func signals(named values) rules.Signals {
	table := rules.Table()
	out := make(rules.Signals, len(table))
	placed := 0
	for i, s := range table {
		if v, ok := named[s.Name]; ok {
			out[i] = probes.Some(v)
			placed++
		}
	}
	if placed != len(named) {
		for name := range named {
			if _, ok := rules.Lookup(name); !ok {
				panic("no signal " + name)
			}
		}
	}
	return out
}

// calm are the numbers of a healthy engine; wave moves them a little with the tick.
func calm(i int) values {
	wave := 1 + 0.15*math.Sin(float64(i)/5)
	return values{
		"ttft.p50": 0.031 * wave, "ttft.p95": 0.058 * wave, "ttft.p99": 0.083 * wave,
		"tpot.p50": 0.0104, "tpot.p95": 0.0121 * wave, "tpot.p99": 0.0160,
		"e2e.p50": 0.62 * wave, "e2e.p95": 1.24 * wave, "e2e.p99": 1.61,
		"requests.rate": 3.1 * wave, "arrivals.rate": 3.1 * wave, "tokens.out.rate": 186 * wave, "tokens.in.rate": 412 * wave,
		"prompt.p50": 118, "prompt.p95": 342, "output.p50": 61, "errors.rate": 0,
		"batch.running": 2, "queue.depth": 0, "queue.slope": 0, "queue.oldest": 0,
		"kv.usage": 0.18 * wave, "kv.preemption_rate": 0, "prefix.hit_ratio": 0.31,
		"stage.receive.mean": 0.0004, "stage.parse.mean": 0.0002, "stage.auth.mean": 0.0001, "stage.tokenize.mean": 0.0021,
		"stage.assemble.mean": 0.0003, "stage.queue.mean": 0.0042, "stage.batch.mean": 0.0011, "stage.prefill.mean": 0.0247,
		"stage.decode.mean": 0.59, "stage.detokenize.mean": 0.001, "stage.send.mean": 0.002,
		"host.cpu_busy": 0.43 * wave, "host.cpu_pressure": 0.02, "host.other_cpu": 0.31, "host.memory_available": 12.4 * (1 << 30), "host.memory_pressure": 0,
		"process.cpu_cores": 1.4 * wave, "process.run_wait": 0.03, "process.rss": 212 * (1 << 20), "process.throttled": 0,
		"self.cpu": 0.008, "self.rss": 24 * (1 << 20),
	}
}

// busy are the numbers n ticks into a queue backlog.
func busy(i, n int) values {
	v := calm(i)
	grow := math.Min(1, float64(n)/14)
	more := values{
		"ttft.p50": 0.031 + 1.1*grow, "ttft.p95": 0.058 + 2.35*grow, "ttft.p99": 0.083 + 3.0*grow,
		"e2e.p50": 0.62 + 1.1*grow, "e2e.p95": 1.24 + 2.4*grow, "e2e.p99": 1.61 + 3.1*grow,
		"arrivals.rate": 7.9, "requests.rate": 4.4, "tokens.out.rate": 264, "tokens.in.rate": 560,
		"batch.running": 8, "queue.depth": 41 * grow, "queue.slope": 2.9, "queue.oldest": 9.1 * grow, "kv.usage": 0.43,
		"stage.queue.mean": 0.0042 + 1.05*grow, "stage.prefill.mean": 0.061, "host.cpu_busy": 0.97, "host.cpu_pressure": 0.14,
		"process.cpu_cores": 1.9, "process.run_wait": 0.12,
		"gpu.kernel_active": 0.97, "gpu.power_ratio": 0.59,
	}
	for name, value := range more {
		v[name] = value
	}
	return v
}

// sample is what the probes saw at tick i, all of it fresh.
func sample(i int) *probes.Sample {
	at := noon.Add(time.Duration(i) * time.Second)
	recent := at.Add(-40 * time.Millisecond)
	ok := func(name string, took, every float64) probes.ProbeStatus {
		return probes.ProbeStatus{Name: name, At: recent, LatencySeconds: probes.Some(took), EverySeconds: every}
	}
	return &probes.Sample{
		Seq: uint64(i + 1), At: at, Mono: time.Duration(i) * time.Second, Interval: time.Second,
		Scrapes: []*probes.Scrape{{At: recent, Endpoint: "http://127.0.0.1:8000"}},
		Host:    &probes.Host{At: recent, CPUs: 2},
		Process: &probes.Process{At: recent, PID: 4711, Name: "llmtop"},
		GPU:     &probes.GPU{At: recent, Note: "no NVML device: the NVIDIA driver's library cannot be loaded"},
		Probes: []probes.ProbeStatus{
			ok("metrics", 0.0031, 1), ok("requests", 0.0012, 1), ok("host", 0.0004, 1), ok("process", 0.0003, 1), ok("nvml", 0.0002, 1),
		},
	}
}

func tickOf(s *probes.Sample, v values, d rules.Diagnosis) *rules.Tick {
	d.Time = s.At
	return &rules.Tick{Point: &probes.Point{Sample: s}, Signals: signals(v), Baseline: signals(normals), Diagnosis: d}
}

var normals = values{"ttft.p95": 0.058, "tpot.p95": 0.0121, "e2e.p95": 1.24}

const baselineText = "window 11:59:20–12:01:46 (healthy part, 318 requests)"

func healthy() rules.Diagnosis {
	return rules.Diagnosis{State: rules.Healthy, Baseline: baselineText}
}

// backlog is the diagnosis of a queue backlog with onset at tick onset.
func backlog(onset int) rules.Diagnosis {
	since := noon.Add(time.Duration(onset) * time.Second)
	normal := 3.1
	return rules.Diagnosis{
		State: rules.Degraded, Baseline: baselineText,
		Symptoms: []rules.Symptom{
			{Signal: "ttft.p95", From: 0.058, To: 2.408, Unit: "s", Since: since},
			{Signal: "e2e.p95", From: 1.24, To: 3.64, Unit: "s", Since: since.Add(2 * time.Second)},
		},
		Attribution: []rules.Attribution{
			{Of: "ttft", Stage: "queue", DeltaSeconds: 1.05, Share: 0.94}, {Of: "ttft", Stage: "prefill", DeltaSeconds: 0.036, Share: 0.03},
			{Of: "ttft", Stage: "other", DeltaSeconds: 0.03, Share: 0.03},
		},
		Causes: []rules.Cause{{
			ID: "queue-backlog", Title: "Requests arrive faster than they are served", Score: 0.93, Confidence: "high", Since: since,
			Evidence: []rules.Evidence{
				{Clause: `added("ttft", "queue") >= 60%`, Says: "queue share of the added TTFT 94 % (≥ 60 %)", Kind: "stage", Holds: true},
				{Clause: `rising(queue.depth, "10s")`, Says: "queue depth rising over 10 s, now 41", Kind: "engine", Holds: true},
				{Clause: "arrivals.rate > requests.rate", Says: "more arrives than is answered", Kind: "load", Holds: true,
					Values: []rules.Value{{Signal: "arrivals.rate", Value: 7.9, Baseline: &normal, Unit: "1/s"}, {Signal: "requests.rate", Value: 4.4, Unit: "1/s"}}},
			},
			Against: []rules.Evidence{
				{Clause: "kv.usage >= 95%", Says: "KV cache full ruled out: KV cache 43 % (< 95 %)", Kind: "engine"},
				{Clause: "kv.preemption_rate > 0.1", Says: "preemption storm ruled out: preemptions 0/s (≤ 0.1/s)", Kind: "engine"},
				{Clause: "up(prompt.p50)", Says: "longer prompts not ruled out: prompt p50 up: 62 → 118 tokens", Kind: "load", Holds: true},
			},
			Unseen:  []string{"gpu.dram_active: unsupported by the device"},
			Effects: []string{"traffic-burst"},
			Next: []rules.Next{
				{Step: "Answer 429 with Retry-After beyond a queue of 2–3 batches", Price: "some requests are refused", CostClass: 1},
				{Step: "Raise the cap on running sequences while TPOT stays in its target", Command: "llmtop serve --max-num-seqs 16", Price: "TPOT rises", CostClass: 1},
				{Step: "Add a replica", Price: "its hardware", CostClass: 3},
			},
		}},
		Risks: []rules.Finding{{ID: "cpu-saturated", Text: "the host's cores are 97 % busy"}},
		Notes: []rules.Finding{{ID: "cold-cache", Text: "the engine is 4 min old: caches are still filling"}},
	}
}

func devices(at time.Time) *probes.GPU {
	device := func(i int, busy float64, bits uint64) probes.GPUDevice {
		return probes.GPUDevice{
			At: at, Index: i, Name: "NVIDIA H100 80GB HBM3", KernelActiveRatio: probes.Some(busy), DRAMActiveRatio: probes.Some(0.62),
			MemoryUsedBytes: probes.Some(61.0 * (1 << 30)), MemoryTotalBytes: probes.Some(80.0 * (1 << 30)),
			PowerWatts: probes.Some(412.0), PowerLimitWatts: probes.Some(700.0),
			SMClockHertz: probes.Some(1.755e9), SMClockMaxHertz: probes.Some(1.98e9), TemperatureCelsius: probes.Some(64.0), ThrottleBits: probes.Some(bits),
		}
	}
	g := &probes.GPU{At: at, Driver: "570.1", Devices: []probes.GPUDevice{device(0, 0.97, 0), device(1, 0.95, probes.ThrottlePowerCap)}}
	g.Devices[1].DRAMActiveRatio = probes.None[float64](probes.Unsupported)
	return g
}

func calmTicks() []*rules.Tick {
	var ticks []*rules.Tick
	for i := range history {
		ticks = append(ticks, tickOf(sample(i), calm(i), healthy()))
	}
	return ticks
}

const title = "vllm · oncall-main · http://127.0.0.1:8000"

func normalFrame() Frame { return Frame{Ticks: calmTicks(), Title: title} }

func emptyFrame() Frame {
	return Frame{Title: "llmtop", Waiting: "no engine found yet; trying again every second\nTried on this host:\n  http://127.0.0.1:8000/metrics  connection refused\n  http://127.0.0.1:8080/metrics  404, not metrics\nName one: llmtop http://HOST:PORT"}
}

// staleFrame: the engine fell silent 12 s ago, the GPU probe hangs.
func staleFrame() Frame {
	ticks := calmTicks()
	silent := ticks[history-13].Point
	for i := history - 12; i < history; i++ {
		s := sample(i)
		s.Scrapes = silent.Scrapes
		s.Probes[0].At, s.Probes[0].Err = silent.Probes[0].At, "connection refused"
		s.Probes[4].At, s.Probes[4].PendingSeconds = silent.Probes[4].At, probes.Some(float64(i-history+13))
		v := values{}
		for name, value := range calm(i) {
			if row, _ := rules.Lookup(name); row.Kind == "host" || row.Kind == "process" || row.Kind == "self" {
				v[name] = value
			}
		}
		d := rules.Diagnosis{State: rules.Unmeasurable, Reason: "the engine has not answered for 12 s: connection refused"}
		ticks[i] = tickOf(s, v, d)
	}
	return Frame{Ticks: ticks, Title: title}
}

func firingFrame() Frame {
	ticks := calmTicks()
	const onset = history - 14
	for i := onset; i < history; i++ {
		s := sample(i)
		s.GPU = devices(s.GPU.At)
		ticks[i] = tickOf(s, busy(i, i-onset+1), backlog(onset))
	}
	last := ticks[history-1].Point
	last.Facts = &probes.ProfileFacts{At: last.At.Add(-20 * time.Second), Seconds: 5, Samples: 900,
		Share: map[string]float64{"model": 0.81, "tokenize": 0.06, "gc": 0.05, "send": 0.03, "other": 0.05},
		Top:   []probes.FrameShare{{Function: "model.(*Model).matmul", Flat: 0.61, Stage: "model"}, {Function: "runtime.scanobject", Flat: 0.04, Stage: "gc"}}}
	last.Requests = []*probes.Requests{{At: last.Scrapes[0].At, InFlight: 49, Running: []*probes.Request{
		{ID: "9f31c0", State: "queue", Arrived: last.At.Add(-9100 * time.Millisecond), PromptTokens: 402},
		{ID: "77ab12", State: "decode", Arrived: last.At.Add(-4 * time.Second), PromptTokens: 96, CachedTokens: 64, OutputTokens: 31},
	}}}
	last.Events = []probes.Event{{At: last.At, Kind: "mark", Text: "deploy of 4.2 began"}}
	return Frame{Ticks: ticks, Title: title, Recording: "incident.llmrec"}
}

// replayFrame is the same incident from a recording, with a hole of 30 s before its last ten ticks.
func replayFrame() Frame {
	f := firingFrame()
	for _, t := range f.Ticks[:history-10] {
		t.Point.At = t.Point.At.Add(-30 * time.Second)
	}
	at := f.Ticks[history-1].Point.At
	f.Mode, f.Recording = Replay, ""
	f.Position = Position{Start: at.Add(-4 * time.Minute), End: at.Add(6 * time.Minute), At: at, Speed: 2, Playing: true}
	return f
}
