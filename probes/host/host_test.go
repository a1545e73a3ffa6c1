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

	"llmtop/probes"
)

func readHost(t *testing.T, root string) *probes.Host {
	t.Helper()
	section, err := NewHost(root).Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return section.(*probes.Host)
}

func TestHost(t *testing.T) {
	h := readHost(t, tree(t, "host.txtar"))
	// 100 ticks a second: user 1000, nice 200, system 300, interrupts 20 and 30, steal 40; guest is inside user.
	want := probes.Host{
		At: h.At, CPUs: 4,
		CPUBusySecondsTotal: probes.Some(15.9), CPUStealSecondsTotal: probes.Some(0.4), CPUWaitSecondsTotal: probes.Some(5.0),
		Load1: probes.Some(3.25), MemoryTotalBytes: probes.Some(16000000 * 1024.0), MemoryAvailableBytes: probes.Some(6000000 * 1024.0),
		SwapInTotal:    probes.Some(17.0),
		CPUPressure:    probes.Pressure{SomeSecondsTotal: probes.Some(2.5), FullSecondsTotal: probes.Some(0.0), SomeAvg10Ratio: probes.Some(0.125)},
		MemoryPressure: probes.Pressure{SomeSecondsTotal: probes.Some(0.001), FullSecondsTotal: probes.Some(0.0005), SomeAvg10Ratio: probes.Some(0.0)},
		IOPressure:     probes.Pressure{SomeSecondsTotal: probes.Some(0.75), FullSecondsTotal: probes.Some(0.25), SomeAvg10Ratio: probes.Some(0.01)},
	}
	got := *h
	got.CPUBusySecondsTotal = rounded(got.CPUBusySecondsTotal)
	if !reflect.DeepEqual(got, want) || h.At.IsZero() {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// rounded takes the noise of a sum of floats away.
func rounded(o probes.Opt[float64]) probes.Opt[float64] {
	return probes.Some(float64(int64(o.Or(-1)*1e6+0.5)) / 1e6)
}

func TestHostWithoutPressure(t *testing.T) {
	root := tree(t, "host.txtar")
	for _, path := range []string{"proc/pressure", "proc/loadavg", "proc/vmstat", "proc/meminfo"} {
		remove(t, root, path)
	}
	put(t, root, "proc/pressure/io", "some avg10=x\n")
	h := readHost(t, root)
	for name, o := range map[string]probes.Opt[float64]{
		"cpu pressure": h.CPUPressure.SomeSecondsTotal, "memory pressure": h.MemoryPressure.FullSecondsTotal, "load": h.Load1,
		"swap": h.SwapInTotal, "memory": h.MemoryAvailableBytes, "all memory": h.MemoryTotalBytes,
	} {
		if o.Seen() || o.Why() != probes.NotExposed {
			t.Errorf("%s: %+v, want not exposed", name, o)
		}
	}
	if o := h.IOPressure.SomeSecondsTotal; o.Seen() || o.Why() != probes.Unsupported {
		t.Errorf("unreadable pressure: %+v", o)
	}
	if !h.CPUBusySecondsTotal.Seen() {
		t.Error("CPU time is lost with the rest")
	}
}

func TestHostWithoutProc(t *testing.T) {
	section, err := NewHost(t.TempDir()).Read(context.Background())
	if section != nil || err == nil || !strings.HasPrefix(err.Error(), "reading the host's CPU times: ") {
		t.Errorf("got %v, %v", section, err)
	}
}

func TestThisHost(t *testing.T) {
	h := readHost(t, "")
	if h.CPUs < 1 || !h.CPUBusySecondsTotal.Seen() || !h.MemoryTotalBytes.Seen() {
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

func BenchmarkHost(b *testing.B) {
	h := NewHost("/")
	b.ReportAllocs()
	began := cpuTime()
	for b.Loop() {
		if _, err := h.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-began)/float64(b.N), "cpu-ns/op")
}
