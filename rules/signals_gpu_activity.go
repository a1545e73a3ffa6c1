package rules

import "llmtop/probes"

// gpuActivityRows are what the profiling counters measure, the busiest device: how much of a
// GPU is used, which the time in which any kernel ran does not tell.
func gpuActivityRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, of gpuReading) Signal {
		return gpuRow(name, title, unit, step, formula, func(n *now) probes.Opt[float64] {
			return n.highest(func(d *device) probes.Opt[float64] { return d.undivided(d.gauge(of)) })
		})
	}
	return []Signal{
		row("gpu.sm_active", "SM active", "ratio", 0.1, "cycles in which an SM had a warp, mean of the SMs, the busiest device (needs profiling counters)",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.SMActiveRatio }),
		row("gpu.sm_occupancy", "SM occupancy", "ratio", 0.1, "warps on the SMs over the most there can be, the busiest device (needs profiling counters)",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.SMOccupancyRatio }),
		row("gpu.tensor_active", "tensor cores active", "ratio", 0.1, "cycles in which tensor cores worked, the busiest device (needs profiling counters)",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.TensorActiveRatio }),
		row("gpu.dram_active", "DRAM active", "ratio", 0.1, "share of peak memory bandwidth in use, the highest (needs profiling counters)",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.DRAMActiveRatio }),
		row("gpu.memory_active", "GPU memory controller time", "ratio", 0.1, "time in which device memory was read or written, the busiest device; not bandwidth",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.MemoryActiveRatio }),
		row("gpu.pcie_tx", "PCIe sent", "bytes/s", 100<<20, "bytes a second that a device sends over PCIe, the most",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.PCIeTxBytesPerS }),
		row("gpu.pcie_rx", "PCIe received", "bytes/s", 100<<20, "bytes a second that a device receives over PCIe, the most",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.PCIeRxBytesPerS }),
		row("gpu.nvlink_tx", "NVLink sent", "bytes/s", 100<<20, "bytes a second that a device sends over all its NVLinks, the most",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.NVLinkTxBytesPerS }),
		row("gpu.nvlink_rx", "NVLink received", "bytes/s", 100<<20, "bytes a second that a device receives over all its NVLinks, the most",
			func(d *probes.GPUDevice) probes.Opt[float64] { return d.NVLinkRxBytesPerS }),
	}
}
