package roofline

// Arch is a generation of GPUs.
type Arch string

// The generations in the table.
const (
	Ampere    Arch = "Ampere"
	Ada       Arch = "Ada Lovelace"
	Hopper    Arch = "Hopper"
	Blackwell Arch = "Blackwell"
)

// GPU is a row of the hardware table. Rates are those of the data sheet without sparsity; clocks,
// limits and temperatures are those that the driver tells.
type GPU struct {
	Name       string // as scenarios have it: "h100"
	NVML       string // as NVML has it: "NVIDIA H100 80GB HBM3"
	Arch       Arch
	Capability string // of CUDA: "9.0"

	BF16 float64 // FLOP/s with fp32 accumulation; fp16 is alike
	FP8  float64 // 0: it has no such arithmetic
	INT8 float64
	FP4  float64

	Memory    float64 // bytes, as NVML tells the total
	Bandwidth float64 // bytes/s
	ECC       bool

	SMs         int
	MaxClock    int // MHz, of the SMs
	MemoryClock int // MHz, of its memory as NVML tells it
	BusBits     int

	PowerLimit float64 // watts, default
	PowerMin   float64 // smallest and
	PowerMax   float64 // largest limit that can be set
	PowerIdle  float64 // with a CUDA context and nothing to do

	NVLink    float64 // bytes/s, both directions together; 0: none, data goes over PCIe
	PCIeGen   int
	PCIeLanes int

	MaxOperating float64 // °C, where software begins to slow the clocks
	Slowdown     float64 // °C, where hardware does

	Source string
}

// FLOPs is the rate at which a layer with weights of a type is multiplied, in FLOP/s. Weights that
// the GPU has no arithmetic for are widened first: then it is the rate of bf16.
func (g *GPU) FLOPs(weights DType) float64 {
	var rate float64
	switch weights {
	case FP8:
		rate = g.FP8
	case INT8:
		rate = g.INT8
	case FP4:
		rate = g.FP4
	}
	return max(rate, g.BF16)
}

// Link is what one GPU can send to its peers in bytes/s, one direction: NVLink, or PCIe less what
// its protocol takes (a fifth: 25 of 32 GB/s on Gen4 x16).
func (g *GPU) Link() float64 {
	if g.NVLink > 0 {
		return g.NVLink / 2
	}
	return g.PCIe() * 0.8
}

// PCIe is the raw rate of its link to the host in bytes/s, one direction: 2 GB/s a lane in Gen4,
// twice that with each generation.
func (g *GPU) PCIe() float64 {
	rate := 2e9
	for gen := 4; gen < g.PCIeGen; gen++ {
		rate *= 2
	}
	for gen := 4; gen > g.PCIeGen; gen-- {
		rate /= 2
	}
	return rate * float64(g.PCIeLanes)
}
