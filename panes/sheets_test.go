package panes

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// fullHost is a sample in which every reading of GPUs and host is there: the first device
// is well, the second in trouble, the third lost.
func fullHost(i int) *probes.Sample {
	s := sample(i)
	grown := float64(i)
	at := s.Host.At
	g := devices(at)
	g.CUDA, g.ProcessesAt = "12.9", at
	for n := range g.Devices {
		d := &g.Devices[n]
		d.UUID = fmt.Sprintf("GPU-%d", n)
		allSeen(reflect.ValueOf(d).Elem(), 1)
		d.PCIeWidth, d.PCIeWidthMax, d.PCIeGeneration, d.PCIeGenerationMax = probes.Some(16.0), probes.Some(16.0), probes.Some(5.0), probes.Some(5.0)
		d.SMActiveRatio, d.SMOccupancyRatio, d.TensorActiveRatio, d.GraphicsActiveRatio = probes.Some(0.84), probes.Some(0.31), probes.Some(0.22), probes.Some(0.97)
		d.NVLinksActive, d.NVLinksTotal, d.RecoveryAction = probes.Some(18.0), probes.Some(18.0), probes.Some(0.0)
		d.RemapPending, d.RemapFailed, d.ECCUncorrectedTotal, d.XidTotal = probes.Some(0.0), probes.Some(0.0), probes.Some(0.0), probes.Some(uint64(0))
		d.ThrottlePowerSecondsTotal = probes.Some(0.4 * grown * float64(n))
		d.Architecture, d.PCIAddress, d.CPUs, d.Source, d.ActivityFrom = "hopper", "0000:5e:00.0", "0-31", "nvml", "gpm"
	}
	bad := &g.Devices[1]
	bad.XidTotal, bad.LastXid = probes.Some(uint64(2)), probes.Some(uint64(63))
	bad.PCIeWidth, bad.RemapPending, bad.RecoveryAction = probes.Some(8.0), probes.Some(1.0), probes.Some(1.0)
	bad.SMActiveRatio, bad.ActivityFrom = probes.None[float64](probes.Unsupported), ""
	gone := probes.GPUDevice{Index: 2, UUID: "GPU-2", Name: "NVIDIA H100 80GB HBM3", At: at.Add(-70 * time.Second), Err: "the GPU is lost: it has fallen off the bus"}
	asleep := probes.GPUDevice{At: at, Index: 3, UUID: "GPU-3", Name: "NVIDIA T4", Asleep: true}
	g.Devices = append(g.Devices, gone.WithoutReadings(probes.Lost), asleep.WithoutReadings(probes.Stale))
	part := probes.GPUDevice{At: at, Index: 0, UUID: "MIG-1", Name: "NVIDIA H100 MIG 1g.10gb", Instance: "1g.10gb", Parent: "GPU-0", MemoryUsedBytes: probes.Some(4.0 * (1 << 30)), MemoryTotalBytes: probes.Some(10.0 * (1 << 30))}
	g.Devices = append(g.Devices, part)
	g.KernelLog = "no permission to read /dev/kmsg"
	g.Links = []probes.GPULink{{From: 0, To: 1, Kind: "NV18"}, {From: 0, To: 2, Kind: "NV18"}, {From: 1, To: 2, Kind: "SYS"}}
	g.Processes = []probes.GPUProcess{{GPU: "GPU-0", PID: 4720, Name: "VLLM::Worker", MemoryBytes: probes.Some(60.0 * (1 << 30)), KernelActiveRatio: probes.Some(0.97)}, {GPU: "GPU-0", PID: 999, Name: "notebook", MemoryBytes: probes.Some(8.0 * (1 << 30))}}
	s.GPU = g

	h := s.Host
	allSeen(reflect.ValueOf(h).Elem(), grown)
	h.Kernel, h.Virtual, h.BootedAt, h.FullCores = "6.8.0-45-generic", "kvm", at.Add(-72*time.Hour), probes.Some(1.0)
	h.MemoryTotalBytes, h.MemoryAvailableBytes, h.SwapTotalBytes = probes.Some(64.0*(1<<30)), probes.Some(12.4*(1<<30)), probes.Some(0.0)
	h.BusiestCoreSecs, h.IOPressure.SomeSecondsTotal = probes.Some(0.99*grown), probes.Some(0.03*grown)
	h.NUMANodes = []probes.NUMANode{{Node: 0, CPUs: "0-31", MemoryFreeBytes: probes.Some(6.0 * (1 << 30))}, {Node: 1, CPUs: "32-63", MemoryFreeBytes: probes.Some(6.4 * (1 << 30))}}
	h.Disks = []probes.Disk{{Name: "nvme0n1", BusySecondsTotal: probes.Some(0.12 * grown), WaitSecondsTotal: probes.Some(0.9 * grown), ReadsTotal: probes.Some(300 * grown), WritesTotal: probes.Some(0.0), ReadBytesTotal: probes.Some(40e6 * grown), InFlight: probes.Some(2.0)}}
	h.Filesystems = []probes.Filesystem{{Mount: "/", TotalBytes: probes.Some(500.0 * (1 << 30)), FreeBytes: probes.Some(21.0 * (1 << 30))}, {Mount: "/models"}}
	h.NICs = []probes.NIC{{Name: "eth0", Kind: "ethernet", Up: true, RxBytesTotal: probes.Some(9e6 * grown), TxBytesTotal: probes.Some(2e6 * grown), SpeedBytesPerS: probes.Some(1.25e9), RxDropsTotal: probes.Some(3.0)}}

	p := s.Process
	allSeen(reflect.ValueOf(p).Elem(), grown)
	p.BlockedThreads, p.AllowedCPUs, p.CgroupPath, p.CPULimitCores = probes.Some(1.0), probes.Some(4.0), "/kubepods/pod1", probes.Some(4.0)
	p.Descriptors, p.DescriptorsLimit, p.ReadBytesTotal = probes.Some(812.0), probes.Some(1024.0), probes.None[float64](probes.NoPermission)
	p.Members = []probes.Member{{PID: 4711, Name: "vllm", Rank: "server", CPUSecondsTotal: probes.Some(0.4 * grown), RSSBytes: probes.Some(2.0 * (1 << 30)), Threads: probes.Some(42.0), AllowedCPUs: "0-3"},
		{PID: 4720, Parent: 4711, Name: "VLLM::Worker", Rank: "tp0", CPUSecondsTotal: probes.Some(0.97 * grown), RunWaitSecondsTotal: probes.Some(0.2 * grown), RSSBytes: probes.Some(9.0 * (1 << 30)), Threads: probes.Some(61.0), BlockedThreads: probes.Some(1.0), AllowedCPUs: "0-3"}}
	p.BusyThreads = []probes.Thread{{PID: 4720, TID: 4733, Name: "pt_main", State: "R", CPUSecondsTotal: probes.Some(0.95 * grown), RunWaitSecondsTotal: probes.Some(0.1 * grown)}}
	s.Sockets = &probes.Sockets{At: at, Connections: probes.Some(31.0), SendQueueBytes: probes.Some(2.5e6), RecvQueueBytes: probes.Some(0.0), Waiting: probes.Some(0.0), WaitingLimit: probes.Some(2048.0),
		Full: []probes.Connection{{Endpoint: "http://127.0.0.1:8000", Peer: "10.0.0.9:51344", SendQueueBytes: 2.4e6, StuckSeconds: probes.Some(41.0)}}}
	s.Neighbours = &probes.Neighbours{At: at.Add(-6 * time.Second), SpanSeconds: 10, Processes: 212, List: []probes.Neighbour{
		{PID: 77, Name: "node", User: "ci", CPUCores: probes.Some(1.9), RSSBytes: probes.Some(900.0 * (1 << 20)), SharedCPUs: probes.Some(4.0)}, {PID: 78, Name: "cron", User: "root", CPUCores: probes.Some(0.01)}}}
	s.Probes = append(s.Probes, probes.ProbeStatus{Name: "neighbours", At: s.Neighbours.At, LatencySeconds: probes.Some(0.004), EverySeconds: 10})
	return s
}

// allSeen gives every Opt of a struct that has none yet a value.
func allSeen(v reflect.Value, value float64) {
	for i := range v.NumField() {
		switch f := v.Field(i); o := f.Interface().(type) {
		case probes.Opt[float64]:
			if !o.Seen() {
				f.Set(reflect.ValueOf(probes.Some(value)))
			}
		case probes.Pressure:
			allSeen(f, value/20)
		}
	}
}

func hostFrame() Frame {
	ticks := calmTicks()
	for i := range ticks {
		ticks[i] = tickOf(fullHost(i), calm(i), healthy())
	}
	return Frame{Ticks: ticks, Title: title}
}

func TestHostSheets(t *testing.T) {
	keys := map[rune]sheet{'G': gpuSheet, 'H': hostSheet}
	for _, size := range [...]struct{ w, h int }{{40, 12}, {80, 24}, {160, 48}} {
		r := start(t, size.w, size.h, &recorder{})
		golden(t, fmt.Sprintf("gpus.%dx%d.screen", size.w, size.h), r.show(hostFrame()))
		for key, opened := range keys {
			shown := r.typed(key, func(a *App) bool { return a.sheet == opened })
			golden(t, fmt.Sprintf("%ssheet.%dx%d.screen", strings.ToLower(string(key)), size.w, size.h), shown)
		}
		r.typed('e', func(a *App) bool { return a.sheet == engineSheet })
		r.typed('e', func(a *App) bool { return a.sheet == noSheet })
	}
}

// What lies below the edge of the screen is held in full, as plain lines.
func TestHostSheetsInFull(t *testing.T) {
	v := newView(hostFrame(), 0, false)
	for name, rows := range map[string][]row{"gsheet.full.txt": gpuSheets(v, 100), "hsheet.full.txt": hostSheets(v, 100)} {
		var b strings.Builder
		for _, r := range rows {
			b.WriteString(strings.TrimRight(r.text(), " ") + "\n")
		}
		golden(t, name, b.String())
	}
}

// A sample of which nothing of the host is known makes a screen, too.
func TestSheetsOfNothing(t *testing.T) {
	s := sample(0)
	s.GPU, s.Host, s.Process = nil, nil, nil
	v := newView(Frame{Ticks: calmTicks()[:0:0]}, 0, false)
	v.Ticks = append(v.Ticks, tickOf(s, calm(0), healthy()))
	v = newView(v.Frame, 0, false)
	for _, rows := range [][]row{gpuSheets(v, 80), hostSheets(v, 80), engineSheets(v, 80)} {
		if len(rows) != 1 || strings.TrimSpace(rows[0].text()) == "" {
			t.Errorf("%v", rows)
		}
	}
}

// A slow probe's section is as old as its probe lets it be before it is called so.
func TestSlowProbesAreNotOld(t *testing.T) {
	v := newView(hostFrame(), 0, false)
	if age, isOld := v.age(v.tick.Point.Neighbours.At); isOld {
		t.Errorf("what is read every 10 s is called old after %v", age)
	}
	if _, isOld := v.age(v.at.Add(-40 * time.Second)); !isOld {
		t.Error("what is 40 s old is not called so")
	}
}

// The sheet of a GPU that is too hot says so, and names no more processes than can be read.
func TestGPUSheetOfAHotAndCrowdedDevice(t *testing.T) {
	d := probes.GPUDevice{UUID: "GPU-A", TemperatureMarginCelsius: probes.Some(-4.0)}
	v := &view{tick: &rules.Tick{Point: &probes.Point{Sample: &probes.Sample{}}}}
	if heat := strings.Join(deviceFacts{v, &d}.heat(), " "); heat != "4 °C above where it slows down" {
		t.Errorf("heat %q", heat)
	}
	g := &probes.GPU{}
	for pid := range 5000 {
		g.Processes = append(g.Processes, probes.GPUProcess{GPU: d.UUID, PID: pid})
	}
	if f := processFacts(v, g, &d); len(f) != mostGPUProcesses+1 || f[mostGPUProcesses] != "and 4988 more with less memory" {
		t.Errorf("%d facts, the last %q", len(f), f[len(f)-1])
	}
}
