package main

import "llmtop/probes"

// faults are all that is played, the hang aside.
func faults() []fault {
	return []fault{
		{name: "power cap", script: "powercap", until: 90,
			sample: []check{is(0, "power_limit_watts", 350), is(0, "sm_clock_hertz", 1095e6), held(0, probes.ThrottlePowerCap)},
			events: []string{"GPU 0: power cap"}, screen: []string{"power cap", "349/350W"}, doctor: []string{"clocks held down by: power cap"}},
		{name: "thermal", script: "thermal", until: 120,
			sample: []check{is(0, "temperature_celsius", 91), is(0, "sm_clock_hertz", 990e6), held(0, probes.ThrottleHWThermal|probes.ThrottleSWThermal),
				above(0, "throttle_thermal_seconds_total", 0), below(0, "temperature_margin_celsius", 0)},
			events: []string{"GPU 0: software thermal slowdown", "GPU 0: hardware thermal slowdown"}, screen: []string{"heat", "91 °C"},
			doctor: []string{"hardware slowdown, heat (software), heat (hardware)"}},
		{name: "brake", script: "brake", until: 90,
			sample: []check{held(0, probes.ThrottlePowerBrake), held(1, probes.ThrottlePowerBrake), above(0, "throttle_brake_seconds_total", 0)},
			events: []string{"GPU 0: power brake", "GPU 1: power brake"}, screen: []string{"power brake"}, doctor: []string{"power brake"}},
		{name: "ecc", script: "ecc", until: 31, broken: true, more: "50 0 xid 63\n50 0 remapped 0 1 1 0\n50 0 field.230 1", // after Xid 48
			sample: []check{is(0, "ecc_uncorrected_total", 1), is(0, "remap_pending", 1), is(0, "recovery_action", 1), xid(0, 63)},
			events: []string{"GPU 0: Xid 48", "GPU 0: Xid 63"}, screen: []string{"Xid 63"}, doctor: []string{"the last Xid 63", "the driver asks to: reset the GPU"}},
		{name: "lost", script: "lost", broken: true, // Xid 79
			sample: []check{fails(0, "lost"), absent(0, "power_watts", probes.Lost), xid(0, 79)},
			events: []string{"GPU 0: Xid 79", "GPU 0: the GPU is lost"}, screen: []string{"the GPU is lost"}, doctor: []string{"GPU 0: the GPU is lost", "the last Xid 79"}},
		{name: "stuck clocks", script: "powercap", until: 30, more: "29 0 sm_clock 345\n29 0 gpm.10 12",
			sample: []check{is(0, "sm_clock_hertz", 345e6), is(0, "dram_active_ratio", 0.12)},
			screen: []string{"0.34 GHz"}, doctor: []string{"sm_clock_hertz 345 MHz", "clocks held down by: nothing"}},
		{name: "pcie", script: "pcie",
			sample: []check{is(0, "pcie_generation", 1), is(0, "pcie_width", 4), above(0, "pcie_replays_total", 0)},
			screen: []string{"PCIe gen 1 ×4"}, doctor: []string{"but GPU 0: PCIe gen 1 ×4 of gen 5 ×16", "pcie_generation 1", "pcie_generation_max 5", "pcie_width 4"}},
		{name: "mig", script: "mig", static: true,
			sample: []check{devices(1, false), devices(3, true), absent(0, "kernel_active_ratio", probes.Unsupported)},
			doctor: []string{"divided (MIG)", "instance 2g.35gb"}},
		{name: "eight", script: "eight", static: true,
			sample: []check{devices(8, false), fails(0, ""), fails(7, "")},
			screen: []string{"GPU0"}, doctor: []string{"8 devices"}},
		{name: "no GPM", script: "oldgpu", static: true,
			sample: []check{fails(0, ""), absent(0, "sm_active_ratio", probes.Unsupported), absent(0, "dram_active_ratio", probes.Unsupported)},
			doctor: []string{"dcgm-exporter"}},
		{name: "old driver", script: "oldgpu", library: "old", static: true,
			sample: []check{fails(0, ""), absent(0, "sm_active_ratio", probes.Unsupported)}, doctor: []string{"does not have"}},
		{name: "least driver", script: "oldgpu", library: "minimal", static: true, broken: true,
			sample: []check{devices(0, false), notes("lacks a function")}, screen: []string{"lacks a function"}, doctor: []string{"lacks a function"}},
		{name: "mismatch", script: "powercap", more: "0 * error.Init 18", static: true, broken: true,
			sample: []check{devices(0, false), notes("of different versions")}, screen: []string{"kernel driver and its library are of"}, doctor: []string{"BROKEN no NVML device", "of different versions"}},
		{name: "start hangs", script: "powercap", more: "0 * hang.Init 1", static: true, broken: true,
			sample: []check{devices(0, false), notes("NVML is starting")}, screen: []string{"NVML is starting"}, doctor: []string{"no answer from the driver for"}},
		{name: "no access", script: "powercap", until: 30, more: "0 * error.* 4", static: true, broken: true,
			sample: []check{fails(0, "no permission")}, screen: []string{"no permission"}, doctor: []string{"GPU 0: no permission"}},
	}
}
