package rules

import (
	"math"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(second float64) time.Time { return t0.Add(time.Duration(second * float64(time.Second))) }

// finished is a request that ended: stages queue, prefill and decode, first token after the first two.
func finished(seq uint64, queue, prefill, decode float64, tokens int) *probes.Request {
	r := &probes.Request{Seq: seq, State: "finished", Finish: "stop", PromptTokens: 100, OutputTokens: tokens}
	r.Stages[probes.StageQueue], r.Stages[probes.StagePrefill], r.Stages[probes.StageDecode] = queue, prefill, decode
	r.TTFTSeconds, r.E2ESeconds = probes.Some(queue+prefill), probes.Some(queue+prefill+decode)
	return r
}

func queued(seq uint64, age float64) *probes.Request {
	r := &probes.Request{Seq: seq, State: "queue", PromptTokens: 100}
	r.Stages[probes.StageQueue] = age
	return r
}

// signalsOf computes the table after the last of some samples.
func signalsOf(samples ...*probes.Sample) Signals {
	w := probes.NewWindow(time.Hour, NewDecoder())
	var p *probes.Point
	for _, s := range samples {
		p = w.Push(s)
	}
	return compute(look(w, p))
}

func section(second float64, inFlight int, done ...*probes.Request) *probes.Requests {
	return &probes.Requests{At: at(second), Endpoint: "http://e", Finished: done, InFlight: inFlight}
}

func sample(second float64, r ...*probes.Requests) *probes.Sample {
	return &probes.Sample{At: at(second), Interval: time.Second, Requests: r}
}

func near(t *testing.T, s Signals, name string, want float64) {
	t.Helper()
	if got, ok := s.Get(name).Get(); !ok || math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %g (%v), want %g", name, got, ok, want)
	}
}

func absent(t *testing.T, s Signals, name string, why probes.Absence) {
	t.Helper()
	if o := s.Get(name); o.Seen() || o.Why() != why {
		t.Errorf("%s = %v (%s), want it missing: %s", name, o, o.Why(), why)
	}
}

func TestSignalsFromRecordsAreExact(t *testing.T) {
	var done []*probes.Request
	for i := range 20 {
		done = append(done, finished(uint64(i), 0.01*float64(i), 0.1, 1, 11))
	}
	s := signalsOf(sample(0, section(0, 3)), sample(5, section(5, 4, done[:10]...)), sample(10, section(10, 3, done[10:]...)))
	near(t, s, "ttft.p50", 0.19)
	near(t, s, "ttft.p95", 0.28)
	near(t, s, "ttft.p99", 0.29)
	near(t, s, "ttft.mean", 0.1+0.01*9.5)
	near(t, s, "tpot.p50", 0.1)
	near(t, s, "e2e.p50", 1.19)
	near(t, s, "requests.rate", 2)
	near(t, s, "arrivals.rate", 2)
	near(t, s, "prompt.p50", 100)
	near(t, s, "output.p50", 11)
	near(t, s, "stage.queue.mean", 0.095)
	near(t, s, "stage.prefill.mean", 0.1)
	near(t, s, "stage.decode.mean", 1)
	near(t, s, "stage.queue.share", 0.095/1.195)
	near(t, s, "prefill.per_token", 0.001)
	absent(t, s, "kv.usage", probes.NotSeen)
	absent(t, s, "stage.frontend.mean", probes.NotExposed)
	absent(t, s, "host.cpu_busy", probes.NotSeen)
	absent(t, s, "gpu.power", probes.NotSeen)
	absent(t, s, "no.such.signal", probes.NotExposed)
}

// TestWaitingRequestsCount: a request still waiting counts with its age once that
// exceeds the p95 of those that got their first token.
func TestWaitingRequestsCount(t *testing.T) {
	var done []*probes.Request
	for i := range 10 {
		done = append(done, finished(uint64(i), 0, 0.1, 1, 11))
	}
	now := section(10, 13, done...)
	now.Running = []*probes.Request{queued(50, 0.05), queued(51, 2), queued(52, 4)}
	s := signalsOf(sample(0, section(0, 0)), sample(10, now))
	near(t, s, "ttft.p95", 4)
	near(t, s, "ttft.p50", 0.1)
	near(t, s, "ttft.mean", (10*0.1+2+4)/12)
	near(t, s, "queue.depth", 3)
	near(t, s, "queue.oldest", 4)
	near(t, s, "stage.queue.mean", 6./12)
	near(t, s, "arrivals.rate", (10+13)/10.)
}

// TestOldestBeyondWhatIsTold: an engine tells of the oldest requests in flight; with none of
// them waiting those that do are younger than they, and how old is not known.
func TestOldestBeyondWhatIsTold(t *testing.T) {
	now := section(10, 300)
	now.Running = []*probes.Request{{Seq: 1, State: "decode"}, {Seq: 2, State: "prefill"}}
	absent(t, signalsOf(sample(0, section(0, 0)), sample(10, now)), "queue.oldest", probes.NotSeen)
	now = section(10, 2)
	now.Running = []*probes.Request{{Seq: 1, State: "decode"}, {Seq: 2, State: "prefill"}}
	near(t, signalsOf(sample(0, section(0, 0)), sample(10, now)), "queue.oldest", 0)
}

// TestRepeatedSectionsCountOnce: a slow probe's section is carried in several
// samples; one that is too old stands for nothing.
func TestRepeatedSectionsCountOnce(t *testing.T) {
	first, old := section(0, 0), section(2, 0, finished(1, 0, 0.1, 1, 11))
	s := signalsOf(sample(0, first), sample(2, old), sample(3, old), sample(4, old))
	near(t, s, "requests.rate", 0.25)
	s = signalsOf(sample(0, first), sample(2, old), sample(30, old))
	absent(t, s, "ttft.p50", probes.NotSeen)
}

// TestFewObservationsLookFurtherBack: the wide span is used below five.
func TestFewObservationsLookFurtherBack(t *testing.T) {
	s := signalsOf(sample(0, section(0, 0)), sample(5, section(5, 0, finished(1, 0, 0.3, 1, 11), finished(2, 0, 0.3, 1, 11), finished(3, 0, 0.3, 1, 11))),
		sample(25, section(25, 0, finished(4, 0, 0.1, 1, 11))))
	near(t, s, "ttft.p50", 0.3)
}

// TestLongDecodesAreOldNews: a request whose first token is long past says nothing of TTFT now.
func TestLongDecodesAreOldNews(t *testing.T) {
	r := section(40, 0, finished(1, 8, 0.1, 35, 100), finished(2, 8, 0.1, 35, 100))
	for i := range 5 {
		r.Finished = append(r.Finished, finished(uint64(i+3), 0, 0.1, 1, 11))
	}
	s := signalsOf(sample(30, section(30, 0)), sample(40, r))
	near(t, s, "ttft.p99", 0.1)
	near(t, s, "e2e.p99", 43.1)
}

func engineAt(second float64, f func(e *probes.Engine)) *probes.Point {
	e := &probes.Engine{At: at(second), Endpoint: "http://e", Dialect: "vllm"}
	f(e)
	return &probes.Point{Sample: &probes.Sample{At: at(second), Interval: time.Second}, Engines: []*probes.Engine{e}}
}

// fromPoints computes the table over ready-made points.
func fromPoints(points ...*probes.Point) Signals {
	i := 0
	w := probes.NewWindow(time.Hour, func(*probes.Sample) *probes.Point { i++; return points[i-1] })
	var p *probes.Point
	for range points {
		p = w.Push(points[i].Sample)
	}
	return compute(look(w, p))
}

func histogramOf(values ...float64) *probes.Histogram {
	h := &probes.Histogram{Bounds: []float64{0.1, 0.5, 1, 5}, Cumulative: make([]float64, 4), Count: float64(len(values))}
	for _, v := range values {
		h.Sum += v
		for i, b := range h.Bounds {
			if v <= b {
				h.Cumulative[i]++
			}
		}
	}
	return h
}

// TestFrontendBySums: what TTFT holds beside queue and prefill is the frontend's.
func TestFrontendBySums(t *testing.T) {
	fill := func(n int) func(e *probes.Engine) {
		return func(e *probes.Engine) {
			var ttft, queue, prefill, decode, e2e []float64
			for range n {
				ttft, queue, prefill, decode, e2e = append(ttft, 1), append(queue, 0.6), append(prefill, 0.3), append(decode, 2), append(e2e, 3)
			}
			e.TTFT, e.Queue, e.Prefill, e.Decode, e.E2E = histogramOf(ttft...), histogramOf(queue...), histogramOf(prefill...), histogramOf(decode...), histogramOf(e2e...)
		}
	}
	s := fromPoints(engineAt(0, fill(3)), engineAt(10, fill(13)))
	near(t, s, "ttft.mean", 1)
	near(t, s, "stage.queue.mean", 0.6)
	near(t, s, "stage.prefill.mean", 0.3)
	near(t, s, "stage.frontend.mean", 0.1)
	near(t, s, "stage.decode.mean", 2)
	absent(t, s, "stage.tokenize.mean", probes.NotExposed)
}

// TestQueueIsSeenBeforeItIsTold: queue times are observed at the end of a request;
// while a queue stands the waiting gauge speaks.
func TestQueueIsSeenBeforeItIsTold(t *testing.T) {
	fill := func(n int, waiting float64) func(e *probes.Engine) {
		return func(e *probes.Engine) {
			var ttft []float64
			for range n {
				ttft = append(ttft, 4)
			}
			e.TTFT, e.Queue, e.Prefill = histogramOf(ttft...), histogramOf(), histogramOf()
			e.Waiting, e.Running = probes.Some(waiting), probes.Some(8.0)
		}
	}
	s := fromPoints(engineAt(0, fill(0, 40)), engineAt(10, fill(10, 40)))
	near(t, s, "stage.queue.mean", 4)
	near(t, s, "stage.frontend.mean", 0)
}

func TestCountersResetsAndStaleGauges(t *testing.T) {
	set := func(out, waiting float64) func(e *probes.Engine) {
		return func(e *probes.Engine) {
			e.GenerationTokens, e.PromptTokens, e.Finished = probes.Some(out), probes.Some(0.0), probes.Some(0.0)
			e.Running, e.Waiting, e.KVUsage = probes.Some(3.0), probes.Some(waiting), probes.Some(0.4)
		}
	}
	s := fromPoints(engineAt(0, set(1000, 0)), engineAt(5, set(1500, 0)), engineAt(10, set(100, 0)))
	near(t, s, "tokens.out.rate", 60)
	var dead, stuck []*probes.Point
	for i := range 10 {
		dead, stuck = append(dead, engineAt(float64(i), set(1000, 0))), append(stuck, engineAt(float64(i), set(1000, 5)))
	}
	s = fromPoints(dead...)
	absent(t, s, "batch.running", probes.Stale)
	absent(t, s, "kv.usage", probes.Stale)
	s = fromPoints(stuck...)
	near(t, s, "batch.running", 3)
	near(t, s, "queue.depth", 5)
	old := engineAt(20, set(2000, 0))
	old.Engines[0].At = at(5)
	s = fromPoints(engineAt(5, set(1000, 0)), old)
	absent(t, s, "batch.running", probes.Stale)
}

func TestSeveralEnginesAddUp(t *testing.T) {
	two := func(second, out float64) *probes.Point {
		p := engineAt(second, func(e *probes.Engine) {
			e.GenerationTokens, e.Waiting, e.KVUsage = probes.Some(out), probes.Some(2.0), probes.Some(0.4)
		})
		p.Engines = append(p.Engines, &probes.Engine{At: at(second), Endpoint: "http://f", GenerationTokens: probes.Some(2 * out), Waiting: probes.Some(1.0), KVUsage: probes.Some(0.9)})
		return p
	}
	s := fromPoints(two(0, 0), two(10, 100))
	near(t, s, "tokens.out.rate", 30)
	near(t, s, "queue.depth", 3)
	near(t, s, "kv.usage", 0.9)
}

func TestHostAndProcessSignals(t *testing.T) {
	mk := func(second, busy, engine, wait, pressure float64) *probes.Sample {
		return &probes.Sample{At: at(second), Interval: time.Second,
			Host:    &probes.Host{At: at(second), CPUs: 4, CPUBusySecondsTotal: probes.Some(busy), CPUPressure: probes.Pressure{SomeSecondsTotal: probes.Some(pressure)}},
			Process: &probes.Process{At: at(second), CPUSecondsTotal: probes.Some(engine), RunWaitSecondsTotal: probes.Some(wait)}}
	}
	s := signalsOf(mk(0, 100, 10, 1, 5), mk(10, 130, 20, 11, 9))
	near(t, s, "host.cpu_busy", 0.75)
	near(t, s, "process.cpu_cores", 1)
	near(t, s, "host.other_cpu", 2)
	near(t, s, "host.other_share", 0.5)
	near(t, s, "process.run_wait", 0.5)
	near(t, s, "host.cpu_pressure", 0.4)
	absent(t, s, "process.throttled", probes.NotSeen)
}

func TestGPUSignalsAreOfTheWorstDevice(t *testing.T) {
	mk := func(second float64, bits uint64, lost string) *probes.Sample {
		d := func(uuid string, power, clock float64, bits uint64, err string) probes.GPUDevice {
			return probes.GPUDevice{At: at(second), UUID: uuid, Err: err, PowerWatts: probes.Some(power), PowerLimitWatts: probes.Some(700.0), SMClockHertz: probes.Some(clock),
				SMClockMaxHertz: probes.Some(2e9), ThrottleBits: probes.Some(bits), DRAMActiveRatio: probes.None[float64](probes.Unsupported)}
		}
		return &probes.Sample{At: at(second), Interval: time.Second, GPU: &probes.GPU{At: at(second),
			Devices: []probes.GPUDevice{d("a", 350, 2e9, 0, ""), d("b", 700, 1e9, bits, lost), d("c", 60, 0.3e9, probes.ThrottleIdle, "")}}}
	}
	s := signalsOf(mk(0, 4, ""), mk(1, 0x24, ""), mk(2, 4, ""), mk(3, 0, ""))
	near(t, s, "gpu.power", 700)
	near(t, s, "gpu.power_ratio", 1)
	near(t, s, "gpu.sm_clock_ratio", 0.5)
	near(t, s, "gpu.throttle_power", 0.75)
	near(t, s, "gpu.throttle_thermal", 0.25)
	absent(t, s, "gpu.dram_active", probes.Unsupported)
	s = signalsOf(mk(0, 4, "GPU is lost"))
	near(t, s, "gpu.power", 350)
}

func TestTableIsDocumented(t *testing.T) {
	seen, exports := map[string]bool{}, map[string]bool{}
	for _, r := range Table() {
		if r.Title == "" || r.Unit == "" || r.Formula == "" || r.Source == "" || r.Needs == "" || r.Kind == "" || r.Step <= 0 || r.at == nil {
			t.Errorf("%s: incomplete row %+v", r.Name, r)
		}
		if seen[r.Name] || exports[r.Export] {
			t.Errorf("%s (%s) appears twice", r.Name, r.Export)
		}
		if !strings.HasPrefix(r.Export, "llmtop_") {
			t.Errorf("%s exports as %s", r.Name, r.Export)
		}
		seen[r.Name], exports[r.Export] = true, true
	}
	for _, name := range []string{"ttft.p50", "ttft.p95", "ttft.p99", "ttft.mean", "tpot.p95", "e2e.p99", "step.p50", "step.p99", "requests.rate", "arrivals.rate", "tokens.out.rate",
		"tokens.in.rate", "prompt.p50", "prompt.p95", "output.p50", "batch.running", "queue.depth", "queue.slope", "queue.oldest", "kv.usage", "kv.preemption_rate", "prefix.hit_ratio",
		"errors.rate", "stage.queue.mean", "stage.send.share", "host.cpu_busy", "host.cpu_pressure", "host.other_cpu", "host.memory_available", "host.memory_pressure", "process.cpu_cores",
		"process.run_wait", "process.rss", "process.throttled", "profile.tokenize_share", "profile.model_share", "profile.gc_share", "gpu.kernel_active", "gpu.power_ratio", "gpu.power",
		"gpu.sm_clock_ratio", "gpu.temperature", "gpu.throttle_power", "gpu.throttle_thermal", "gpu.dram_active", "gpu.memory_used_ratio", "self.cpu", "self.rss",
		"gpu.count", "gpu.sm_active", "gpu.sm_occupancy", "gpu.tensor_active", "gpu.memory_active", "gpu.pcie_tx", "gpu.pcie_rx", "gpu.nvlink_tx", "gpu.nvlink_rx", "gpu.energy_power",
		"gpu.memory_temperature", "gpu.temperature_margin", "gpu.throttle_power_time", "gpu.throttle_thermal_time", "gpu.throttle_brake_time", "gpu.throttle_sync_time", "gpu.power_capped",
		"gpu.heat_slowed", "gpu.power_braked", "gpu.lost", "gpu.stale", "gpu.xid", "gpu.xid_hardware", "gpu.ecc_uncorrected", "gpu.ecc_corrected", "gpu.remap_pending", "gpu.remap_failed",
		"gpu.recovery_wanted", "gpu.pcie_link", "gpu.nvlinks_down", "gpu.spread", "gpu.other_processes", "gpu.other_memory", "gpu.other_active",
		"host.cpu_full_cores", "host.busiest_core", "host.steal", "host.iowait", "host.runnable", "host.blocked", "host.io_pressure", "host.io_stalled", "host.disk_busy", "host.disk_wait",
		"host.disk_free", "host.swap_in", "host.swap_out", "host.oom_kills", "host.net_rx", "host.net_tx", "host.net_share", "host.net_drops", "host.retransmits", "host.listen_overflows",
		"process.switches", "process.blocked", "process.major_faults", "process.disk_read", "process.descriptors", "process.throttled_time", "process.cpu_limit", "process.memory_of_limit",
		"process.oom_kills", "process.cpus_allowed", "process.allowed_busy", "process.allowed_taken", "process.numa_remote", "process.busiest_thread", "process.gil_suspects", "neighbour.cpu", "neighbour.count",
		"socket.connections", "socket.send_queue", "socket.recv_queue", "socket.stuck", "socket.backlog"} {
		if !seen[name] {
			t.Errorf("no signal %s", name)
		}
	}
	if got, _ := Lookup("ttft.p95"); got.Export != `llmtop_ttft_seconds{quantile="0.95"}` {
		t.Errorf("ttft.p95 exports as %s", got.Export)
	}
}
