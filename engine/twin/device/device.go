// Package device simulates the GPUs of a host: what they do follows from the load, the power
// limit, the cooling and the clocks; what NVML and GPM would show of it is a probes.GPU.
//
// Loads flow in (Advance), of what the engine did on each GPU. What they come to (how busy each
// part was, power, heat, clocks) is worked out in steps of 100 ms. Two things flow out: the
// state that the next steps of the engine run under (Condition), and what an observer reads
// (Section), which goes through what a reading goes through: sampling periods, rounding, noise,
// readings that are renewed seldom, and those that a kind of board does not have.
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
	PCIeBytes   float64 // of steps, both ways
	Copied      float64 // from the host beside them: weights, adapters
	Batch       float64 // sequences a step, mean: what fills the SMs
	MemoryBytes float64 // that the engine holds
}

// add takes in a part of another load. Batch becomes a sum, weighed with the time in kernels.
func (l *Load) add(o *Load, part float64) {
	l.Kernel += time.Duration(float64(o.Kernel) * part)
	l.Idle += time.Duration(float64(o.Idle) * part)
	l.Tensor += time.Duration(float64(o.Tensor) * part)
	l.Bytes += o.Bytes * part
	l.LinkBytes += o.LinkBytes * part
	l.PCIeBytes += o.PCIeBytes * part
	l.Copied += o.Copied * part
	l.Batch += o.Batch * float64(o.Kernel) * part
}
