package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

func readHost(t *testing.T, root string) *probes.Host {
	t.Helper()
	return readAgain(t, patient(root))
}

// patient is a probe that waits for what it reads, however busy this machine is.
func patient(root string, engines ...int) *Host {
	h := NewHost(root, func() []int { return engines })
	h.wait(time.Hour)
	return h
}

func readAgain(t *testing.T, h *Host) *probes.Host {
	t.Helper()
	section, err := h.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return section.(*probes.Host)
}

func made(v float64) probes.Opt[float64] { return probes.Some(v) }

var (
	notExposed   = probes.None[float64](probes.NotExposed)
	noPermission = probes.None[float64](probes.NoPermission)
	stale        = probes.None[float64](probes.Stale)
)

func TestHost(t *testing.T) {
	h := readHost(t, tree(t, "host.txtar"))
	// 100 ticks a second: user 1000, nice 200, system 300, interrupts 20 and 30, steal 40; guest is inside user.
	want := probes.Host{
		At: h.At, CPUs: 4,
		CPUBusySecondsTotal: made(15.9), CPUStealSecondsTotal: made(0.4), CPUWaitSecondsTotal: made(5.0),
		Load1: made(3.25), MemoryTotalBytes: made(16000000 * 1024), MemoryAvailableBytes: made(6000000 * 1024),
		SwapInTotal:    made(17),
		CPUPressure:    probes.Pressure{SomeSecondsTotal: made(2.5), FullSecondsTotal: made(0), SomeAvg10Ratio: made(0.125)},
		MemoryPressure: probes.Pressure{SomeSecondsTotal: made(0.001), FullSecondsTotal: made(0.0005), SomeAvg10Ratio: made(0)},
		IOPressure:     probes.Pressure{SomeSecondsTotal: made(0.75), FullSecondsTotal: made(0.25), SomeAvg10Ratio: made(0.01)},

		Kernel: "6.8.0-45-generic", BootedAt: time.Unix(1796000000, 0).UTC(),
		BusiestCoreSecs: made(3.98), Runnable: made(3), Blocked: made(1),
		SwapTotalBytes: made(2000000 * 1024), SwapFreeBytes: made(1500000 * 1024), SwapOutTotal: made(23), DirtyBytes: made(1 << 20),
		MajorFaultsTotal: made(321), OOMKillsTotal: made(2),
		TCPSegmentsTotal: made(700), TCPRetransmitsTotal: made(8), TCPListenOverflowsTotal: made(5),
		NUMANodes: []probes.NUMANode{
			{Node: 0, CPUs: "0-1", MemoryTotalBytes: made(8000000 * 1024), MemoryFreeBytes: made(600000 * 1024)},
			{Node: 1, CPUs: "2-3", MemoryTotalBytes: made(8000000 * 1024), MemoryFreeBytes: made(400000 * 1024)},
		},
		Disks: h.Disks, Filesystems: h.Filesystems, NICs: h.NICs, // see the tests of their own
	}
	if !reflect.DeepEqual(*h, want) || h.At.IsZero() {
		t.Errorf("got  %+v\nwant %+v", *h, want)
	}
	if len(h.Disks) == 0 || len(h.Filesystems) == 0 || len(h.NICs) == 0 {
		t.Errorf("%d disks, %d file systems, %d interfaces", len(h.Disks), len(h.Filesystems), len(h.NICs))
	}
}

func TestHostInContainer(t *testing.T) {
	h := readHost(t, tree(t, "host-container.txtar"))
	if h.CPUs != 2 || h.CPUBusySecondsTotal.Or(-1) != 5 || h.Kernel != "" || h.Virtual != "" || h.NUMANodes != nil || h.Disks != nil {
		t.Errorf("got %+v", h)
	}
	for name, o := range map[string]probes.Opt[float64]{
		"load": h.Load1, "pressure": h.CPUPressure.SomeSecondsTotal, "swap": h.SwapTotalBytes, "dirty": h.DirtyBytes,
		"faults": h.MajorFaultsTotal, "kills": h.OOMKillsTotal, "segments": h.TCPSegmentsTotal, "overflows": h.TCPListenOverflowsTotal,
	} {
		if o != notExposed {
			t.Errorf("%s: %+v, want not exposed", name, o)
		}
	}
	want := []probes.NIC{{Name: "eth0", Up: true, RxBytesTotal: made(500), TxBytesTotal: made(600), Kind: "virtual",
		RxDropsTotal: made(0), TxDropsTotal: made(0), ErrorsTotal: made(0), SpeedBytesPerS: notExposed}}
	if !reflect.DeepEqual(h.NICs, want) {
		t.Errorf("got  %+v\nwant %+v", h.NICs, want)
	}
}

func TestVirtualHost(t *testing.T) {
	h := readHost(t, tree(t, "host-virtual.txtar"))
	if h.Virtual != "kvm" || h.CPUStealSecondsTotal.Or(-1) != 4 || h.CPUBusySecondsTotal.Or(-1) != 8 || h.BusiestCoreSecs.Or(-1) != 4 {
		t.Errorf("got %+v", h)
	}
	if len(h.NICs) != 1 || !h.NICs[0].Up || h.NICs[0].Kind != "ethernet" || h.NICs[0].SpeedBytesPerS != notExposed {
		t.Errorf("interfaces: %+v", h.NICs)
	}
}

// A system with next to nothing: one file is all that it takes.
func TestMinimalHost(t *testing.T) {
	root := t.TempDir()
	put(t, root, "proc/stat", "cpu  1 2 3 4 5\n")
	h := readHost(t, root)
	want := probes.Host{At: h.At, CPUBusySecondsTotal: made(0.06), CPUWaitSecondsTotal: made(0.05), CPUStealSecondsTotal: notExposed}
	none := probes.Pressure{SomeSecondsTotal: notExposed, FullSecondsTotal: notExposed, SomeAvg10Ratio: notExposed}
	want.CPUPressure, want.MemoryPressure, want.IOPressure = none, none, none
	for _, o := range []*probes.Opt[float64]{
		&want.Load1, &want.MemoryTotalBytes, &want.MemoryAvailableBytes, &want.SwapInTotal, &want.BusiestCoreSecs, &want.Runnable, &want.Blocked,
		&want.SwapTotalBytes, &want.SwapFreeBytes, &want.SwapOutTotal, &want.DirtyBytes, &want.MajorFaultsTotal, &want.OOMKillsTotal,
		&want.TCPSegmentsTotal, &want.TCPRetransmitsTotal, &want.TCPListenOverflowsTotal,
	} {
		*o = notExposed
	}
	h.Filesystems = nil // empty
	if !reflect.DeepEqual(*h, want) {
		t.Errorf("got  %+v\nwant %+v", *h, want)
	}
}

// Whatever a file holds, nothing of it becomes a reading, a 0 least of all.
func TestHostOfGarbage(t *testing.T) {
	for _, garbage := range []string{"", "\n\n", "x", "0", "Tcp: \nTcp:\nTcp:", "eth0:\n:\n: :\n", strings.Repeat("- ", 4000), "\xff\x00\x1b[31m 1 2 3\n", strings.Repeat("9", 300) + "\n", "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"} {
		root := tree(t, "host.txtar")
		whole := readHost(t, root)
		for _, path := range files(t, root) {
			if path != "proc/stat" {
				put(t, root, path, garbage)
			}
		}
		h := readHost(t, root)
		if h.CPUBusySecondsTotal != whole.CPUBusySecondsTotal {
			t.Errorf("%q: CPU time is lost with the rest", garbage)
		}
		for name, o := range map[string]probes.Opt[float64]{
			"memory": h.MemoryTotalBytes, "available": h.MemoryAvailableBytes, "swap": h.SwapTotalBytes, "free swap": h.SwapFreeBytes, "in": h.SwapInTotal,
			"out": h.SwapOutTotal, "dirty": h.DirtyBytes, "faults": h.MajorFaultsTotal, "kills": h.OOMKillsTotal,
			"segments": h.TCPSegmentsTotal, "again": h.TCPRetransmitsTotal, "overflows": h.TCPListenOverflowsTotal, "pressure": h.CPUPressure.SomeSecondsTotal,
		} {
			if o.Seen() {
				t.Errorf("%q: %s is %v", garbage, name, o)
			}
		}
		if len(h.Disks) > 0 || len(h.Filesystems) > 0 {
			t.Errorf("%q: %+v, %+v", garbage, h.Disks, h.Filesystems)
		}
		for _, n := range h.NUMANodes {
			if n.MemoryTotalBytes.Seen() || n.MemoryFreeBytes.Seen() || n.CPUs != "" && n.CPUs != "0" {
				t.Errorf("%q: %+v", garbage, n)
			}
		}
		for _, n := range h.NICs {
			if n.RxBytesTotal.Seen() && n.Kind != "infiniband" || n.Name != probes.Printable(n.Name, 32) {
				t.Errorf("%q: %+v", garbage, n)
			}
		}
	}
}

func TestHostWithGarbageForStat(t *testing.T) {
	for _, garbage := range []string{"", "cpu\n", "cpu 1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu x y z a b c d e\n", "cpu -1 1 1 1 1 1 1 1\n"} {
		root := t.TempDir()
		put(t, root, "proc/stat", garbage)
		if section, err := NewHost(root, nil).Read(context.Background()); section != nil || err == nil {
			t.Errorf("%q: %+v", garbage, section)
		}
	}
}

func TestHostWithoutPressure(t *testing.T) {
	root := tree(t, "host.txtar")
	for _, path := range []string{"proc/pressure", "proc/loadavg"} {
		remove(t, root, path)
	}
	put(t, root, "proc/pressure/io", "some avg10=x\n")
	h := readHost(t, root)
	for name, o := range map[string]probes.Opt[float64]{
		"cpu pressure": h.CPUPressure.SomeSecondsTotal, "memory pressure": h.MemoryPressure.FullSecondsTotal, "load": h.Load1,
	} {
		if o != notExposed {
			t.Errorf("%s: %+v, want not exposed", name, o)
		}
	}
	if o := h.IOPressure.SomeSecondsTotal; o.Seen() || o.Why() != probes.Unsupported {
		t.Errorf("unreadable pressure: %+v", o)
	}
}

// What changes slowly is read every ten seconds and stands in between.
func TestHostCarriesWhatIsDear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := tree(t, "host.txtar")
		h := NewHost(root, nil)
		readAgain(t, h)
		put(t, root, "sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 8000000 kB\nNode 0 MemFree: 1 kB\n")
		put(t, root, "sys/class/net/eth0/speed", "25000\n")
		for second := 1; second <= 10; second++ {
			<-time.After(time.Second)
			s := readAgain(t, h)
			free, speed := s.NUMANodes[0].MemoryFreeBytes.Or(-1), s.NICs[0].SpeedBytesPerS.Or(-1)
			if changed := second == 10; (free == 1024) != changed || (speed == 25e9/8) != changed {
				t.Errorf("after %d s: %v bytes free, %v bytes a second", second, free, speed)
			}
		}
	})
}

func TestHostWithoutProc(t *testing.T) {
	section, err := NewHost(t.TempDir(), nil).Read(context.Background())
	if section != nil || err == nil || !strings.HasPrefix(err.Error(), "reading the host's CPU times: ") {
		t.Errorf("got %v, %v", section, err)
	}
}

func TestThisHost(t *testing.T) {
	h := readHost(t, "")
	if h.CPUs < 1 || !h.CPUBusySecondsTotal.Seen() || !h.MemoryTotalBytes.Seen() || h.Kernel == "" || h.BootedAt.IsZero() || h.Runnable.Or(0) < 1 {
		t.Errorf("got %+v", h)
	}
}

func TestWhy(t *testing.T) {
	for err, want := range map[error]probes.Absence{
		os.ErrPermission: probes.NoPermission, os.ErrNotExist: probes.NotExposed,
		fmt.Errorf("x: %w", syscall.EOPNOTSUPP): probes.Unsupported, syscall.ESRCH: probes.Lost, errors.New("odd"): probes.Unsupported,
	} {
		if got := why(err); got != want {
			t.Errorf("%v: got %v, want %v", err, got, want)
		}
	}
}

func BenchmarkHost(b *testing.B) { benchmarkHost(b, "/") }

func benchmarkHost(b *testing.B, root string) {
	h := NewHost(root, nil)
	b.ReportAllocs()
	began := cpuTime()
	for b.Loop() {
		if _, err := h.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-began)/float64(b.N), "cpu-ns/op")
}
