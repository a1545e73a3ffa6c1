package rules

import (
	"fmt"
	"testing"
	"time"

	"llmtop/probes"
)

// gpuStory computes the signals after as many seconds of samples with a GPU section.
func gpuStory(seconds int, at func(second int, s *probes.Sample)) Signals {
	var samples []*probes.Sample
	for i := range seconds + 1 {
		s := sample(float64(i))
		s.GPU = &probes.GPU{At: s.At, Devices: make([]probes.GPUDevice, 0, 8)} // room, so that devices stay where they are
		at(i, s)
		samples = append(samples, s)
	}
	return signalsOf(samples...)
}

// board is a device at work.
func board(s *probes.Sample, uuid string) *probes.GPUDevice {
	s.GPU.Devices = append(s.GPU.Devices, probes.GPUDevice{At: s.At, Index: len(s.GPU.Devices), UUID: uuid, Name: "H200", KernelActiveRatio: probes.Some(0.9), ThrottleBits: probes.Some(uint64(0))})
	return &s.GPU.Devices[len(s.GPU.Devices)-1]
}

// uses makes processes hold memory of devices: "uuid", PID, …
func uses(s *probes.Sample, gpu string, pid int, bytes float64) *probes.GPUProcess {
	s.GPU.ProcessesAt = s.At
	s.GPU.Processes = append(s.GPU.Processes, probes.GPUProcess{GPU: gpu, PID: pid, MemoryBytes: probes.Some(bytes)})
	return &s.GPU.Processes[len(s.GPU.Processes)-1]
}

func TestThrottleTimeIsTheDriversCount(t *testing.T) {
	s := gpuStory(12, func(i int, s *probes.Sample) {
		a, b := board(s, "a"), board(s, "b")
		a.ThrottlePowerSecondsTotal = probes.Some(1000 + 0.25*float64(i))
		b.ThrottlePowerSecondsTotal = probes.Some(0.75 * float64(i))
		if b.ThrottleBits = probes.Some(probes.ThrottlePowerCap); i%2 > 0 {
			b.ThrottleBits = probes.Some(uint64(0))
		}
		a.ThrottleThermalSecondsTotal = probes.Some(0.1 * float64(i))
		a.ThrottleHWThermalSecondsTotal = probes.Some(0.3 * float64(i))
		b.ThrottleThermalSecondsTotal = probes.None[float64](probes.Unsupported)
		a.ThrottleBrakeSecondsTotal, b.ThrottleBrakeSecondsTotal = probes.Some(1.2*float64(i)), probes.Some(0.0)
		a.ThrottleSyncSecondsTotal, b.ThrottleSyncSecondsTotal = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
	})
	near(t, s, "gpu.throttle_power_time", 0.75)
	near(t, s, "gpu.power_capped", 0.75)
	near(t, s, "gpu.throttle_power", 6./11)
	near(t, s, "gpu.throttle_thermal_time", 0.3)
	near(t, s, "gpu.heat_slowed", 0.3)
	near(t, s, "gpu.throttle_brake_time", 1) // a share, though counter and clock part by a little
	absent(t, s, "gpu.throttle_sync_time", probes.Unsupported)
}

// A counter that never moved may be one that the device does not keep.
func TestBitsSpeakWhereNoTimeIsCounted(t *testing.T) {
	for name, counter := range map[string]probes.Opt[float64]{"no counter": probes.None[float64](probes.Unsupported), "a counter at 0 for ever": probes.Some(0.0)} {
		s := gpuStory(9, func(i int, s *probes.Sample) {
			d := board(s, "a")
			d.ThrottleBits, d.ThrottlePowerSecondsTotal = probes.Some(probes.ThrottlePowerCap), counter
		})
		t.Run(name, func(t *testing.T) { near(t, s, "gpu.power_capped", 1) })
	}
	s := gpuStory(9, func(i int, s *probes.Sample) { board(s, "a").ThrottleBits = probes.None[uint64](probes.NoPermission) })
	absent(t, s, "gpu.throttle_power", probes.NoPermission)
}

// An idle neighbour of the engine's device is neither its slowest clock nor its own.
func TestOnlyTheEnginesDevicesSpeak(t *testing.T) {
	at := func(pid int, more func(s *probes.Sample)) Signals {
		return gpuStory(3, func(i int, s *probes.Sample) {
			a, b := board(s, "a"), board(s, "b")
			a.TemperatureCelsius, a.SMClockHertz, a.SMClockMaxHertz = probes.Some(60.0), probes.Some(2e9), probes.Some(2e9)
			b.TemperatureCelsius, b.SMClockHertz, b.SMClockMaxHertz = probes.Some(80.0), probes.Some(1e9), probes.Some(2e9)
			s.Process = &probes.Process{At: s.At, PID: 5, Members: []probes.Member{{PID: 5}, {PID: 7}, {PID: 9}}}
			uses(s, "a", pid, 40e9)
			uses(s, "b", 1000, 2e9)
			if more != nil {
				more(s)
			}
		})
	}
	s := at(7, nil)
	near(t, s, "gpu.temperature", 60)
	near(t, s, "gpu.sm_clock_ratio", 1)
	near(t, s, "gpu.count", 1)
	near(t, s, "gpu.other_processes", 0)
	near(t, s, "gpu.other_memory", 0)
	s = at(7, func(s *probes.Sample) {
		uses(s, "a", 1000, 3e9).KernelActiveRatio = probes.Some(0.25)
		uses(s, "a", 1001, 1e9)
	})
	near(t, s, "gpu.other_processes", 2)
	near(t, s, "gpu.other_memory", 4e9)
	near(t, s, "gpu.other_active", 0.25)
	for name, s := range map[string]Signals{
		"numbers of another namespace": at(70, nil),
		"an old list":                  at(7, func(s *probes.Sample) { s.GPU.ProcessesAt = s.At.Add(-time.Minute) }),
	} {
		t.Run(name, func(t *testing.T) {
			near(t, s, "gpu.temperature", 80)
			near(t, s, "gpu.count", 2)
			absent(t, s, "gpu.other_processes", probes.NotSeen)
			absent(t, s, "gpu.other_memory", probes.NotSeen)
		})
	}
	s = at(70, func(s *probes.Sample) {
		s.Configs = []*probes.EngineConfig{{Endpoint: "http://e", Ranks: []probes.Rank{{Name: "tp0", PID: 70}}}}
	})
	near(t, s, "gpu.temperature", 60)
	s = gpuStory(1, func(i int, s *probes.Sample) {
		board(s, "a")
		s.Process = &probes.Process{At: s.At, PID: 5}
		uses(s, "a", 5, 1e9)
		uses(s, "a", 6, 0).MemoryBytes = probes.None[float64](probes.NoPermission)
	})
	absent(t, s, "gpu.other_memory", probes.NoPermission)
}

func TestDividedDevicesLeaveUseToTheirInstances(t *testing.T) {
	s := gpuStory(1, func(i int, s *probes.Sample) {
		parent := board(s, "a")
		parent.MIG, parent.KernelActiveRatio, parent.SMActiveRatio, parent.PowerWatts = true, probes.Some(1.0), probes.Some(1.0), probes.Some(300.0)
		for _, uuid := range []string{"m1", "m2"} {
			m := board(s, uuid)
			m.Parent, m.Instance, m.KernelActiveRatio, m.SMActiveRatio = "a", "1g.18gb", probes.None[float64](probes.Unsupported), probes.Some(0.25)
			m.ThrottleBits = probes.None[uint64](probes.Unsupported)
		}
		s.Process = &probes.Process{At: s.At, PID: 5}
		uses(s, "m1", 5, 1e9)
		uses(s, "m2", 6, 1e9)
	})
	near(t, s, "gpu.sm_active", 0.25)
	near(t, s, "gpu.power", 300)
	near(t, s, "gpu.count", 1)
	near(t, s, "gpu.other_processes", 0)
	absent(t, s, "gpu.kernel_active", probes.Unsupported)
}

// An exporter measures every half minute: what it says stands for longer than a tick.
func TestAnExportersDevicesStandLonger(t *testing.T) {
	story := func(old time.Duration) Signals {
		return gpuStory(1, func(i int, s *probes.Sample) {
			d := board(s, "a")
			d.Source, d.PeriodSeconds, d.At, d.SMActiveRatio = "dcgm", 30, s.At.Add(-old), probes.Some(0.5)
		})
	}
	near(t, story(40*time.Second), "gpu.sm_active", 0.5)
	absent(t, story(2*time.Minute), "gpu.sm_active", probes.Stale)
}

func TestGPUHealth(t *testing.T) {
	s := gpuStory(40, func(i int, s *probes.Sample) {
		a, b, c := board(s, "a"), board(s, "b"), board(s, "c")
		a.ECCUncorrectedTotal, a.ECCCorrectedTotal, a.EnergyJoulesTotal = probes.Some(5.0), probes.Some(2*float64(i)), probes.Some(1e6+400*float64(i))
		a.RemapPending, b.RemapPending = probes.Some(0.0), probes.Some(1.0)
		a.RecoveryAction, b.RecoveryAction = probes.Some(0.0), probes.Some(2.0)
		a.TemperatureMarginCelsius, b.TemperatureMarginCelsius = probes.Some(30.0), probes.Some(4.0)
		a.XidTotal, b.XidTotal, c.XidTotal = probes.Some(uint64(3)), probes.Some(uint64(0)), probes.Some(uint64(0))
		if i >= 20 {
			a.ECCUncorrectedTotal = probes.Some(7.0)
			b.XidTotal, b.LastXid = probes.Some(uint64(2)), probes.Some(uint64(31))
		}
		if i >= 30 { // gone, with its error counted
			c.XidTotal, c.LastXid, c.Err, c.KernelActiveRatio = probes.Some(uint64(1)), probes.Some(uint64(79)), "lost", probes.None[float64](probes.Lost)
			d := board(s, "d")
			d.Err, d.KernelActiveRatio = "no answer", probes.None[float64](probes.Stale)
		}
	})
	for name, want := range map[string]float64{"gpu.ecc_uncorrected": 2, "gpu.ecc_corrected": 2, "gpu.energy_power": 400, "gpu.remap_pending": 1, "gpu.recovery_wanted": 1,
		"gpu.temperature_margin": 4, "gpu.xid": 3, "gpu.xid_hardware": 1, "gpu.lost": 1, "gpu.stale": 1} {
		near(t, s, name, want)
	}
	absent(t, s, "gpu.remap_failed", probes.Lost)
	s = gpuStory(1, func(int, *probes.Sample) {})
	absent(t, s, "gpu.lost", probes.NotSeen)
}

func TestGPUCounterThatBeganAnew(t *testing.T) {
	s := gpuStory(10, func(i int, s *probes.Sample) {
		if d := board(s, "a"); i < 5 {
			d.EnergyJoulesTotal = probes.Some(1e9 + 100*float64(i))
		} else {
			d.EnergyJoulesTotal = probes.Some(100 * float64(i-4))
		}
	})
	near(t, s, "gpu.energy_power", 100)
}

func TestLinks(t *testing.T) {
	for _, c := range []struct {
		name                     string
		kernels                  float64
		bits                     uint64
		generation, width, ratio float64
	}{
		{"as it should be", 0.9, 0, 5, 16, 1}, {"two generations down", 0.9, 0, 3, 16, 0.25}, {"half the lanes", 0.9, 0, 5, 8, 0.5},
		{"idle", 0.9, probes.ThrottleIdle, 1, 16, -1}, {"without kernels", 0.01, 0, 1, 16, -1}, {"garbage", 0.9, 0, 700, 16, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := gpuStory(1, func(i int, s *probes.Sample) {
				d := board(s, "a")
				d.KernelActiveRatio, d.ThrottleBits = probes.Some(c.kernels), probes.Some(c.bits)
				d.PCIeGeneration, d.PCIeWidth, d.PCIeGenerationMax, d.PCIeWidthMax = probes.Some(c.generation), probes.Some(c.width), probes.Some(5.0), probes.Some(16.0)
			})
			if c.ratio < 0 {
				absent(t, s, "gpu.pcie_link", probes.NotSeen)
				return
			}
			near(t, s, "gpu.pcie_link", c.ratio)
		})
	}
	links := func(of func(i, device int) float64) Signals {
		return gpuStory(4, func(i int, s *probes.Sample) {
			for j := range 3 {
				d := board(s, fmt.Sprint(j))
				d.NVLinksTotal, d.NVLinksActive = probes.Some(18.0), probes.Some(of(i, j))
			}
		})
	}
	near(t, links(func(i, j int) float64 { return 12 }), "gpu.nvlinks_down", 0) // bridges: not all are wired
	near(t, links(func(i, j int) float64 { return 18 - float64(j) }), "gpu.nvlinks_down", 3)
	near(t, links(func(i, j int) float64 { return 18 * float64(min(1, j)) }), "gpu.nvlinks_down", 0) // one that has none
	near(t, links(func(i, j int) float64 { return 18 - 18*float64(i/3) }), "gpu.nvlinks_down", 54)   // all went down together
}

func TestSpreadFindsTheStraggler(t *testing.T) {
	s := gpuStory(1, func(i int, s *probes.Sample) {
		for j := range 4 {
			d := board(s, fmt.Sprint(j))
			d.SMClockHertz = probes.Some(2e9)
			switch j {
			case 2:
				d.SMClockHertz = probes.Some(1.5e9)
			case 3: // idle: its clock says nothing
				d.SMClockHertz, d.KernelActiveRatio = probes.Some(0.2e9), probes.Some(0.0)
			}
		}
		other := board(s, "other") // of another kind
		other.Name, other.SMClockHertz = "L4", probes.Some(0.8e9)
	})
	near(t, s, "gpu.spread", 0.75)
	s = gpuStory(1, func(i int, s *probes.Sample) { board(s, "a").SMClockHertz = probes.Some(2e9) })
	absent(t, s, "gpu.spread", probes.NotSeen)
	s = gpuStory(1, func(i int, s *probes.Sample) {
		board(s, "a").PowerWatts = probes.Some(600.0)
		board(s, "b").PowerWatts = probes.Some(300.0)
	})
	near(t, s, "gpu.spread", 0.5)
}

// What is looked at is bounded, whatever a recording holds.
func TestManyDevicesAreCutOff(t *testing.T) {
	s := gpuStory(1, func(i int, s *probes.Sample) {
		for j := range 5000 {
			board(s, fmt.Sprint(j))
		}
	})
	near(t, s, "gpu.count", maxDevices)
}
