package rules_test

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"llmtop/probes"
)

// fullSim is what a busy host tells beside the sim's requests: a metrics page of some
// 700 series under vLLM's names whose counters and histograms follow the sim, eight
// GPUs, the host and the engine's process.
type fullSim struct {
	*sim
	records bool // the engine tells of each request; else its page is all there is
	page    *page
	ctx     struct{ cpu, busy, wait, tokens float64 }
	all     bool // every reading that a host can give is there
}

func newFullSim(seed uint64, rate float64, records bool) *fullSim {
	return &fullSim{sim: newSim(seed, rate), records: records, page: newPage()}
}

// sample is what the probes see after second n.
func (f *fullSim) sample(n int) *probes.Sample {
	s := f.sim.sample(n)
	section := s.Requests[0]
	f.page.take(section.Finished, float64(len(f.batch)), float64(len(f.waiting)))
	if !f.records {
		s.Requests = nil
	}
	values := append([]float64(nil), f.page.values...)
	s.Scrapes = []*probes.Scrape{{At: s.At, Endpoint: section.Endpoint, Seconds: 0.004, Schema: f.page.schema, Values: values}}
	f.surroundings(s)
	return s
}

// surroundings fills host, process, GPUs and what llmtop says of itself.
func (f *fullSim) surroundings(s *probes.Sample) {
	noise := func() float64 { return 1 + 0.05*f.rng.NormFloat64() }
	f.ctx.cpu += 1.4 * noise()
	f.ctx.busy += 1.9 * noise()
	f.ctx.wait += 0.05 * noise()
	pressure := probes.Pressure{SomeSecondsTotal: probes.Some(f.ctx.wait), FullSecondsTotal: probes.Some(0.0)}
	s.Host = &probes.Host{At: s.At, CPUs: 16, CPUBusySecondsTotal: probes.Some(f.ctx.busy), CPUStealSecondsTotal: probes.Some(0.0),
		MemoryTotalBytes: probes.Some(1e12), MemoryAvailableBytes: probes.Some(8e11), CPUPressure: pressure, MemoryPressure: pressure}
	s.Process = &probes.Process{At: s.At, PID: 7, Name: "engine", CPUSecondsTotal: probes.Some(f.ctx.cpu), RSSBytes: probes.Some(9e9),
		RunWaitSecondsTotal: probes.Some(f.ctx.wait), CgroupPeriodsTotal: probes.Some(float64(10 * s.Seq)), CgroupThrottledTotal: probes.Some(0.0)}
	s.GPU = &probes.GPU{At: s.At, Driver: "570"}
	for i := range 8 {
		s.GPU.Devices = append(s.GPU.Devices, probes.GPUDevice{At: s.At, Index: i, UUID: fmt.Sprintf("GPU-%08x-0001-0002", i), Name: "Synthetic H200",
			KernelActiveRatio: probes.Some(math.Min(1, 0.8*noise())), PowerWatts: probes.Some(520 * noise()), PowerLimitWatts: probes.Some(700.0),
			PowerDefaultWatts: probes.Some(700.0), SMClockHertz: probes.Some(1.9e9), SMClockMaxHertz: probes.Some(1.98e9), TemperatureCelsius: probes.Some(55.0),
			MemoryUsedBytes: probes.Some(1.3e11), MemoryTotalBytes: probes.Some(1.5e11), ThrottleBits: probes.Some(uint64(0)), DRAMActiveRatio: probes.Some(0.5)})
	}
	f.everything(s)
	s.Self = &probes.Self{At: s.At, PID: 8, CPUSecondsTotal: probes.Some(0.01 * float64(s.Seq)), RSSBytes: probes.Some(3e7)}
	s.Probes = []probes.ProbeStatus{{Name: "scrape", At: s.At, EverySeconds: 1}, {Name: "nvml", At: s.At, EverySeconds: 1}}
}

// everything fills what the best of hosts tells beside: counters of throttling, memory and
// links, processes on each device, members, disks and interfaces, connections, neighbours.
func (f *fullSim) everything(s *probes.Sample) {
	if !f.all {
		return
	}
	seq, noise := float64(s.Seq), func() float64 { return 1 + 0.05*f.rng.NormFloat64() }
	for i := range s.GPU.Devices {
		d := &s.GPU.Devices[i]
		for _, r := range probes.GPUReadings {
			if v := r.Of(d); !v.Seen() {
				*v = probes.Some(noise())
				if strings.HasSuffix(r.Name, "_total") {
					*v = probes.Some(seq * 0.1)
				}
			}
		}
		d.XidTotal, d.CPUs = probes.Some(uint64(0)), "0-31,64-95"
		s.GPU.ProcessesAt = s.At
		s.GPU.Processes = append(s.GPU.Processes, probes.GPUProcess{GPU: d.UUID, PID: 10 + i, MemoryBytes: probes.Some(1e11)})
		s.Process.Members = append(s.Process.Members, probes.Member{PID: 10 + i, CPUSecondsTotal: probes.Some(seq), VoluntarySwitchesTotal: probes.Some(200 * seq), AllowedCPUs: "0-127"})
		s.Process.BusyThreads = append(s.Process.BusyThreads, probes.Thread{PID: 10 + i, TID: 10 + i, CPUSecondsTotal: probes.Some(0.9 * seq)})
	}
	fill(reflect.ValueOf(s.Host).Elem(), seq)
	fill(reflect.ValueOf(s.Process).Elem(), seq)
	for i := range 4 {
		d, c := probes.Disk{Name: fmt.Sprint("nvme", i)}, probes.NIC{Name: fmt.Sprint("eth", i), Kind: "ethernet", Up: true}
		fill(reflect.ValueOf(&d).Elem(), seq)
		fill(reflect.ValueOf(&c).Elem(), seq)
		s.Host.Disks, s.Host.NICs = append(s.Host.Disks, d), append(s.Host.NICs, c)
		s.Host.Filesystems = append(s.Host.Filesystems, probes.Filesystem{TotalBytes: probes.Some(1e12), FreeBytes: probes.Some(5e11 * noise())})
	}
	s.Sockets = &probes.Sockets{At: s.At, Connections: probes.Some(40 * noise()), SendQueueBytes: probes.Some(1e5 * noise())}
	s.Neighbours = &probes.Neighbours{At: s.At, SpanSeconds: 10, List: []probes.Neighbour{{CPUCores: probes.Some(noise()), SharedCPUs: probes.Some(4.0)}}}
}

// fill gives each reading that is missing a number that grows.
func fill(of reflect.Value, seq float64) {
	for i := range of.NumField() {
		switch field := of.Field(i).Addr().Interface().(type) {
		case *probes.Opt[float64]:
			if !field.Seen() {
				*field = probes.Some(0.3 * seq)
			}
		case *probes.Pressure:
			fill(of.Field(i), 0.01*seq)
		}
	}
}

// page is a vLLM metrics page under way.
type page struct {
	schema *probes.Schema
	values []float64
	at     map[string]int // first series of a family
	bounds []float64
	steps  float64
}

// pageSeries is how many series the page has, most of which nothing reads.
const pageSeries = 700

func newPage() *page {
	p := &page{schema: &probes.Schema{}, at: map[string]int{}}
	for e := -3.0; e < 4; e++ {
		for _, m := range []float64{1, 2, 5} {
			p.bounds = append(p.bounds, m*math.Pow(10, e))
		}
	}
	for _, f := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"} {
		p.add("vllm:"+f, "vllm:"+f, probes.Gauge)
	}
	for _, f := range []string{"prompt_tokens", "generation_tokens", "prefix_cache_queries", "prefix_cache_hits", "num_preemptions"} {
		p.add("vllm:"+f, "vllm:"+f+"_total", probes.Counter)
	}
	for _, reason := range []string{"stop", "length", "abort", "error"} {
		p.add("vllm:request_success", "vllm:request_success_total", probes.Counter, probes.Label{Name: "finished_reason", Value: reason})
	}
	p.add("vllm:admission_rejections", "vllm:admission_rejections_total", probes.Counter)
	for _, f := range []string{"time_to_first_token_seconds", "request_time_per_output_token_seconds", "inter_token_latency_seconds",
		"e2e_request_latency_seconds", "request_queue_time_seconds", "request_prefill_time_seconds", "request_decode_time_seconds",
		"request_prompt_tokens", "request_generation_tokens", "iteration_tokens_total"} {
		p.addHistogram("vllm:" + f)
	}
	for i := 0; len(p.values)+len(p.bounds)+3 < pageSeries; i++ {
		p.addHistogram("http_request_duration_seconds_" + strconv.Itoa(i))
	}
	for len(p.values) < pageSeries {
		f := "python_gc_" + strconv.Itoa(len(p.values))
		p.add(f, f, probes.Gauge)
	}
	return p
}

func (p *page) add(family, name string, t probes.MetricType, extra ...probes.Label) {
	if _, known := p.at[family]; !known {
		p.at[family] = len(p.values)
	}
	labels := append(extra, probes.Label{Name: "engine", Value: "0"}, probes.Label{Name: "model_name", Value: "synthetic-70b"})
	p.schema.Series = append(p.schema.Series, probes.Series{Family: family, Name: name, Type: t, Labels: labels})
	p.values = append(p.values, 0)
}

// addHistogram adds sum, count and the buckets, in this order.
func (p *page) addHistogram(family string) {
	p.add(family, family+"_sum", probes.HistogramType)
	p.add(family, family+"_count", probes.HistogramType)
	for _, b := range append(append([]float64(nil), p.bounds...), math.Inf(1)) {
		p.add(family, family+"_bucket", probes.HistogramType, probes.Label{Name: "le", Value: strconv.FormatFloat(b, 'g', -1, 64)})
	}
}

func (p *page) observe(family string, v, times float64) {
	i := p.at["vllm:"+family]
	p.values[i] += v * times
	p.values[i+1] += times
	for j, b := range p.bounds {
		if v <= b {
			p.values[i+2+j] += times
		}
	}
	p.values[i+2+len(p.bounds)] += times
}

// take counts what finished and what is in the engine now.
func (p *page) take(done []*probes.Request, running, waiting float64) {
	count := func(family string, v float64) { p.values[p.at["vllm:"+family]] += v }
	for _, r := range done {
		if r.Finish == "rejected" {
			count("admission_rejections", 1)
			continue
		}
		p.request(r)
		count("request_success", 1)
		count("prompt_tokens", float64(r.PromptTokens))
		count("generation_tokens", float64(r.OutputTokens))
		count("prefix_cache_queries", float64(r.PromptTokens))
		count("prefix_cache_hits", float64(r.PromptTokens/3))
	}
	for range 30 {
		p.observe("iteration_tokens_total", running+7, 1)
	}
	set := func(family string, v float64) { p.values[p.at["vllm:"+family]] = v }
	set("num_requests_running", running)
	set("num_requests_waiting", waiting)
	set("kv_cache_usage_perc", running/20)
}

func (p *page) request(r *probes.Request) {
	p.observe("time_to_first_token_seconds", r.TTFTSeconds.Or(0), 1)
	p.observe("e2e_request_latency_seconds", r.E2ESeconds.Or(0), 1)
	p.observe("request_queue_time_seconds", r.Stages[probes.StageQueue], 1)
	p.observe("request_prefill_time_seconds", r.Stages[probes.StagePrefill], 1)
	p.observe("request_decode_time_seconds", r.Stages[probes.StageDecode], 1)
	p.observe("request_prompt_tokens", float64(r.PromptTokens), 1)
	p.observe("request_generation_tokens", float64(r.OutputTokens), 1)
	if tpot, ok := r.TPOTSeconds(); ok {
		p.observe("request_time_per_output_token_seconds", tpot, 1)
		p.observe("inter_token_latency_seconds", tpot, float64(r.OutputTokens-1))
	}
}
