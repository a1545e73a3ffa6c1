package ruletest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"time"

	"llmtop/probes"
)

// usual is what a series is when the script does not set it: an engine that is well.
var usual = map[string]float64{
	"requests.rate": 5, "prompt.tokens": 100, "cached.tokens": 0, "output.tokens": 32, "tpot": 0.02,
	"prompt.long": 0, "prompt.long_share": 0,
	"queue.waiting": 0, "queue.age": 0, "batch.running": 3, "kv.usage": 0.3, "kv.preemptions": 0, "requests.rejected": 0,
	"step.slow": 0, "step.slow_share": 0, "engine.up": 1,
	"stage.receive": 0.0003, "stage.parse": 0.0002, "stage.auth": 0.00005, "stage.tokenize": 0.001, "stage.assemble": 0.0002,
	"stage.queue": 0.003, "stage.batch": 0.001, "stage.prefill": 0.03, "stage.detokenize": 0.0003, "stage.send": 0.0005,
	"host.cpus": 8, "host.other_cpu": 0.5, "host.pressure": 0.02, "process.cpu_cores": 1, "process.run_wait": 0.02, "process.throttled": 0,
	"gpu.power": 300, "gpu.power_limit": 700, "gpu.power_default": 700, "gpu.sm_clock": 1980e6, "gpu.sm_clock_max": 1980e6,
	"gpu.temperature": 55, "gpu.bits": 0, "gpu.dram_active": 0.3, "gpu.kernel_active": 0.8,
	"profile.tokenize": 0, "profile.model": 0,

	"host.io_pressure": 0.01, "host.disk_busy": 0.1, "host.disk_wait": 0.001, "host.memory_pressure": 0, "host.memory_available": 8e9, "host.swap_in": 0,
	"process.throttled_time": 0, "process.cpu_limit": 4, "process.blocked": 0, "process.cpus_allowed": 2, "process.allowed_busy": 0.5, "process.major_faults": 0, "process.switches": 50, "process.busiest_thread": 0.5,
	"process.numa_remote": 0, "gpu.sm_active": 0.8, "gpu.power_time": 0, "gpu.thermal_time": 0, "gpu.brake_time": 0, "gpu.lost": 0, "gpu.xid": 0,
	"gpu.ecc_uncorrected": 0, "gpu.remap_pending": 0, "gpu.pcie_generation": 5, "gpu.pcie_width": 16, "gpu.other_memory": 0, "gpu.other_active": 0,
	"socket.stuck": 0, "neighbour.cpu": 0,
}

func isSeries(name string) bool { _, ok := usual[name]; return ok }

// world turns a script into samples.
type world struct {
	*script
	start    time.Time
	step     int
	rng      *rand.Rand
	seq      uint64
	owed     float64 // requests not yet finished of the rate
	page     *page
	cpu      counters
	totals   map[string]float64 // counters of what only some scripts speak of
	xid      float64            // the last one
	profiled *probes.Profile
}

// counters are the cumulative readings of host and process.
type counters struct{ busy, pressure, engine, wait, periods, throttled float64 }

func newWorld(s *script) *world {
	w := &world{script: s, start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), rng: rand.New(rand.NewPCG(7, 11)), page: newPage(), totals: map[string]float64{}}
	for range s.before {
		w.page.observe(w.request(w.start, func(name string) float64 {
			if v, ok := s.past[name]; ok {
				return v
			}
			return usual[name]
		}), usual["tpot"], 0, 0)
	}
	return w
}

// get is a series at the current step; ok is false where it is missing.
func (w *world) get(name string) (float64, bool) {
	values := w.series[name]
	if len(values) == 0 {
		return usual[name], true
	}
	v := values[min(w.step, len(values)-1)]
	return v.v, !v.missing
}

func (w *world) at(name string) float64 { v, _ := w.get(name); return v }

// has reports whether the script speaks of any series of a family.
func (w *world) has(prefix string) bool {
	for name := range w.series {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// next makes the sample of the current step and goes on.
func (w *world) next() *probes.Sample {
	seconds := w.every.Seconds()
	at := w.start.Add(time.Duration(w.step) * w.every)
	s := &probes.Sample{Seq: uint64(w.step + 1), At: at, Mono: time.Duration(w.step) * w.every, Interval: w.every}
	if w.at("engine.up") > 0 {
		w.engine(s, seconds)
	}
	if w.has("host.") {
		w.host(s, seconds)
	}
	if w.has("process.") || w.has("host.") {
		w.process(s, seconds)
	}
	if w.has("gpu.") {
		w.gpu(s)
	}
	if w.has("profile.") {
		w.profile(s)
	}
	w.surroundings(s, seconds)
	w.step++
	return s
}

func (w *world) engine(s *probes.Sample, seconds float64) {
	section := &probes.Requests{At: s.At, Endpoint: "http://engine"}
	w.owed += w.at("requests.rate") * seconds
	for ; w.owed >= 1; w.owed-- {
		r := w.request(s.At, w.at)
		section.Finished = append(section.Finished, r)
		w.page.observe(r, w.at("tpot"), w.at("step.slow"), w.at("step.slow_share"))
	}
	for range int(w.at("requests.rejected") * seconds) {
		w.seq++
		section.Finished = append(section.Finished, &probes.Request{Seq: w.seq, ID: fmt.Sprint(w.seq), State: "finished", Finish: "rejected", Arrived: s.At})
	}
	waiting := int(w.at("queue.waiting"))
	for i := range waiting {
		section.Running = append(section.Running, w.waiting(s.At, float64(i+1)/float64(waiting)))
	}
	section.InFlight = waiting + int(w.at("batch.running"))
	if w.requests {
		s.Requests = append(s.Requests, section)
	}
	w.page.preempted += w.at("kv.preemptions") * seconds
	if w.metrics {
		s.Scrapes = append(s.Scrapes, w.page.scrape(s.At, w))
	}
}

// spread is a factor around 1 for one request.
func (w *world) spread() float64 { return 1 + w.jitter*(2*w.rng.Float64()-1) }

// request makes one that ended at that moment.
func (w *world) request(at time.Time, get func(string) float64) *probes.Request {
	w.seq++
	prompt := get("prompt.tokens")
	if share := get("prompt.long_share"); share > 0 && w.seq%uint64(math.Max(1, math.Round(1/share))) == 0 {
		prompt = get("prompt.long")
	}
	r := &probes.Request{Seq: w.seq, ID: fmt.Sprint(w.seq), State: "finished", Finish: "stop", Stream: true,
		PromptTokens: max(1, int(prompt*w.spread())), CachedTokens: int(get("cached.tokens")), OutputTokens: max(2, int(get("output.tokens")*w.spread()))}
	ttft, e2e := 0.0, 0.0
	for st := range probes.NumStages {
		switch st {
		case probes.StageDecode:
			r.Stages[st] = get("tpot") * w.spread() * float64(r.OutputTokens-1)
		case probes.StagePrefill: // by length: twice the prompt, twice the time
			r.Stages[st] = get("stage.prefill") * w.spread() * float64(r.PromptTokens) / get("prompt.tokens")
		default:
			r.Stages[st] = get("stage."+probes.StageNames[st]) * w.spread()
		}
		e2e += r.Stages[st]
		if st <= probes.StagePrefill {
			ttft += r.Stages[st]
		}
	}
	r.TTFTSeconds, r.E2ESeconds = probes.Some(ttft), probes.Some(e2e)
	r.Arrived = at.Add(-time.Duration(e2e * 1e9))
	return r
}

// waiting makes a request in the queue; old is its age as a share of the oldest's.
func (w *world) waiting(at time.Time, old float64) *probes.Request {
	w.seq++
	r := &probes.Request{Seq: w.seq, ID: fmt.Sprint(w.seq), State: "queue", PromptTokens: int(w.at("prompt.tokens") * w.spread())}
	r.Stages[probes.StageQueue] = w.at("queue.age") * old
	r.Arrived = at.Add(-time.Duration(r.Stages[probes.StageQueue] * 1e9))
	return r
}

func (w *world) host(s *probes.Sample, seconds float64) {
	w.cpu.busy += (w.at("host.other_cpu") + w.at("process.cpu_cores")) * seconds
	w.cpu.pressure += w.at("host.pressure") * seconds
	s.Host = &probes.Host{At: s.At, CPUs: int(w.at("host.cpus")), CPUBusySecondsTotal: probes.Some(w.cpu.busy),
		CPUStealSecondsTotal: probes.Some(0.0), MemoryAvailableBytes: probes.Some(8e9), CPUPressure: probes.Pressure{SomeSecondsTotal: probes.Some(w.cpu.pressure)}}
}

func (w *world) process(s *probes.Sample, seconds float64) {
	run := w.at("process.cpu_cores") * seconds
	w.cpu.engine += run
	if share := w.at("process.run_wait"); share < 1 {
		w.cpu.wait += run * share / (1 - share)
	}
	w.cpu.periods += 10 * seconds
	w.cpu.throttled += 10 * seconds * w.at("process.throttled")
	s.Process = &probes.Process{At: s.At, PID: 4242, Name: "engine", CPUSecondsTotal: probes.Some(w.cpu.engine), RunWaitSecondsTotal: probes.Some(w.cpu.wait),
		CgroupPeriodsTotal: probes.Some(w.cpu.periods), CgroupThrottledTotal: probes.Some(w.cpu.throttled)}
}

func (w *world) gpu(s *probes.Sample) {
	opt := func(name string) probes.Opt[float64] {
		v, ok := w.get(name)
		if !ok {
			return probes.None[float64](probes.Unsupported)
		}
		return probes.Some(v)
	}
	s.GPU = &probes.GPU{At: s.At, Devices: []probes.GPUDevice{{At: s.At, UUID: "GPU-1", Name: "test", PowerWatts: opt("gpu.power"),
		PowerLimitWatts: opt("gpu.power_limit"), PowerDefaultWatts: opt("gpu.power_default"), SMClockHertz: opt("gpu.sm_clock"), SMClockMaxHertz: opt("gpu.sm_clock_max"),
		TemperatureCelsius: opt("gpu.temperature"), ThrottleBits: probes.Some(uint64(w.at("gpu.bits"))), DRAMActiveRatio: opt("gpu.dram_active"), KernelActiveRatio: opt("gpu.kernel_active")}}}
}

// seriesNames lists what a script may set.
func seriesNames() []string {
	var names []string
	for name := range usual {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
