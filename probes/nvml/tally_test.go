//go:build linux && cgo

package nvml

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

func TestCalls(t *testing.T) {
	now := time.Unix(1000, 0)
	g := newGuard(func(name string) error {
		if name == "nvmlDeviceGetTemperature" {
			return errors.New("no such symbol")
		}
		return nil
	})
	g.tallies.now = func() time.Time { return now }
	answer := func(symbol string, gpu int, took time.Duration, ret nvml.Return) {
		g.of(gpu).call(symbol, func() nvml.Return { now = now.Add(took); return ret })
	}
	answer("nvmlDeviceGetPowerUsage", 1, 9*time.Millisecond, nvml.SUCCESS)
	answer("nvmlDeviceGetPowerUsage", 1, time.Millisecond, nvml.SUCCESS)
	answer("nvmlDeviceGetPowerUsage", 1, 2*time.Millisecond, nvml.ERROR_NO_PERMISSION)
	answer("nvmlDeviceGetPowerUsage", 0, time.Millisecond, nvml.SUCCESS)
	answer("nvmlEventSetWait", host, 400*time.Millisecond, nvml.ERROR_TIMEOUT)
	answer("nvmlDeviceGetTemperature", 0, time.Second, nvml.SUCCESS)
	g.of(0).call("nvmlDeviceGetName", func() nvml.Return { panic("slice bounds out of range") })
	var out []Call
	g.of(0).call("nvmlDeviceGetUUID", func() nvml.Return { // seen from outside while it is out
		now = now.Add(time.Minute)
		out = g.tallies.list()
		return nvml.SUCCESS
	})
	want := []Call{
		{Symbol: "nvmlEventSetWait", GPU: host, Calls: 1, Result: "ok: nothing to tell", Median: 400 * time.Millisecond, Longest: 400 * time.Millisecond},
		{Symbol: "nvmlDeviceGetName", GPU: 0, Calls: 1, Failed: 1, Result: "go-nvml could not take the answer"},
		{Symbol: "nvmlDeviceGetPowerUsage", GPU: 0, Calls: 1, Result: "ok", Median: time.Millisecond, Longest: time.Millisecond},
		{Symbol: "nvmlDeviceGetTemperature", GPU: 0, Result: "the driver has no such function"},
		{Symbol: "nvmlDeviceGetUUID", GPU: 0, Result: "no answer yet", Out: time.Minute},
		{Symbol: "nvmlDeviceGetPowerUsage", GPU: 1, Calls: 3, Failed: 1, Result: inWords(nvml.ERROR_NO_PERMISSION), Median: 2 * time.Millisecond, Longest: 9 * time.Millisecond},
	}
	if !slices.Equal(out, want) {
		t.Errorf("got  %+v\nwant %+v", out, want)
	}
}

// Of what is no device's, several goroutines may ask at once.
func TestCallsAtOnce(t *testing.T) {
	now := time.Unix(1000, 0)
	s := newTallies(func() time.Time { return now })
	first, began := s.begin("nvmlDeviceGetTopologyCommonAncestor", host)
	now = now.Add(time.Second)
	second, later := s.begin("nvmlDeviceGetTopologyCommonAncestor", host)
	s.end(first, began, nvml.SUCCESS)
	now = now.Add(time.Second)
	if c := s.list()[0]; c.Calls != 1 || c.Longest != time.Second || c.Out != 2*time.Second {
		t.Errorf("one is out: %+v", c)
	}
	s.end(second, later, nvml.SUCCESS)
	if c := s.list()[0]; c.Calls != 2 || c.Longest != time.Second || c.Out != 0 {
		t.Errorf("none is out: %+v", c)
	}
}

func TestNotingACallAllocatesNothing(t *testing.T) {
	g := newGuard(func(string) error { return nil }).of(3)
	answer := func() nvml.Return { return nvml.SUCCESS }
	if n := testing.AllocsPerRun(100, func() { g.call("nvmlDeviceGetPowerUsage", answer) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

// CUDA's stub is recognised before it is started, which it would tell by ending the process.
func TestStub(t *testing.T) {
	s := play(t, "stub", twoGPUs)
	if s == nil {
		return
	}
	_, err := s.lib.open()
	if want := libraryFile("stub") + " is CUDA's stub to build programs with, not the driver's library: take its folder out of LD_LIBRARY_PATH"; err == nil || err.Error() != want {
		t.Errorf("open: %v", err)
	}
	if isStub(libraryFile("driver")) || isStub(t.TempDir()) || isStub("/nowhere") {
		t.Error("something else is taken for the stub")
	}
	if got := loadedFrom("libc.so.6"); got == "libc.so.6" {
		t.Error("the file of a library that is loaded is not found")
	}
}
