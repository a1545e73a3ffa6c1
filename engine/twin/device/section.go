package device

import (
	"math"
	"time"

	"llmtop/probes"
)

// What the driver is, and how seldom it is asked what changes seldom.
const (
	driver = "580.95.05"
	cuda   = "13.0"
	seldom = 10 * time.Second

	gone = "the GPU is lost: it has fallen off the bus or is otherwise inaccessible (NVML error 15)"
)

// Section is what a probe reads of the GPUs at a time, which is that of the last Advance or soon
// after it. What is averaged is so since the section before. It is the caller's to keep.
func (f *Fleet) Section(at time.Time) *probes.GPU {
	at = probes.Stamp(at)
	out := &probes.GPU{At: at, Driver: driver, CUDA: cuda, Links: f.links}
	if len(f.gpus) == 0 {
		out.Driver, out.CUDA, out.Note = "", "", "no NVML device: the driver lists no GPU"
		return out
	}
	out.Devices = make([]probes.GPUDevice, len(f.gpus))
	for i := range f.gpus {
		f.read(i, at, &out.Devices[i])
	}
	f.list(at)
	out.Processes, out.ProcessesAt = f.listed.processes, f.listed.at
	return out
}

// read fills in one device.
func (f *Fleet) read(i int, at time.Time, out *probes.GPUDevice) {
	g := &f.gpus[i]
	if f.Lost(i) {
		*out = g.told.WithoutReadings(probes.Lost)
		out.Err = gone
	} else {
		if at.Sub(g.keptAt) >= seldom || g.keptAt.IsZero() {
			f.readSeldom(i)
			g.keptAt = at
		}
		*out = g.told
		out.At = at
		g.readNow(f, i, out)
		g.readActivity(&f.spec, out)
		g.told = *out
	}
	out.XidTotal, out.LastXid = probes.Some(g.faults.xids), g.faults.last
}

// readSeldom renews errors and links in what is told.
func (f *Fleet) readSeldom(i int) {
	g, s := &f.gpus[i], &f.spec
	d := &g.told
	ecc := func(v float64) probes.Opt[float64] { return unless(s.GeForce, v) }
	d.ECCCorrectedTotal, d.ECCUncorrectedTotal = ecc(g.faults.corrected), ecc(g.faults.uncorrected)
	d.RowsRemappedCorrected, d.RowsRemappedUncorrected = ecc(g.faults.remapped), ecc(g.faults.remappedBad)
	d.RemapPending, d.RemapFailed, d.RecoveryAction = ecc(g.faults.pending), ecc(g.faults.unrepaired), ecc(g.faults.action)
	generation := s.PCIeGeneration
	if g.idling && !s.HBM {
		generation = 1
	}
	d.PCIeGeneration, d.PCIeWidth = probes.Some(float64(generation)), probes.Some(f.lanes(i))
	d.PCIeReplaysTotal = probes.Some(math.Floor(g.total.replays))
	d.NVLinksActive, d.NVLinkErrorsTotal = d.NVLinksTotal, d.NVLinksTotal
	if d.NVLinksTotal.Seen() {
		down := max(g.faults.linksDown, int((1-min(g.nvlink, 1))*float64(s.NVLinks)+1e-9))
		d.NVLinksActive = probes.Some(float64(max(s.NVLinks-down, 0)))
		d.NVLinkErrorsTotal = probes.Some(math.Floor(g.faults.links))
	}
}

// unless is a reading that some boards do not have.
func unless(lacks bool, v float64) probes.Opt[float64] {
	if lacks {
		return probes.None[float64](probes.Unsupported)
	}
	return probes.Some(v)
}

// readNow fills in what is asked for each time.
func (g *gpu) readNow(f *Fleet, i int, d *probes.GPUDevice) {
	s := &f.spec
	own, other := g.holds(i, f)
	d.KernelActiveRatio, d.MemoryActiveRatio = probes.Some(percent(g.util.kernelLast)), probes.Some(percent(g.util.memLast))
	d.MemoryUsedBytes = probes.Some(math.Round(own + other + g.floor))
	d.PowerWatts = probes.Some(milli(g.watts * (1 + 0.01*f.noise.NormFloat64())))
	d.PowerAverageWatts = unless(!s.averages(), milli(g.average*(1+0.003*f.noise.NormFloat64())))
	d.PowerLimitWatts = probes.Some(g.limit)
	d.EnergyJoulesTotal = probes.Some(milli(g.total.joules))
	clock := g.clock
	if g.byPower+g.byHeat > 0 && !g.idling {
		clock = min(clock*(1+0.008*f.noise.NormFloat64()), 1)
	}
	d.SMClockHertz = probes.Some(max(math.Round(clock*s.SMClock/clockStep), 1) * clockStep)
	memory, state := s.MemoryClock, 0.0
	if g.idling && s.MemoryIdleClock < s.MemoryClock {
		memory, state = s.MemoryIdleClock, 8
	}
	d.MemoryClockHertz, d.PerformanceState = probes.Some(memory), probes.Some(state)
	d.ThrottleBits = probes.Some(g.reasons(f))
	d.TemperatureCelsius = probes.Some(math.Round(g.celsius + 0.3*f.noise.NormFloat64()))
	d.MemoryTemperatureCelsius = unless(!s.HBM, math.Round(g.memory))
	d.TemperatureMarginCelsius = unless(!s.margin(), math.Round(s.Operating-g.celsius))
	counted := func(v float64) probes.Opt[float64] { return unless(s.GeForce, v) }
	d.ThrottlePowerSecondsTotal, d.ThrottleThermalSecondsTotal = counted(g.total.power), counted(g.total.swThermal)
	d.ThrottleSyncSecondsTotal, d.ThrottleSWThermalSecondsTotal = counted(0), counted(g.total.swThermal)
	d.ThrottleHWThermalSecondsTotal, d.ThrottleBrakeSecondsTotal = counted(g.total.hwThermal), counted(g.total.brake)
}

const clockStep = 15e6 // Hz

func percent(ratio float64) float64 { return math.Round(100*min(max(ratio, 0), 1)) / 100 }
func milli(v float64) float64       { return math.Round(v*1000) / 1000 }

// reasons are the bits of what holds the clocks down at this moment: a limit that is felt in
// part of the time is caught in as many of the readings.
func (g *gpu) reasons(f *Fleet) (bits uint64) {
	power, heat := f.noise.Float64() < g.byPower, f.noise.Float64() < g.byHeat
	if g.idling {
		return probes.ThrottleIdle
	}
	for _, r := range [...]struct {
		holds bool
		bits  uint64
	}{
		{power, probes.ThrottlePowerCap}, {heat, probes.ThrottleSWThermal},
		{g.hot, probes.ThrottleHWSlowdown | probes.ThrottleHWThermal},
		{g.braked, probes.ThrottleHWSlowdown | probes.ThrottlePowerBrake},
		{g.locked && g.lockTold, probes.ThrottleAppClocks},
	} {
		if r.holds {
			bits |= r.bits
		}
	}
	return bits
}

// readActivity fills in what the performance monitor measured since the section before, and what
// counters of the links say where there is none.
func (g *gpu) readActivity(s *Spec, d *probes.GPUDevice) {
	t, u := &g.total, &g.seen
	dt := (t.at - u.at).Seconds()
	if dt <= 0 {
		return // as the last time: samples are too near
	}
	link := probes.None[float64](probes.Unsupported)
	if s.NVLinks > 0 {
		link = probes.Some((t.link - u.link) / dt)
	}
	pcie, copied := (t.pcie-u.pcie)/dt, (t.copied-u.copied)/dt
	d.NVLinkTxBytesPerS, d.NVLinkRxBytesPerS = link, link
	if s.monitored() {
		cycles := t.cycles - u.cycles
		of := func(now, before float64) probes.Opt[float64] { return probes.Some(min((now-before)/cycles, 1)) }
		d.GraphicsActiveRatio, d.SMActiveRatio = of(t.graphics, u.graphics), of(t.sm, u.sm)
		d.SMOccupancyRatio, d.TensorActiveRatio = of(t.occupancy, u.occupancy), of(t.tensor, u.tensor)
		d.DRAMActiveRatio = probes.Some(min((t.dram-u.dram)/dt, 1))
		d.PCIeRxBytesPerS, d.PCIeTxBytesPerS = probes.Some(0.7*pcie+copied+housekeeping), probes.Some(0.3*pcie+housekeeping)
		if s.NVLinks == 0 { // what goes to other GPUs goes over PCIe, and as much comes
			over := (t.link - u.link) / dt
			d.PCIeRxBytesPerS, d.PCIeTxBytesPerS = probes.Some(d.PCIeRxBytesPerS.Or(0)+over), probes.Some(d.PCIeTxBytesPerS.Or(0)+over)
		}
		d.ActivityFrom = "gpm"
	}
	g.seen = *t
}

// housekeeping is what goes over PCIe all the time, bytes/s.
const housekeeping = 300e3

// sample adds a step to the driver's utilisation, which it gives of its last whole period.
func (g *gpu) sample(d, period time.Duration) {
	u, a, dt := &g.util, &g.last, d.Seconds()
	memory := min(g.memoryTime*a.dram, a.kernel)
	u.kernel += a.kernel * dt
	u.memory += memory * dt
	u.own += a.own * dt
	u.other += a.other * dt
	u.ownMem += g.memoryTime * a.ownDRAM * dt
	u.otherMem += g.memoryTime * a.otherDRAM * dt
	u.since += d
	if u.open += d; u.open >= period {
		u.kernelLast, u.memLast = u.kernel/u.open.Seconds(), u.memory/u.open.Seconds()
		u.kernel, u.memory, u.open = 0, 0, 0
	}
}
