package rules

import (
	"testing"
	"time"

	"llmtop/probes"
)

// hostStory computes the signals after as many seconds of samples with a host and a process.
func hostStory(seconds int, at func(second float64, s *probes.Sample)) Signals {
	var samples []*probes.Sample
	for i := range seconds + 1 {
		s := sample(float64(i))
		s.Host, s.Process = &probes.Host{At: s.At, CPUs: 4}, &probes.Process{At: s.At, PID: 5}
		at(float64(i), s)
		samples = append(samples, s)
	}
	return signalsOf(samples...)
}

func TestHostReadings(t *testing.T) {
	s := hostStory(20, func(i float64, s *probes.Sample) {
		h := s.Host
		h.FullCores, h.Runnable, h.Blocked = probes.Some(1.0), probes.Some(9.0), probes.Some(2.0)
		h.BusiestCoreSecs, h.CPUStealSecondsTotal, h.CPUWaitSecondsTotal = probes.Some(0.9*i), probes.Some(0.2*i), probes.Some(0.4*i)
		h.IOPressure = probes.Pressure{SomeSecondsTotal: probes.Some(0.3 * i), FullSecondsTotal: probes.Some(0.1 * i)}
		h.SwapInTotal, h.SwapOutTotal, h.OOMKillsTotal = probes.Some(50*i), probes.None[float64](probes.NotExposed), probes.Some(4.0)
		if i > 15 {
			h.OOMKillsTotal = probes.Some(6.0)
		}
		h.TCPSegmentsTotal, h.TCPRetransmitsTotal, h.TCPListenOverflowsTotal = probes.Some(1000*i), probes.Some(20*i), probes.Some(0.0)
		h.Disks = []probes.Disk{
			{Name: "sda", BusySecondsTotal: probes.Some(0.2 * i), WaitSecondsTotal: probes.Some(0.5 * i), ReadsTotal: probes.Some(90 * i), WritesTotal: probes.Some(10 * i)},
			{Name: "sdb", BusySecondsTotal: probes.Some(0.7 * i), WaitSecondsTotal: probes.Some(0.0), ReadsTotal: probes.Some(0.0), WritesTotal: probes.Some(0.0)}, // asked nothing
		}
		h.Filesystems = []probes.Filesystem{{Mount: "/", TotalBytes: probes.Some(100.0), FreeBytes: probes.Some(40.0)}, {Mount: "/tmp", TotalBytes: probes.Some(100.0), FreeBytes: probes.Some(5.0)},
			{Mount: "/nfs", TotalBytes: probes.None[float64](probes.Stale)}}
		h.NICs = []probes.NIC{
			{Name: "eth0", Kind: "ethernet", Up: true, RxBytesTotal: probes.Some(1e6 * i), TxBytesTotal: probes.Some(8e6 * i), SpeedBytesPerS: probes.Some(1e7), RxDropsTotal: probes.Some(i), TxDropsTotal: probes.Some(2 * i)},
			{Name: "eth1", Kind: "ethernet", Up: true, RxBytesTotal: probes.Some(5e6 * i), TxBytesTotal: probes.Some(0.0)},
			{Name: "veth", Kind: "virtual", Up: true, RxBytesTotal: probes.Some(9e9 * i), SpeedBytesPerS: probes.Some(1e9)},
		}
	})
	for name, want := range map[string]float64{"host.cpu_full_cores": 1, "host.runnable": 9, "host.blocked": 2, "host.busiest_core": 0.9, "host.steal": 0.05, "host.iowait": 0.1,
		"host.io_pressure": 0.3, "host.io_stalled": 0.1, "host.swap_in": 50, "host.oom_kills": 2, "host.retransmits": 0.02, "host.listen_overflows": 0,
		"host.disk_busy": 0.7, "host.disk_wait": 0.005, "host.disk_free": 0.05, "host.net_rx": 5e6, "host.net_tx": 8e6, "host.net_share": 0.8, "host.net_drops": 3} {
		near(t, s, name, want)
	}
	absent(t, s, "host.swap_out", probes.NotExposed)
}

// What the hypervisor takes is in the busy time of /proc/stat already: it counts once.
func TestStolenCoresCountOnce(t *testing.T) {
	s := hostStory(10, func(i float64, s *probes.Sample) {
		s.Host.CPUBusySecondsTotal, s.Host.CPUStealSecondsTotal = probes.Some(2*i), probes.Some(0.5*i)
		s.Process.CPUSecondsTotal = probes.Some(0.8 * i)
	})
	for name, want := range map[string]float64{"host.cpu_busy": 0.5, "host.steal": 0.125, "host.other_cpu": 1.2, "host.other_share": 0.3} {
		near(t, s, name, want)
	}
}

func TestHostReadingsThatCannotBeHad(t *testing.T) {
	s := hostStory(3, func(i float64, s *probes.Sample) {
		s.Host.TCPSegmentsTotal, s.Host.TCPRetransmitsTotal = probes.Some(10*i), probes.Some(5*i)
		s.Host.NICs = []probes.NIC{{Name: "veth", Kind: "virtual", Up: true, RxBytesTotal: probes.Some(7 * i), SpeedBytesPerS: probes.None[float64](probes.NotExposed)}}
		s.Host.Disks = []probes.Disk{{Name: "sda", BusySecondsTotal: probes.None[float64](probes.NoPermission)}}
	})
	absent(t, s, "host.retransmits", probes.NotSeen) // of ten segments half is nothing
	near(t, s, "host.net_rx", 7)                     // there is no other interface
	absent(t, s, "host.net_share", probes.NotExposed)
	absent(t, s, "host.disk_busy", probes.NoPermission)
	absent(t, s, "host.disk_free", probes.NotSeen)
	old := sample(100)
	old.Host, old.Process = &probes.Host{At: at(60), CPUs: 4, Blocked: probes.Some(1.0), SwapInTotal: probes.Some(1.0), OOMKillsTotal: probes.Some(1.0)}, &probes.Process{At: at(60), PID: 5, CPUSecondsTotal: probes.Some(1.0)}
	old.Sockets, old.Neighbours = &probes.Sockets{At: at(60), Connections: probes.Some(1.0)}, &probes.Neighbours{At: at(60), SpanSeconds: 10}
	s = signalsOf(old)
	for _, name := range []string{"host.blocked", "host.swap_in", "host.oom_kills", "host.disk_busy", "host.disk_free", "process.cpu_cores", "process.gil_suspects", "socket.connections", "neighbour.cpu"} {
		absent(t, s, name, probes.Stale)
	}
	for _, name := range []string{"host.blocked", "process.cpu_limit", "process.oom_kills", "process.numa_remote", "socket.stuck", "neighbour.count"} {
		absent(t, signalsOf(sample(0)), name, probes.NotSeen)
	}
}

// A disk that began anew (it was pulled and put back) has done nothing yet.
func TestDiskThatBeganAnew(t *testing.T) {
	s := hostStory(3, func(i float64, s *probes.Sample) {
		s.Host.Disks = []probes.Disk{{Name: "sda", BusySecondsTotal: probes.Some(100 - 20*i)}}
	})
	absent(t, s, "host.disk_busy", probes.NotSeen)
}

// Of the cores that an engine is confined to others take what the engine does not.
func TestCoresTakenFromTheEngine(t *testing.T) {
	for _, c := range []struct {
		name           string
		cores, allowed float64 // busy a second
		want           float64
	}{
		{"confined to two", 2, 1.9, 0.55},
		{"its own work is elsewhere", 2, 0.5, 0},
		{"confined to one of two a moment ago", 1, 1.9, 1},
		{"not known to which", 0, 0, 0.8},
	} {
		s := hostStory(10, func(i float64, s *probes.Sample) {
			s.Host.CPUBusySecondsTotal, s.Process.CPUSecondsTotal = probes.Some(4*i), probes.Some(0.8*i)
			if c.cores > 0 {
				s.Process.AllowedCPUs, s.Process.AllowedBusySecondsTotal = probes.Some(c.cores), probes.Some(c.allowed*i)
			}
		})
		if got := s.Get("process.allowed_taken").Or(-1); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestProcessReadings(t *testing.T) {
	s := hostStory(10, func(i float64, s *probes.Sample) {
		p := s.Process
		p.BusiestThreadSecs, p.VoluntarySwitchesTotal, p.BlockedSecondsTotal, p.MajorFaultsTotal = probes.Some(1.01*i), probes.Some(300*i), probes.Some(0.5*i), probes.Some(7*i)
		p.Descriptors, p.DescriptorsLimit, p.ReadBytesTotal = probes.Some(900.0), probes.Some(1000.0), probes.Some(1e6*i)
		p.CgroupThrottledSecTotal, p.CPULimitCores = probes.Some(1.5*i), probes.Some(2.0)
		p.MemoryLimitBytes, p.MemoryLimitUsedBytes, p.CgroupOOMKillsTotal = probes.Some(8e9), probes.Some(6e9), probes.Some(0.0)
		p.AllowedCPUs, p.AllowedBusySecondsTotal = probes.Some(2.0), probes.Some(1.8*i)
		p.CgroupPeriodsTotal, p.CgroupThrottledTotal = probes.Some(0.0), probes.Some(0.0) // nothing ran
	})
	for name, want := range map[string]float64{"process.busiest_thread": 1, "process.switches": 300, "process.blocked": 0.5, "process.major_faults": 7, "process.descriptors": 0.9,
		"process.disk_read": 1e6, "process.throttled_time": 1.5, "process.cpu_limit": 2, "process.memory_of_limit": 0.75, "process.oom_kills": 0, "process.cpus_allowed": 2, "process.allowed_busy": 0.9} {
		near(t, s, name, want)
	}
	absent(t, s, "process.throttled", probes.NotSeen)
}

func TestThreadsThatTakeTurnsAreSuspected(t *testing.T) {
	for _, c := range []struct {
		name            string
		cores, switches float64
		threads         []float64 // cores of each
		want            float64
	}{
		{"four threads of one interpreter", 0.99, 669, []float64{0.3, 0.25, 0.24, 0.2}, 1},
		{"threads are not told", 0.99, 669, nil, 1},
		{"one thread that does it all", 1, 500, []float64{0.98, 0.02}, 0},
		{"one thread, others asleep", 0.9, 500, []float64{0.88, 0.02}, 0},
		{"few switches: native code", 1, 20, []float64{0.5, 0.5}, 0},
		{"two cores", 2, 900, []float64{0.5, 0.5, 0.5, 0.5}, 0},
		{"half a core", 0.5, 900, []float64{0.3, 0.2}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hostStory(10, func(i float64, s *probes.Sample) {
				s.Process.Members = []probes.Member{{PID: 5, CPUSecondsTotal: probes.Some(0.1 * i), VoluntarySwitchesTotal: probes.Some(i)},
					{PID: 9, CPUSecondsTotal: probes.Some(c.cores * i), VoluntarySwitchesTotal: probes.Some(c.switches * i), Threads: probes.Some(8.0)}}
				for j, share := range c.threads {
					s.Process.BusyThreads = append(s.Process.BusyThreads, probes.Thread{PID: 9, TID: 10 + j, CPUSecondsTotal: probes.Some(share * i)})
				}
			})
			near(t, s, "process.gil_suspects", c.want)
		})
	}
	s := hostStory(10, func(i float64, s *probes.Sample) {
		s.Process.Members = []probes.Member{{PID: 5, CPUSecondsTotal: probes.Some(i), VoluntarySwitchesTotal: probes.None[float64](probes.NoPermission)}}
	})
	absent(t, s, "process.gil_suspects", probes.NoPermission)
}

func TestCoresFarFromTheGPU(t *testing.T) {
	for _, c := range []struct {
		name          string
		allowed, near string
		want          float64
	}{
		{"bound to the near node", "0-15,32-47", "0-31,32-63", 0}, {"bound to the far one", "64-127", "0-63", 1}, {"not bound", "0-127", "0-63", 0.5}, {"one of four", "62-65", "0-62", 0.75},
		{"no list of cores", "", "0-63", -1}, {"no nearness", "0-7", "", -1}, {"garbage", "0-7,x", "0-63", -1}, {"a range that goes back", "9-7", "0-63", -1}, {"more than there can be", "0-99999999999", "0-63", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := gpuStory(1, func(i int, s *probes.Sample) {
				board(s, "a").CPUs = c.near
				s.Process = &probes.Process{At: s.At, PID: 5, Members: []probes.Member{{PID: 5, AllowedCPUs: "0-127"}, {PID: 7, AllowedCPUs: c.allowed}}}
				uses(s, "a", 7, 1e9)
			})
			if c.want < 0 {
				absent(t, s, "process.numa_remote", probes.NotSeen)
				return
			}
			near(t, s, "process.numa_remote", c.want)
		})
	}
	s := gpuStory(1, func(i int, s *probes.Sample) { // an instance of a device that tells its node alone
		parent, m := board(s, "a"), board(s, "m")
		parent.NUMANode, m.Parent = probes.Some(1.0), "a"
		s.Host = &probes.Host{At: s.At, NUMANodes: []probes.NUMANode{{Node: 0, CPUs: "0-7"}, {Node: 1, CPUs: "8-15"}}}
		s.Process = &probes.Process{At: s.At, PID: 5, Members: []probes.Member{{PID: 5, AllowedCPUs: "0-9"}}}
		uses(s, "m", 5, 1e9)
	})
	near(t, s, "process.numa_remote", 0.8)
}

func TestSocketsAndNeighbours(t *testing.T) {
	s := sample(100)
	s.Sockets = &probes.Sockets{At: s.At, Connections: probes.Some(40.0), SendQueueBytes: probes.Some(5e6), RecvQueueBytes: probes.Some(0.0), Waiting: probes.Some(64.0), WaitingLimit: probes.Some(128.0),
		Full: []probes.Connection{{StuckSeconds: probes.Some(60.0)}, {StuckSeconds: probes.Some(6.0)}, {StuckSeconds: probes.Some(4.0)}, {}}}
	s.Neighbours = &probes.Neighbours{At: s.At.Add(-25 * time.Second), SpanSeconds: 10, List: []probes.Neighbour{
		{PID: 1, CPUCores: probes.Some(6.0), SharedCPUs: probes.Some(0.0)}, {PID: 2, CPUCores: probes.Some(1.5), SharedCPUs: probes.Some(4.0)},
		{PID: 3, CPUCores: probes.Some(0.4), SharedCPUs: probes.Some(1.0)}, {PID: 4, CPUCores: probes.Some(0.02), SharedCPUs: probes.Some(4.0)},
		{PID: 5, CPUCores: probes.Some(9.0), SharedCPUs: probes.None[float64](probes.NoPermission)}}}
	got := signalsOf(s)
	for name, want := range map[string]float64{"socket.connections": 40, "socket.send_queue": 5e6, "socket.recv_queue": 0, "socket.backlog": 0.5, "socket.stuck": 2, "neighbour.cpu": 1.5, "neighbour.count": 2} {
		near(t, got, name, want)
	}
	s.Sockets, s.Neighbours = &probes.Sockets{At: s.At, Connections: probes.None[float64](probes.NoPermission)}, &probes.Neighbours{At: s.At, SpanSeconds: 10}
	got = signalsOf(s)
	absent(t, got, "socket.stuck", probes.NoPermission)
	near(t, got, "neighbour.cpu", 0)
	s.Neighbours = &probes.Neighbours{At: s.At, List: []probes.Neighbour{{PID: 5, CPUCores: probes.Some(9.0), SharedCPUs: probes.None[float64](probes.NoPermission)}}}
	absent(t, signalsOf(s), "neighbour.cpu", probes.NoPermission)
}
