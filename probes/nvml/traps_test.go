//go:build linux && cgo

package nvml

import (
	"os"
	"testing"

	"llmtop/probes"
)

// script is one of the ready-made hosts.
func script(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/fakenvml/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readings checks several values of one device at once; a nil want is a reading that the
// device does not support.
func readings(t *testing.T, d probes.GPUDevice, want map[string]any) {
	t.Helper()
	seen := 0
	for _, r := range probes.GPUReadings {
		w, ok := want[r.Name]
		if !ok {
			continue
		}
		seen++
		switch w := w.(type) {
		case probes.Absence:
			checkMissing(t, r.Name, *r.Of(&d), w)
		case int:
			check(t, reading{r.Name, *r.Of(&d), float64(w)})
		case float64:
			check(t, reading{r.Name, *r.Of(&d), w})
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d names are readings", seen, len(want))
	}
}

const (
	unsupported  = probes.Unsupported
	notSeen      = probes.NotSeen
	noPermission = probes.NoPermission
)

// A whole healthy host: every reading that NVML can give is there.
func TestEverythingOfAHealthyDevice(t *testing.T) {
	s := play(t, "driver", script(t, "eight.txt"))
	if s == nil {
		return
	}
	s.fresh(0, 1, 2, 3, 4, 5, 6, 7)
	s.moveTo(1)
	g := s.fresh(0, 1, 2, 3, 4, 5, 6, 7)
	d := g.Devices[5]
	if g.CUDA != "13.0" || len(g.Devices) != 8 {
		t.Errorf("CUDA %q, %d devices", g.CUDA, len(g.Devices))
	}
	if d.Source != "nvml" || d.PCIAddress != "0000:ab:00.0" || d.Architecture != "hopper" || d.MIG || d.Virtual != "" || d.CPUs != "32-63,96-127" || d.ActivityFrom != "gpm" {
		t.Errorf("identity %+v", d)
	}
	for _, r := range probes.GPUReadings {
		if r.Name == "temperature_slowdown_celsius" { // told as a margin on such chips
			continue
		}
		if !r.Of(&d).Seen() {
			t.Errorf("%s is missing: %v", r.Name, r.Of(&d).Why())
		}
	}
	readings(t, d, map[string]any{
		"graphics_active_ratio": .99, "sm_active_ratio": .8, "sm_occupancy_ratio": .31, "tensor_active_ratio": .46, "dram_active_ratio": .71,
		"pcie_tx_bytes_per_second": 1200 << 20, "pcie_rx_bytes_per_second": 800 << 20,
		"nvlink_tx_bytes_per_second": 41000 << 20, "nvlink_rx_bytes_per_second": 41000 << 20,
		"memory_reserved_bytes": 600000000, "power_watts": 612, "power_average_watts": 608, "energy_joules_total": 7200608,
		"performance_state": 0, "memory_temperature_celsius": 68, "temperature_margin_celsius": 26,
		"throttle_power_seconds_total": 0, "throttle_brake_seconds_total": 0, "ecc_uncorrected_total": 0, "remap_failed": 0,
		"pcie_generation": 5, "pcie_generation_max": 5, "pcie_width": 16, "pcie_width_max": 16, "pcie_replays_total": 0,
		"nvlinks_active": 18, "nvlinks_total": 18, "nvlink_errors_total": 0, "recovery_action": 0, "numa_node": 1,
		"temperature_slowdown_celsius": unsupported,
	})
}

// An A100 has no GPM. Its NVLink rates are told by counters, its PCIe rates by nobody.
func TestA100(t *testing.T) {
	s := play(t, "driver", script(t, "oldgpu.txt"))
	if s == nil {
		return
	}
	s.fresh(0, 1)
	s.moveTo(1)
	s.fresh(0, 1)
	s.moveTo(3)
	d := s.fresh(0, 1).Devices[1]
	readings(t, d, map[string]any{
		"sm_active_ratio": unsupported, "dram_active_ratio": unsupported, "tensor_active_ratio": unsupported,
		"pcie_tx_bytes_per_second": unsupported, "nvlink_tx_bytes_per_second": 9000000 << 10, "nvlink_rx_bytes_per_second": 9000000 << 10,
		"power_watts": 374, "power_average_watts": unsupported, "temperature_margin_celsius": unsupported, "temperature_slowdown_celsius": 92,
		"throttle_thermal_seconds_total": 0, "throttle_brake_seconds_total": unsupported, "nvlinks_active": 12,
	})
	if d.ActivityFrom != "" || d.Architecture != "ampere" {
		t.Errorf("%+v", d)
	}
}

// What boards lack is missing for that reason, never 0.
func TestBoardsThatLackThings(t *testing.T) {
	s := play(t, "driver", `
0 * count 5
0 * driver 595.71
0 * architecture 8
0 * gpm 0
# 0: a consumer board
0 0 name NVIDIA GeForce RTX 4080 SUPER
0 0 memory_total 17171480576
0 0 power 200000
0 0 temperature 50
0 0 field.91 0
0 0 pstate 2
# 1: shares the host's memory and says so
0 1 error.MemoryInfo 3
0 1 error.MemoryInfo_v2 3
0 1 power 30000
# 2: shares it and answers zeros and garbage
0 2 memory_total 0
0 2 memory_used 12345
0 2 power 0
0 2 temperature 0
0 2 sm_clock 0
0 2 field.186 0
0 2 field.82 0
0 2 pstate 32
0 2 util 37100
# 3: an answer that is larger than what there is
0 3 memory_total 1000
0 3 memory_used 61000000000
# 4: the driver says that it does not know
0 4 power 4294967295
0 4 field.82 4294967295
0 4 ecc.corrected 18446744073709551615
0 4 pcie_width 0
`)
	if s == nil {
		return
	}
	g := s.fresh(0, 1, 2, 3, 4)
	readings(t, g.Devices[0], map[string]any{
		"memory_total_bytes": 17171480576, "memory_used_bytes": 0, "power_watts": 200, "temperature_celsius": 50, "performance_state": 2,
		"ecc_corrected_total": unsupported, "ecc_uncorrected_total": unsupported, "rows_remapped_corrected": unsupported, "remap_pending": unsupported,
		"remap_failed": unsupported, "memory_temperature_celsius": unsupported, "temperature_margin_celsius": unsupported,
		"nvlinks_active": unsupported, "nvlinks_total": unsupported, "nvlink_errors_total": unsupported, "recovery_action": unsupported,
		"throttle_power_seconds_total": unsupported, "throttle_hw_thermal_seconds_total": unsupported, "energy_joules_total": unsupported,
		"nvlink_tx_bytes_per_second": unsupported, "numa_node": probes.NotExposed,
	})
	// One number of power on Ada: it is the average of a second, and the nearest to now.
	check(t, reading{"average", g.Devices[0].PowerAverageWatts, 200})
	readings(t, g.Devices[1], map[string]any{
		"memory_total_bytes": unsupported, "memory_used_bytes": unsupported, "memory_reserved_bytes": unsupported, "power_watts": 30})
	readings(t, g.Devices[2], map[string]any{
		"memory_total_bytes": unsupported, "memory_used_bytes": unsupported, "memory_reserved_bytes": unsupported, "power_watts": unsupported,
		"temperature_celsius": unsupported, "sm_clock_hertz": unsupported, "memory_temperature_celsius": unsupported,
		"performance_state": notSeen, "kernel_active_ratio": notSeen})
	readings(t, g.Devices[3], map[string]any{"memory_total_bytes": unsupported, "memory_used_bytes": unsupported})
	readings(t, g.Devices[4], map[string]any{
		"power_watts": unsupported, "memory_temperature_celsius": unsupported, "ecc_corrected_total": unsupported, "pcie_width": unsupported})
}

// nvmlDeviceGetPowerUsage means power now on GA100 and older chips, the average of a second
// on others; where the chip is not known it is not called an average.
func TestMeaningOfPowerUsage(t *testing.T) {
	s := play(t, "driver", `
0 * count 5
0 * power 300000
0 0 architecture 7
0 0 pci_device 0x20b2
0 1 architecture 7
0 1 pci_device 0x2237
0 2 architecture 6
0 3 architecture 9
0 3 field.186 450000
0 3 field.185 440000
`)
	if s == nil {
		return
	}
	g := s.fresh(0, 1, 2, 3, 4)
	for i, want := range []map[string]any{
		{"power_watts": 300, "power_average_watts": unsupported}, // A100
		{"power_watts": 300, "power_average_watts": 300},         // A10
		{"power_watts": 300, "power_average_watts": unsupported}, // T4
		{"power_watts": 450, "power_average_watts": 440},         // by fields
		{"power_watts": 300, "power_average_watts": unsupported}, // unknown
	} {
		readings(t, g.Devices[i], want)
	}
}

// A driver of 2019 lacks half of the functions, and knows other names for some.
func TestOldDriversReadings(t *testing.T) {
	s := play(t, "old", `
0 * count 1
0 * driver 418.87
0 * cuda 10010
0 * pci 00000000:3B:00.0
0 * memory_total 16000000000
0 * memory_reserved 300000000
0 * power 60000
0 * temperature 40
0 * cpus ff
0 * ecc.corrected 2
0 * retired_pending 1
0 * field.82 44
0 * energy 5000
`)
	if s == nil {
		return
	}
	g := s.fresh(0)
	d := g.Devices[0]
	if g.CUDA != "10.1" || d.PCIAddress != "0000:3b:00.0" || d.CPUs != "0-7" || d.Architecture != "" || d.MIG {
		t.Errorf("CUDA %q, %+v", g.CUDA, d)
	}
	readings(t, d, map[string]any{
		"power_watts": 60, "temperature_celsius": 40, "memory_temperature_celsius": 44, "energy_joules_total": 5, "ecc_corrected_total": 2,
		"remap_pending": 1, "remap_failed": unsupported, "rows_remapped_corrected": unsupported, "temperature_margin_celsius": unsupported,
		"memory_reserved_bytes": unsupported, "memory_used_bytes": 300000000, "power_average_watts": unsupported,
		"numa_node": probes.NotExposed, "sm_active_ratio": unsupported,
	})
}

// A newer driver may drop an old name.
func TestTemperatureUnderItsNewName(t *testing.T) {
	s := play(t, "driver", "0 * count 1\n0 * temperature 71\n0 0 error.Temperature 26\n")
	if s == nil {
		return
	}
	readings(t, s.fresh(0).Devices[0], map[string]any{"temperature_celsius": 71})
}

func TestMinimalLibrary(t *testing.T) {
	s := play(t, "minimal", "0 * count 1\n")
	if s == nil {
		return
	}
	g := s.readUntil(func(g *probes.GPU) bool { return g.Note != "NVML is starting" })
	if g.Note != "no NVML device: counting GPUs: the NVIDIA driver lacks a function that is needed" {
		t.Errorf("note %q", g.Note)
	}
}

func TestDemonstrationOfALostGPU(t *testing.T) {
	s := play(t, "driver", script(t, "lost.txt"))
	if s == nil {
		return
	}
	s.fresh(0, 1)
	s.moveTo(31)
	s.fresh(1)
	g := s.readUntil(func(g *probes.GPU) bool { return g.Devices[0].Err != "" })
	readings(t, g.Devices[0], map[string]any{"power_watts": probes.Lost, "throttle_power_seconds_total": probes.Lost, "ecc_corrected_total": probes.Lost})
	check(t, reading{"power of the other", g.Devices[1].PowerWatts, 612})
}

// The demonstrations show what they promise.
func TestDemonstrations(t *testing.T) {
	for _, x := range []struct {
		script string
		at     float64
		bits   uint64
		want   map[string]any
	}{
		{"thermal.txt", 70, 0x68, map[string]any{"temperature_celsius": 91, "temperature_margin_celsius": -4, "throttle_hw_thermal_seconds_total": 10, "throttle_thermal_seconds_total": 28}},
		{"brake.txt", 50, 0x88, map[string]any{"throttle_brake_seconds_total": 14, "sm_clock_hertz": 975000000, "power_limit_watts": 700}},
		{"pcie.txt", 50, 0, map[string]any{"pcie_generation": 1, "pcie_width": 4, "pcie_generation_max": 5, "pcie_replays_total": 72}},
		{"ecc.txt", 50, 0, map[string]any{"ecc_uncorrected_total": 1, "remap_pending": 1, "recovery_action": 1}},
		{"powercap.txt", 50, 4, map[string]any{"throttle_power_seconds_total": 18, "power_limit_watts": 350}},
	} {
		t.Run(x.script, func(t *testing.T) {
			s := play(t, "driver", script(t, x.script))
			if s == nil {
				return
			}
			s.moveTo(x.at)
			d := s.fresh(0).Devices[0]
			readings(t, d, x.want)
			if bits, ok := d.ThrottleBits.Get(); bits != x.bits || !ok {
				t.Errorf("throttle bits %x, want %x", bits, x.bits)
			}
		})
	}
}
