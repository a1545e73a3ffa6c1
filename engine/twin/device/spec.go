package device

import (
	"strings"

	"llmtop/rules/roofline"
)

// Spec is what a kind of board is. It never changes.
type Spec struct {
	Name         string // as the driver has it: "NVIDIA H100 80GB HBM3"
	Architecture string // ampere, ada, hopper, blackwell
	GeForce      bool   // a consumer's board: what they lack is not measured
	HBM          bool   // else its memory is GDDR

	SMClock         float64 // Hz, the highest
	IdleClock       float64 // of the SMs without work
	MemoryClock     float64
	MemoryIdleClock float64 // as MemoryClock where the memory never slows down
	Memory          float64 // bytes
	Bandwidth       float64 // of its memory at best, bytes/s

	Watts     float64 // power limit by default
	WattsMin  float64 // smallest and
	WattsMax  float64 // largest limit that can be set
	Idle      float64 // W without work
	Hunger    float64 // W that its work wants at the highest clock, in the measure of smPart …
	Operating float64 // °C at which software begins to slow the clocks
	Slowdown  float64 // °C at which hardware halves them

	NVLinks        int
	LinkBandwidth  float64 // to other GPUs, over NVLink or else PCIe, one way, bytes/s
	PCIeGeneration int
	PCIeWidth      int
}

// generations are what boards of one have in common that no data sheet tells.
var generations = map[roofline.Arch]struct {
	name      string
	idleClock float64 // MHz
	hbm, gddr float64 // W for each SM and GHz, of boards with that memory; 0: there are none
	link      float64 // bytes/s of one NVLink, one way
}{
	roofline.Ampere:    {"ampere", 210, 2.63, 1.75, 25e9},
	roofline.Ada:       {"ada", 210, 0, 1.0, 25e9},
	roofline.Hopper:    {"hopper", 345, 2.68, 0, 25e9},
	roofline.Blackwell: {"blackwell", 180, 3.44, 1.0, 50e9},
}

// busHBM is the width of a memory bus in bits that only stacks of memory have.
const busHBM = 2048

// SpecOf is the board of a row of the hardware table. How much power its work wants goes by its
// SMs and clock: a board that has the same chip under a lower limit is held down the more.
func SpecOf(g roofline.GPU) Spec {
	gen := generations[g.Arch]
	s := Spec{
		Name: g.NVML, Architecture: gen.name, GeForce: strings.Contains(g.NVML, "GeForce"), HBM: g.BusBits >= busHBM,
		SMClock: float64(g.MaxClock) * 1e6, IdleClock: gen.idleClock * 1e6, MemoryClock: float64(g.MemoryClock) * 1e6, MemoryIdleClock: 405e6,
		Memory: g.Memory, Bandwidth: g.Bandwidth,
		Watts: g.PowerLimit, WattsMin: g.PowerMin, WattsMax: g.PowerMax, Idle: g.PowerIdle,
		Operating: g.MaxOperating, Slowdown: g.Slowdown,
		LinkBandwidth: g.Link(), PCIeGeneration: g.PCIeGen, PCIeWidth: g.PCIeLanes,
	}
	each := gen.gddr
	if s.HBM {
		each, s.MemoryIdleClock = gen.hbm, s.MemoryClock
	}
	s.Hunger = each * float64(g.SMs) * float64(g.MaxClock) / 1000
	if g.NVLink > 0 {
		s.NVLinks = int(g.NVLink/2/gen.link + 0.5)
	}
	return s
}

// monitored says that it has the performance monitor (GPM): Hopper and newer (nvml.h).
func (s *Spec) monitored() bool { return s.Architecture == "hopper" || s.Architecture == "blackwell" }

// margin says that the driver tells how far it is from slowing down: Ada and newer, servers'
// boards; the others tell at which temperature they do.
func (s *Spec) margin() bool { return s.Architecture != "ampere" && !s.GeForce }

// averages says that the power of the last second is told beside that of now. The chip of A100
// and A30, the only one of its generation with HBM, does not (nvml.h, nvmlDeviceGetPowerUsage).
func (s *Spec) averages() bool { return !(s.Architecture == "ampere" && s.HBM) }
