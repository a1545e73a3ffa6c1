package record

import (
	"fmt"
	"math"
	"math/rand"
	"time"

	"llmtop/probes"
)

// dayGPU is a device between two samples.
type dayGPU struct {
	device probes.GPUDevice
	bias   float64 // of its power and activity against the others
	power  float64 // W, averaged over minutes: what its temperature follows
	pages  float64 // 2 MiB of memory in use
	clock  float64 // steps of 15 MHz below the maximum
}

func newDayGPUs(rng *rand.Rand) []dayGPU {
	out := make([]dayGPU, 8)
	for i := range out {
		out[i] = dayGPU{bias: 1 + 0.04*rng.NormFloat64(), power: 200, pages: 66_500 + float64(rng.Intn(300))}
		out[i].device = probes.GPUDevice{
			Index: i, UUID: fmt.Sprintf("GPU-%s-%s", hex16(rng)[:8], hex16(rng)), Name: "Synthetic H200",
			MemoryTotalBytes: probes.Some(150754820096.0), PowerLimitWatts: probes.Some(700.0), PowerDefaultWatts: probes.Some(700.0),
			SMClockMaxHertz: probes.Some(1.98e9), MemoryClockHertz: probes.Some(3.201e9), MemoryClockMaxHz: probes.Some(3.201e9),
		}
	}
	return out
}

func (d *day) gpu(at time.Time) *probes.GPU {
	rng, load := d.rng, d.page.load()
	g := &probes.GPU{At: at, Driver: "570.00"}
	for i := range d.gpus {
		u := &d.gpus[i]
		at = at.Add(time.Duration(260+8*rng.ExpFloat64()) * time.Microsecond)
		watts := (120 + 560*load*u.bias) + 6*rng.NormFloat64()
		u.power += (watts - u.power) / 90
		if rng.Intn(25) == 0 {
			u.pages += float64(rng.Intn(9) - 4)
		}
		if rng.Intn(3) == 0 {
			u.clock = math.Max(0, math.Round(5*load*u.bias+0.8*rng.NormFloat64()))
		}
		v := u.device
		v.At = at
		v.PowerWatts = probes.Some(math.Round(math.Min(watts, 702)*1000) / 1000)
		v.SMActiveRatio = probes.Some(share(1e4, 0.85*load*u.bias+0.02*load*rng.NormFloat64()))
		v.DRAMActiveRatio = probes.Some(share(1e4, 0.6*load*u.bias+0.02*load*rng.NormFloat64()))
		v.KernelActiveRatio = probes.Some(share(100, 1.4*load+0.02*rng.NormFloat64()))
		v.MemoryActiveRatio = probes.Some(share(100, 0.65*load*u.bias+0.02*rng.NormFloat64()))
		v.TemperatureCelsius = probes.Some(math.Round(28 + u.power*0.06))
		v.MemoryUsedBytes = probes.Some(u.pages * (2 << 20))
		v.SMClockHertz = probes.Some(1.98e9 - 15e6*u.clock)
		v.ThrottleBits = probes.Some(uint64(0))
		if watts > 698 {
			v.ThrottleBits = probes.Some(probes.ThrottlePowerCap)
		}
		g.Devices = append(g.Devices, v)
	}
	return g
}

// share is v within 0 … 1 in steps of 1/steps.
func share(steps, v float64) float64 {
	return math.Round(math.Min(1, math.Max(0, v))*steps) / steps
}

// dayHost is host and process between two samples, in the kernel's units.
type dayHost struct {
	n                                     int
	busy, wait, steal                     int64 // 1/100 s
	load1                                 float64
	free                                  float64    // pages
	some, full                            [3]int64   // µs: CPU, memory, IO
	avg                                   [3]float64 // 1/100 %
	cpu, thread, runWait                  int64      // 1/100 s, 1/100 s, ns
	rss                                   float64    // pages
	voluntary, preempted, faults, periods int64
	self                                  int64
	selfPages                             float64
}

func (h *dayHost) second(rng *rand.Rand, load float64) {
	if h.n == 0 {
		h.free, h.rss, h.selfPages = 4.6e8, 2.1e6, 9000
	}
	h.n++
	cores := 6 + 22*load
	used := math.Max(0, cores*100+cores*6*rng.NormFloat64())
	h.busy += int64(used + 150 + 40*rng.ExpFloat64())
	h.cpu += int64(used)
	h.thread += int64(math.Min(100, 70+30*load+3*rng.NormFloat64()))
	if rng.Intn(6) == 0 {
		h.wait += int64(rng.ExpFloat64() * 4)
	}
	if h.n%5 == 0 {
		h.load1 += (cores - h.load1) * 0.08 * (0.8 + 0.4*rng.Float64())
	}
	h.free += math.Round(300 * rng.NormFloat64())
	h.some[0] += int64(load * 30_000 * rng.ExpFloat64())
	if rng.Intn(8) == 0 {
		h.some[2] += int64(900 * rng.ExpFloat64())
		h.full[2] = h.some[2] * 9 / 10
	}
	if h.n%2 == 0 {
		h.avg[0] += (load*300 - h.avg[0]) * 0.3 * rng.Float64()
	}
	h.runWait += int64(math.Max(0, load*4e7*(1+0.3*rng.NormFloat64())))
	if rng.Intn(4) == 0 {
		h.rss += math.Round(40 * rng.NormFloat64())
	}
	h.voluntary += int64(math.Max(50, 400+9000*load+300*rng.NormFloat64()))
	h.preempted += int64(poisson(rng, 4+80*load))
	if rng.Intn(500) == 0 {
		h.faults++
	}
	h.periods += 10
	if rng.Intn(2) == 0 {
		h.self++
	}
	if rng.Intn(10) == 0 {
		h.selfPages += float64(rng.Intn(64) - 30)
	}
}

func (h *dayHost) pressure(i int) probes.Pressure {
	return probes.Pressure{
		SomeSecondsTotal: probes.Some(float64(h.some[i]) / 1e6), FullSecondsTotal: probes.Some(float64(h.full[i]) / 1e6),
		SomeAvg10Ratio: probes.Some(math.Round(h.avg[i]) / 1e4),
	}
}

func (h *dayHost) section(at time.Time) *probes.Host {
	return &probes.Host{
		At: at, CPUs: 128, CPUBusySecondsTotal: probes.Some(float64(h.busy) / 100), CPUStealSecondsTotal: probes.Some(0.0),
		CPUWaitSecondsTotal: probes.Some(float64(h.wait) / 100), Load1: probes.Some(math.Round(h.load1*100) / 100),
		MemoryTotalBytes: probes.Some(2.1e12), MemoryAvailableBytes: probes.Some(h.free * 4096), SwapInTotal: probes.Some(0.0),
		CPUPressure: h.pressure(0), MemoryPressure: h.pressure(1), IOPressure: h.pressure(2),
	}
}

func (h *dayHost) process(at, start time.Time) *probes.Process {
	return &probes.Process{
		At: at, PID: 4242, Name: "VLLM::EngineCore", StartedAt: start.Add(-time.Hour),
		CPUSecondsTotal: probes.Some(float64(h.cpu) / 100), RSSBytes: probes.Some(h.rss * 4096), Threads: probes.Some(212.0),
		RunWaitSecondsTotal: probes.Some(float64(h.runWait) / 1e9), BusiestThreadSecs: probes.Some(float64(h.thread) / 100),
		VoluntarySwitchesTotal: probes.Some(float64(h.voluntary)), PreemptedSwitchesTotal: probes.Some(float64(h.preempted)),
		MajorFaultsTotal: probes.Some(float64(h.faults)), CgroupPeriodsTotal: probes.Some(float64(h.periods)),
		CgroupThrottledTotal: probes.Some(0.0), CgroupThrottledSecTotal: probes.Some(0.0), CPULimitCores: probes.None[float64](probes.NotExposed),
	}
}
