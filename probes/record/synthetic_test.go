package record

import (
	"fmt"
	"math"
	"math/rand"
	"time"

	"llmtop/probes"
)

// synthetic makes a busy host's samples: 8 GPUs, one engine's page of histograms
// and counters, host, process. The values move as real ones do; they are invented.
type synthetic struct {
	rng      *rand.Rand
	start    time.Time
	n        int
	requests int // finished in each sample
	schema   *probes.Schema
	values   []float64
	moving   []int
	sums     map[int]bool
	gpus     []probes.GPUDevice
	cpu, run float64
	seq      uint64
}

func newSynthetic(requests int) *synthetic { return newSyntheticOf(requests, 8, 20, 120) }

// newSmall makes samples of two GPUs and a short page: a file of some 200 B a sample.
func newSmall() *synthetic { return newSyntheticOf(1, 2, 1, 6) }

// newTiny makes samples for files whose every byte is tried.
func newTiny() *synthetic { return newSyntheticOf(1, 1, 0, 6) }

func newSyntheticOf(requests, gpus, histograms, counters int) *synthetic {
	s := &synthetic{
		rng: rand.New(rand.NewSource(1)), start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		requests: requests, schema: new(probes.Schema), sums: map[int]bool{},
	}
	s.page(histograms, counters)
	for i := range gpus {
		s.gpus = append(s.gpus, probes.GPUDevice{
			Index: i, UUID: fmt.Sprintf("GPU-%08x-0001-0002-0003-%012x", s.rng.Uint32(), s.rng.Int63()>>16), Name: "Synthetic H200",
			MemoryTotalBytes: probes.Some(150754820096.0), PowerLimitWatts: probes.Some(700.0), PowerDefaultWatts: probes.Some(700.0),
			SMClockMaxHertz: probes.Some(1.98e9), MemoryClockHertz: probes.Some(3.201e9), MemoryClockMaxHz: probes.Some(3.201e9),
			TemperatureCelsius: probes.Some(55.0), MemoryUsedBytes: probes.Some(139586437120.0), ThrottleBits: probes.Some(uint64(0)),
		})
	}
	return s
}

// page makes histograms of 24 series, of which half move, and counters, of which
// the first 20 move: 600 series, 150 moving, with 20 and 120.
func (s *synthetic) page(histograms, counters int) {
	labels := []probes.Label{{Name: "engine", Value: "0"}, {Name: "model_name", Value: "synthetic/model-70b"}}
	add := func(family, name string, t probes.MetricType, v float64, moves bool, extra ...probes.Label) {
		s.schema.Series = append(s.schema.Series, probes.Series{Family: family, Name: name, Type: t, Labels: append(extra, labels...)})
		if moves {
			s.moving = append(s.moving, len(s.values))
		}
		s.values = append(s.values, v)
	}
	for h := range histograms {
		f := fmt.Sprintf("engine:histogram_%02d_seconds", h)
		live := h < 10
		cumulative := 0.0
		for b := range 22 {
			if b > 6 {
				cumulative += float64(s.rng.Intn(5000))
			}
			add(f, f+"_bucket", probes.HistogramType, cumulative, live && b > 10, probes.Label{Name: "le", Value: fmt.Sprint(math.Pow(2, float64(b-10)))})
		}
		add(f, f+"_count", probes.HistogramType, cumulative, live)
		s.sums[len(s.values)] = true
		add(f, f+"_sum", probes.HistogramType, cumulative*s.rng.Float64(), live)
	}
	for c := range counters {
		f := fmt.Sprintf("engine:counter_%03d_total", c)
		add(f, f, probes.Counter, float64(s.rng.Intn(1e6)), c < 20)
	}
}

func (s *synthetic) next() *probes.Sample {
	s.n++
	at := s.start.Add(time.Duration(s.n)*time.Second + time.Duration(s.rng.Intn(900_000)))
	read := func() time.Time { return at.Add(-time.Duration(s.rng.Intn(9_000_000))) }
	sample := &probes.Sample{Seq: uint64(s.n), At: at, Mono: at.Sub(s.start) + time.Duration(s.rng.Intn(300)), Interval: time.Second}
	sample.Scrapes = []*probes.Scrape{s.scrape(read())}
	sample.GPU = s.gpu(read)
	s.host(sample, read())
	sample.Requests = []*probes.Requests{s.finished(read())}
	for _, name := range []string{"scrape", "requests", "host", "process", "gpu"} {
		sample.Probes = append(sample.Probes, probes.ProbeStatus{
			Name: name, At: at, EverySeconds: 1, LatencySeconds: probes.Some(float64(s.rng.Intn(9_000_000)) / 1e9),
		})
	}
	return sample
}

// many returns the next n samples.
func (s *synthetic) many(n int) []*probes.Sample {
	out := make([]*probes.Sample, n)
	for i := range out {
		out[i] = s.next()
	}
	return out
}

// rich returns n samples in which sections are carried on, missing and absent, a
// profile comes now and then, and values are not numbers.
func (s *synthetic) rich(n int) []*probes.Sample {
	out := s.many(n)
	for i, sample := range out {
		if i == 0 {
			continue
		}
		last := out[i-1]
		if i%3 != 0 {
			sample.GPU, sample.Requests = last.GPU, last.Requests
		}
		sample.Profile = last.Profile
		if i%10 == 5 {
			raw := make([]byte, 300)
			s.rng.Read(raw)
			sample.Profile = &probes.Profile{At: sample.At, Endpoint: "http://127.0.0.1:8000", Seconds: 5, Raw: raw}
		}
		switch i % 7 {
		case 2:
			sample.Process = nil
		case 3:
			sample.Scrapes[0].Values[1] = math.NaN()
			sample.Scrapes[0].Values[2] = math.Copysign(0, -1)
		case 4:
			sample.Events = []probes.Event{{At: sample.At, Kind: "clock-jump", Text: "the clock moved by 3 s"}}
		case 5:
			sample.Scrapes = last.Scrapes
			sample.Probes[0].Err = "connection refused"
		case 6:
			sample.Host.Load1 = probes.None[float64](probes.NoPermission)
		}
	}
	return out
}

func (s *synthetic) scrape(at time.Time) *probes.Scrape {
	values := append([]float64(nil), s.values...)
	var add float64
	for i, column := range s.moving {
		if i%13 == 0 {
			add = float64(s.rng.Intn(20))
		}
		if s.sums[column] {
			values[column] += add * s.rng.Float64()
		} else if s.rng.Intn(8) > 0 {
			values[column] += add + float64(s.rng.Intn(4))
		}
	}
	s.values = values
	return &probes.Scrape{At: at, Endpoint: "http://127.0.0.1:8000", Seconds: float64(s.rng.Intn(4_000_000)) / 1e9, Schema: s.schema, Values: values}
}

func (s *synthetic) gpu(read func() time.Time) *probes.GPU {
	g := &probes.GPU{At: read(), Driver: "570.00", Devices: append([]probes.GPUDevice(nil), s.gpus...)}
	for i := range g.Devices {
		d := &g.Devices[i]
		d.At = g.At.Add(time.Duration(i*40_000 + s.rng.Intn(9_000)))
		d.KernelActiveRatio = probes.Some(float64(90+s.rng.Intn(11)) / 100)
		d.MemoryActiveRatio = probes.Some(float64(40+s.rng.Intn(30)) / 100)
		d.PowerWatts = probes.Some(float64(500_000+s.rng.Intn(150_000)) / 1000)
		d.SMClockHertz = probes.Some(1.98e9 - 15e6*float64(s.rng.Intn(4)))
		d.SMActiveRatio = probes.Some(float64(7000+s.rng.Intn(2000)) / 10000)
		d.DRAMActiveRatio = probes.Some(float64(5000+s.rng.Intn(2000)) / 10000)
		if s.rng.Intn(10) == 0 {
			t, _ := s.gpus[i].TemperatureCelsius.Get()
			s.gpus[i].TemperatureCelsius = probes.Some(t + float64(s.rng.Intn(3)-1))
		}
		if s.rng.Intn(20) == 0 {
			m, _ := s.gpus[i].MemoryUsedBytes.Get()
			s.gpus[i].MemoryUsedBytes = probes.Some(m + float64(s.rng.Intn(64)<<16))
		}
	}
	return g
}

func (s *synthetic) host(to *probes.Sample, at time.Time) {
	s.cpu += float64(s.rng.Intn(800)) / 100
	s.run += float64(s.rng.Intn(1_000_000)) / 1e9
	to.Host = &probes.Host{
		At: at, CPUs: 128, CPUBusySecondsTotal: probes.Some(math.Round(s.cpu*100) / 100), Load1: probes.Some(float64(s.rng.Intn(3000)) / 100),
		CPUStealSecondsTotal: probes.Some(0.0), CPUWaitSecondsTotal: probes.Some(1.25), MemoryTotalBytes: probes.Some(2.1e12),
		MemoryAvailableBytes: probes.Some(1.9e12 + float64(s.rng.Intn(1<<20))*4096), SwapInTotal: probes.None[float64](probes.NotExposed),
		CPUPressure: probes.Pressure{SomeSecondsTotal: probes.Some(math.Round(s.run*1e6) / 1e6), SomeAvg10Ratio: probes.Some(float64(s.rng.Intn(300)) / 10000)},
	}
	to.Process = &probes.Process{
		At: at.Add(3 * time.Millisecond), PID: 4242, Name: "python3", StartedAt: s.start.Add(-time.Hour),
		CPUSecondsTotal: probes.Some(math.Round(s.cpu*50) / 100), RSSBytes: probes.Some(8e9 + float64(s.rng.Intn(1000))*4096), Threads: probes.Some(212.0),
		RunWaitSecondsTotal: probes.Some(s.run), VoluntarySwitchesTotal: probes.Some(float64(s.n * 900)), PreemptedSwitchesTotal: probes.Some(float64(s.n * 3)),
	}
	to.Self = &probes.Self{At: at, PID: 77, CPUSecondsTotal: probes.Some(float64(s.n) / 100), RSSBytes: probes.Some(41e6)}
}

func (s *synthetic) finished(at time.Time) *probes.Requests {
	r := &probes.Requests{At: at, Endpoint: "http://127.0.0.1:8000", InFlight: 20 + s.rng.Intn(9)}
	for range s.requests {
		s.seq++
		q := &probes.Request{
			Seq: s.seq, ID: fmt.Sprintf("%016x", s.rng.Uint64()), Stream: true, State: "finished", Finish: []string{"stop", "length"}[s.rng.Intn(2)],
			Arrived: at.Add(-time.Duration(s.rng.Intn(2e9))), PromptBytes: s.rng.Intn(9000), OutputTokens: 1 + s.rng.Intn(900),
		}
		q.PromptTokens = q.PromptBytes / 4
		var total float64
		for i := range q.Stages {
			spread := 300_000
			if st := probes.Stage(i); st == probes.StageQueue || st == probes.StagePrefill || st == probes.StageDecode {
				spread = 900_000_000
			}
			q.Stages[i] = float64(s.rng.Intn(spread)) / 1e9
			total += q.Stages[i]
		}
		q.E2ESeconds = probes.Some(math.Round(total*1e9) / 1e9)
		q.TTFTSeconds = probes.Some(math.Round((total-q.Stages[probes.StageDecode])*1e9) / 1e9)
		q.MaxITLSeconds = probes.Some(float64(s.rng.Intn(90_000_000)) / 1e9)
		r.Finished = append(r.Finished, q)
	}
	return r
}
