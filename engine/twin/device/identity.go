package device

import (
	"fmt"
	"math/rand/v2"

	"llmtop/probes"
)

// buses are those of the eight GPUs of a usual server, four to a socket.
var buses = [...]int{0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf}

// identify fills in what of a device never changes.
func (g *gpu) identify(s *Spec, rng *rand.Rand, i int, c Config) {
	node, cpus := c.near(i)
	g.reserved = c.DriverMemory
	if g.reserved == 0 {
		g.reserved = 0.0075 * s.Memory
	}
	g.floor = float64(3+rng.IntN(2)) * (1 << 20)
	g.otherHolds = (0.03 + 0.05*rng.Float64()) * s.Memory
	domain, bus := i/len(buses), buses[i%len(buses)]
	g.told = probes.GPUDevice{
		Index: i, UUID: uuid(rng), Name: s.Name, Source: probes.SourceNVML, Architecture: s.Architecture,
		PCIAddress: fmt.Sprintf("%04x:%02x:00.0", domain, bus), CPUs: cpus,
		MemoryTotalBytes: probes.Some(s.Memory), MemoryReservedBytes: probes.Some(g.reserved),
		PowerDefaultWatts: probes.Some(s.Watts), SMClockMaxHertz: probes.Some(s.SMClock), MemoryClockMaxHz: probes.Some(s.MemoryClock),
		TemperatureSlowdownCelsius: unless(s.margin(), s.Slowdown),
		PCIeGenerationMax:          probes.Some(float64(s.PCIeGeneration)), PCIeWidthMax: probes.Some(float64(s.PCIeWidth)),
		NVLinksTotal: unless(s.NVLinks == 0, float64(s.NVLinks)), NUMANode: probes.Some(float64(node)),
	}
	if !s.monitored() {
		for _, r := range []*probes.Opt[float64]{&g.told.GraphicsActiveRatio, &g.told.SMActiveRatio, &g.told.SMOccupancyRatio, &g.told.TensorActiveRatio,
			&g.told.DRAMActiveRatio, &g.told.PCIeTxBytesPerS, &g.told.PCIeRxBytesPerS} {
			*r = probes.None[float64](probes.Unsupported)
		}
	}
}

func uuid(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("GPU-%08x-%04x-%04x-%04x-%012x", uint32(a>>32), uint16(a>>16), uint16(a), uint16(b>>48), b&(1<<48-1))
}

// near is where on the host a GPU is.
func (c *Config) near(i int) (node int, cpus string) {
	if c.Near == nil {
		return 0, ""
	}
	return c.Near(i)
}

// links are the nearest ways between the GPUs: NVLinks through switches where a board has them,
// else a switch for each two, the socket, the other socket.
func links(s *Spec, c Config) (all []probes.GPULink) {
	for from := range c.GPUs {
		here, _ := c.near(from)
		for to := from + 1; to < c.GPUs; to++ {
			there, _ := c.near(to)
			kind := "SYS"
			switch {
			case s.NVLinks > 0:
				kind = fmt.Sprintf("NV%d", s.NVLinks)
			case from/2 == to/2:
				kind = "PIX"
			case here == there:
				kind = "NODE"
			}
			all = append(all, probes.GPULink{From: from, To: to, Kind: kind})
		}
	}
	return all
}
