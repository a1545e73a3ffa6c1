package machine

import (
	"math"
	"time"

	"llmtop/probes"
)

// told is what the probes remember from one reading to the next.
type told struct {
	at       time.Time // of the reading before
	pid      int       // of the process that the section is named after
	sum      counters  // of all members, since pid was first seen
	busiest  float64
	blocked  float64
	allowed  float64 // busy seconds of the cores that engines may run on
	cpu      []float64
	core     float64      // of the busiest core of each interval
	measured bool         // there was a reading before
	fresh    bool         // the first one of this process
	busy     []busyThread // scratch
}

// Sections is what the probes read at this moment: the host; the engines' processes, nil when
// none is there; the others, looked at rarely; the connections.
func (h *Host) Sections(at time.Time) (*probes.Host, *probes.Process, *probes.Neighbours, *probes.Sockets) {
	seconds := max(0, at.Sub(h.told.at).Seconds())
	process := h.processSection(at, seconds)
	host := h.hostSection(at, seconds)
	host.Blocked = probes.Some(h.blockedOthers())
	if process != nil {
		host.Blocked = probes.Some(process.BlockedThreads.Or(0) + host.Blocked.Or(0))
	}
	neighbours := h.neighbours.look(h, at)
	sockets := h.socketSection(at)
	copy(h.told.cpu, h.cores.busy)
	h.told.at, h.told.measured = at, true
	return host, process, neighbours, sockets
}

func (h *Host) hostSection(at time.Time, seconds float64) *probes.Host {
	m, d, n := &h.memory, &h.disk, &h.network
	busy, busiest, full := h.coreReadings(seconds)
	h.told.core += busiest
	none := probes.Some(0.0)
	s := &probes.Host{
		At: probes.Stamp(at), CPUs: h.Cores, Kernel: "6.8.0-45-generic", Virtual: "kvm",
		BootedAt:            probes.Stamp(h.Start.Add(-time.Duration(h.uptime * float64(time.Second))).Truncate(time.Second)),
		CPUBusySecondsTotal: ticks(busy), CPUStealSecondsTotal: ticks(h.seconds.steal), CPUWaitSecondsTotal: ticks(h.seconds.diskWait),
		Load1: probes.Some(math.Round(h.load1*100) / 100), Runnable: probes.Some(1 + h.noise.count(max(0, h.runnable))),
		BusiestCoreSecs: ticks(h.told.core), FullCores: full,
		MemoryTotalBytes: whole(h.MemoryBytes), MemoryAvailableBytes: whole(max(64*mib, m.available)),
		SwapTotalBytes: whole(m.swap), SwapFreeBytes: whole(m.free), SwapInTotal: whole(m.in), SwapOutTotal: whole(m.out),
		DirtyBytes: whole(m.dirty), MajorFaultsTotal: whole(m.majorFaults), OOMKillsTotal: none,
		CPUPressure: h.stalls.cpu.told(), MemoryPressure: h.stalls.memory.told(), IOPressure: h.stalls.io.told(),
		TCPSegmentsTotal: whole(n.segments), TCPRetransmitsTotal: whole(n.again), TCPListenOverflowsTotal: none,
		NUMANodes: h.nodesTold(), NICs: n.nics(h),
		Disks: []probes.Disk{{Name: "nvme0n1", ReadBytesTotal: whole(d.readBytes), WriteBytesTotal: whole(d.writeBytes), ReadsTotal: whole(d.reads), WritesTotal: whole(d.writes),
			BusySecondsTotal: milli(d.busy), WaitSecondsTotal: milli(d.wait), InFlight: probes.Some(h.noise.count(d.queue))}},
		Filesystems: []probes.Filesystem{
			{Mount: "/", TotalBytes: whole(d.total), FreeBytes: whole(d.freeRoot - (d.writeBytes-h.writes*h.uptime*24*kib)*0.1)},
			{Mount: "/dev/shm", TotalBytes: whole(h.MemoryBytes / 2), FreeBytes: whole(h.MemoryBytes/2 - 0.2*gib*float64(h.Replicas))},
		},
	}
	return s
}

// coreReadings are the busy seconds of all cores, those of the busiest one since the reading
// before, and how many were full in between.
func (h *Host) coreReadings(seconds float64) (busy, busiest float64, full probes.Opt[float64]) {
	if h.told.cpu == nil {
		h.told.cpu = make([]float64, h.Cores)
	}
	count := 0.0
	for i, b := range h.cores.busy {
		busy += b
		gain := b - h.told.cpu[i]
		busiest = max(busiest, gain)
		if seconds > 0 && gain >= fullCore*seconds {
			count++
		}
	}
	if h.told.measured && seconds > 0 {
		full = probes.Some(count)
	}
	return busy, busiest, full
}

// fullCore is how busy a core is that counts as full, as probes/host has it.
const fullCore = 0.95

// blockedOthers is how many tasks beside the engines' are in uninterruptible sleep.
func (h *Host) blockedOthers() float64 {
	return h.noise.count(0.1*h.disk.queue*min(1, h.disk.latency/blockedFromDisk) + 2*h.slowBy.waits)
}

func (h *Host) nodesTold() []probes.NUMANode {
	list := make([]probes.NUMANode, len(h.nodes))
	each := 1 / float64(len(h.nodes))
	for i := range h.nodes {
		free := max(16*mib, h.memory.available*each*0.4) // the rest holds files
		list[i] = probes.NUMANode{Node: i, CPUs: h.nodes[i].cpus, MemoryTotalBytes: whole(h.MemoryBytes * each), MemoryFreeBytes: whole(free)}
	}
	return list
}

// told is what the kernel writes of it: microseconds, and percent with two digits.
func (s *stall) told() probes.Pressure {
	micro := func(v float64) probes.Opt[float64] { return probes.Some(math.Floor(v*1e6) / 1e6) }
	return probes.Pressure{SomeSecondsTotal: micro(s.some), FullSecondsTotal: micro(s.full), SomeAvg10Ratio: probes.Some(math.Round(s.avg*1e4) / 1e4)}
}

// ticks are seconds as the kernel counts CPU time, hundredths; milli are thousandths.
func ticks(v float64) probes.Opt[float64] { return probes.Some(math.Floor(v*100) / 100) }
func milli(v float64) probes.Opt[float64] { return probes.Some(math.Floor(v*1000) / 1000) }
