// Package device simulates the GPUs of a host: what they do follows from the load, the power
// limit, the cooling and the clocks; what NVML and GPM would show of it is a probes.GPU.
package device

import "time"

// Load is what the engine has done on one GPU since the last Advance.
type Load struct {
	Kernel      time.Duration // in kernels of ours
	Idle        time.Duration // of it: only waiting for other GPUs
	Tensor      time.Duration // tensor cores at work
	FLOPs       float64
	Bytes       float64 // read and written in its memory
	LinkBytes   float64 // sent to other GPUs
	PCIeBytes   float64
	Batch       float64 // sequences a step, mean: what fills the SMs
	MemoryBytes float64 // that the engine holds
}
