//go:build linux && cgo

package nvml

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// twoGPUs is a host on which nothing is wrong.
const twoGPUs = `
0 * count 2
0 * driver 580.159.04
0 * name NVIDIA H200
0 * memory_total 150754820096
0 * memory_reserved 600000000
0 * power_limit 700000
0 * power_default 700000
0 * sm_clock_max 1980
0 * memory_clock_max 3201
0 * memory_clock 3201
0 0 util 100
0 0 memory_util 37
0 0 memory_used 120000000000
0 0 power 512345
0 0 sm_clock 1965
0 0 temperature 61
0 0 gpm.2 80
0 0 gpm.10 71
1 0 gpm.2 40
0 1 util 0
0 1 memory_used 4000000
0 1 power 78000
0 1 sm_clock 345
0 1 temperature 31
0 1 throttle 0x1
0 1 gpm 0
`

func TestTwoGPUs(t *testing.T) {
	s := play(t, "driver", twoGPUs)
	if s == nil {
		return
	}
	g := s.fresh(0, 1)
	if g.Driver != "580.159.04" || g.Note != "" || len(g.Devices) != 2 {
		t.Fatalf("%+v", g)
	}
	a, b := g.Devices[0], g.Devices[1]
	if a.Name != "NVIDIA H200" || a.UUID != "GPU-00000000-0000-0000-0000-000000000000" || b.Index != 1 || a.Err+b.Err != "" {
		t.Errorf("identities %+v, %+v", a, b)
	}
	check(t,
		reading{"kernel active", a.KernelActiveRatio, 1}, reading{"memory active", a.MemoryActiveRatio, .37},
		reading{"memory used, without the driver's own", a.MemoryUsedBytes, 120e9}, reading{"memory", a.MemoryTotalBytes, 150754820096},
		reading{"power", a.PowerWatts, 512.345}, reading{"limit", a.PowerLimitWatts, 700}, reading{"default", a.PowerDefaultWatts, 700},
		reading{"SM clock", a.SMClockHertz, 1965e6}, reading{"SM clock max", a.SMClockMaxHertz, 1980e6},
		reading{"memory clock", a.MemoryClockHertz, 3201e6}, reading{"memory clock max", a.MemoryClockMaxHz, 3201e6},
		reading{"temperature", a.TemperatureCelsius, 61},
		reading{"idle kernel active", b.KernelActiveRatio, 0}, reading{"idle power", b.PowerWatts, 78})
	if bits, ok := a.ThrottleBits.Get(); !ok || bits != 0 {
		t.Errorf("throttle bits of 0: %x, %v", bits, ok)
	}
	if bits, _ := b.ThrottleBits.Get(); bits != probes.ThrottleIdle {
		t.Errorf("throttle bits of 1: %x", bits)
	}
	checkMissing(t, "SM active, before a second sample", a.SMActiveRatio, probes.NotSeen)
	checkMissing(t, "SM active, without GPM", b.SMActiveRatio, probes.Unsupported)

	s.moveTo(2) // half of it at 80 %, half at 40 %
	a = s.fresh(0, 1).Devices[0]
	check(t, reading{"SM active", a.SMActiveRatio, .6}, reading{"DRAM active", a.DRAMActiveRatio, .71})
	s.moveTo(2.05) // too soon for another pair of samples
	a = s.fresh(0, 1).Devices[0]
	check(t, reading{"SM active", a.SMActiveRatio, .6})
	s.moveTo(3)
	a = s.fresh(0, 1).Devices[0]
	check(t, reading{"SM active", a.SMActiveRatio, .4})
}

// The script is the one that the fake's README shows.
func TestPowerCap(t *testing.T) {
	script, err := os.ReadFile("../../testdata/fakenvml/powercap.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := play(t, "driver", string(script))
	if s == nil {
		return
	}
	s.moveTo(29)
	check(t, reading{"power before", s.fresh(0).Devices[0].PowerWatts, 612})
	s.moveTo(30)
	g := s.fresh(0, 1)
	d := g.Devices[0]
	check(t, reading{"power", d.PowerWatts, 349}, reading{"limit", d.PowerLimitWatts, 350}, reading{"default", d.PowerDefaultWatts, 700},
		reading{"clock", d.SMClockHertz, 1095e6}, reading{"clock of the other", g.Devices[1].SMClockHertz, 1965e6})
	if bits, _ := d.ThrottleBits.Get(); bits != probes.ThrottlePowerCap {
		t.Errorf("throttle bits %x", bits)
	}
	s.moveTo(90)
	if bits, ok := s.fresh(0).Devices[0].ThrottleBits.Get(); bits != 0 || !ok {
		t.Errorf("throttle bits %x after the cap", bits)
	}
}

func TestThermal(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
5 1 temperature 93
5 1 sm_clock 705
5 1 throttle 0x48
`)
	if s == nil {
		return
	}
	s.moveTo(6)
	d := s.fresh(1).Devices[1]
	check(t, reading{"temperature", d.TemperatureCelsius, 93}, reading{"clock", d.SMClockHertz, 705e6})
	if bits, _ := d.ThrottleBits.Get(); bits != probes.ThrottleHWThermal|probes.ThrottleHWSlowdown {
		t.Errorf("throttle bits %x", bits)
	}
}

func TestGPULost(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
3 0 error.* 15
9 0 error.* 16
`)
	if s == nil {
		return
	}
	s.fresh(0, 1)
	for _, at := range []float64{3, 9} {
		s.moveTo(at)
		s.fresh(1)
		g := s.readUntil(func(g *probes.GPU) bool { return g.Devices[0].Err != "" && g.Devices[1].At.Equal(s.now()) })
		d := g.Devices[0]
		checkMissing(t, "power", d.PowerWatts, probes.Lost)
		checkMissing(t, "SM active", d.SMActiveRatio, probes.Lost)
		if !strings.HasPrefix(d.Err, "the GPU is lost: ") || d.Name != "NVIDIA H200" || !d.At.Equal(stageBegan) {
			t.Errorf("at %v: %+v", at, d)
		}
		check(t, reading{"power of the other", g.Devices[1].PowerWatts, 78})
	}
}

func TestCallHangs(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
1 0 hang.PowerUsage 1
60 0 hang.PowerUsage 0
60 0 power 600000
`)
	if s == nil {
		return
	}
	s.fresh(0, 1)
	s.moveTo(1)
	s.fresh(1)
	s.moveTo(30)
	g := s.fresh(1)
	d := g.Devices[0]
	checkMissing(t, "power", d.PowerWatts, probes.Stale)
	if !strings.HasPrefix(d.Err, "no answer from the driver for ") || d.Name != "NVIDIA H200" || !d.At.Equal(stageBegan) {
		t.Errorf("the stuck device: %+v", d)
	}
	check(t, reading{"power of the other", g.Devices[1].PowerWatts, 78})
	s.moveTo(60)
	d = s.fresh(0).Devices[0]
	check(t, reading{"power after the call came back", d.PowerWatts, 600})
}

// Close comes back although a call does not.
func TestCloseWhileHanging(t *testing.T) {
	s := play(t, "driver", twoGPUs+"1 0 hang.UtilizationRates 1\n")
	if s == nil {
		return
	}
	s.fresh(0)
	s.moveTo(1)
	s.fresh(1)
	s.probe.Close()
	if w := s.probe.current()[0]; w.at(s.now())[0].At != stageBegan {
		t.Error("the call came back")
	}
}

// An old driver lacks functions; calling one would end this process.
func TestOldDriver(t *testing.T) {
	s := play(t, "old", twoGPUs+"0 0 throttle 0x20\n")
	if s == nil {
		return
	}
	s.fresh(0, 1)
	s.moveTo(1)
	d := s.fresh(0, 1).Devices[0]
	check(t, reading{"power", d.PowerWatts, 512.345}, reading{"memory used, with the driver's own", d.MemoryUsedBytes, 120.6e9})
	if bits, _ := d.ThrottleBits.Get(); bits != probes.ThrottleSWThermal {
		t.Errorf("throttle bits %x under the old name", bits)
	}
	checkMissing(t, "SM active", d.SMActiveRatio, probes.Unsupported)
	checkMissing(t, "DRAM active", d.DRAMActiveRatio, probes.Unsupported)
}

// After an upgrade under a running system NVML does not start; later it does.
func TestMismatch(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 * error.Init 18
30 * error.Init 999
60 * error.Init 0
`)
	if s == nil {
		return
	}
	g := s.readUntil(func(g *probes.GPU) bool { return g.Note != "NVML is starting" })
	if !strings.HasPrefix(g.Note, "no NVML device: the NVIDIA kernel driver and its library are of different versions (NVML error 18)") {
		t.Errorf("note %q", g.Note)
	}
	s.probe.Close() // from here on the test opens by itself
	s.moveTo(30)
	if _, err := s.lib.open(); err == nil || !strings.Contains(err.Error(), "NVML error 999") {
		t.Errorf("open: %v", err)
	}
	for _, at := range []float64{60, 61} {
		s.moveTo(at)
		sys, err := s.lib.open()
		if err != nil || len(sys.devices) != 2 {
			t.Fatalf("open at %v: %+v, %v", at, sys, err)
		}
		if d, err := sys.devices[0].read(); err != nil || !d[0].PowerWatts.Seen() {
			t.Errorf("at %v: %+v, %v", at, d, err)
		}
		s.lib.close()
	}
}

func TestSingleCallsFail(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 0 error.PowerUsage 4
0 0 error.Temperature 999
0 0 error.ClockInfo 3
0 0 util 37100
0 0 gpm.2 nan
0 0 error.MemoryInfo_v2 25
0 1 memory_total 0
0 1 error.GpmQueryDeviceSupport 4
5 1 error.* 999
`)
	if s == nil {
		return
	}
	s.fresh(0, 1)
	s.moveTo(1)
	g := s.fresh(0, 1)
	d := g.Devices[0]
	checkMissing(t, "power", d.PowerWatts, probes.NoPermission)
	checkMissing(t, "temperature", d.TemperatureCelsius, probes.NotSeen)
	checkMissing(t, "SM clock", d.SMClockHertz, probes.Unsupported)
	checkMissing(t, "garbage", d.KernelActiveRatio, probes.NotSeen)
	checkMissing(t, "NaN", d.SMActiveRatio, probes.NotSeen)
	check(t, reading{"DRAM active beside it", d.DRAMActiveRatio, .71}, reading{"limit", d.PowerLimitWatts, 700}, reading{"memory by the old call", d.MemoryUsedBytes, 120.6e9})
	if d.Err != "" {
		t.Errorf("error %q, though readings were made", d.Err)
	}
	checkMissing(t, "shared memory", g.Devices[1].MemoryTotalBytes, probes.Unsupported)
	checkMissing(t, "GPM for the privileged", g.Devices[1].SMActiveRatio, probes.NoPermission)

	s.moveTo(5)
	g = s.readUntil(func(g *probes.GPU) bool { return g.Devices[1].Err != "" })
	if e := g.Devices[1].Err; !strings.Contains(e, "NVML error 999") {
		t.Errorf("error %q", e)
	}
	checkMissing(t, "power", g.Devices[1].PowerWatts, probes.Stale)
}

func TestHostileNames(t *testing.T) {
	s := play(t, "driver", "0 * count 1\n0 * name \x1b[2JGPU\a  [red]x\n0 * driver 1\x1b]0;pwn\a\n")
	if s == nil {
		return
	}
	g := s.fresh(0)
	if g.Devices[0].Name != "[2JGPU [red]x" || g.Driver != "1]0;pwn" {
		t.Errorf("name %q, driver %q", g.Devices[0].Name, g.Driver)
	}
}

func TestNoGPU(t *testing.T) {
	s := play(t, "driver", "0 * count 0\n")
	if s == nil {
		return
	}
	g := s.readUntil(func(g *probes.GPU) bool { return g.Note != "NVML is starting" })
	if g.Note != "no NVML device: the driver lists no GPU" {
		t.Errorf("note %q", g.Note)
	}
}

func TestWrongLibrary(t *testing.T) {
	s := play(t, "wrong", "0 * count 1\n")
	if s == nil {
		return
	}
	g := s.readUntil(func(g *probes.GPU) bool { return g.Note != "NVML is starting" })
	if !strings.HasSuffix(g.Note, "/wrong.so is not NVML: it has no nvmlInit") {
		t.Errorf("note %q", g.Note)
	}
}

// These need no fake: nothing gets loaded.
func TestNoLibrary(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no library\n", 50)), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "libnvidia-ml.so.1")
	for path, want := range map[string]string{
		missing:                "the NVIDIA driver's library " + missing + " is not installed",
		text:                   text + ": invalid ELF header",
		"libno-such-nvml.so.1": "the NVIDIA driver's library libno-such-nvml.so.1 is not installed",
	} {
		if _, err := newLibrary(path, nil).open(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	p := New(Options{LibraryPath: missing})
	defer p.Close()
	for {
		if g := read(t, p); g.Note != "NVML is starting" {
			if want := "no NVML device: the NVIDIA driver's library " + missing + " is not installed"; g.Note != want || len(g.Devices) != 0 {
				t.Errorf("%+v, want note %q", g, want)
			}
			return
		}
	}
}

// Versions of go-nvml with another size read every GPM metric but the first wrong.
func TestGpmMetricSize(t *testing.T) {
	if size := unsafe.Sizeof(nvml.GpmMetric{}); size != 40 {
		t.Errorf("a GPM metric has %d bytes in go-nvml, 40 in NVML", size)
	}
}

func TestGuard(t *testing.T) {
	have := map[string]bool{"nvmlInit_v2": true, "nvmlShutdown": true, "nvmlDeviceGetMemoryInfo": true}
	g := newGuard(func(name string) error {
		if have[name] {
			return nil
		}
		return errors.New("no such symbol")
	})
	if !g.has["nvmlInit"] || !g.has["nvmlShutdown"] || !g.has["nvmlDeviceGetMemoryInfo"] || g.has["nvmlDeviceGetMemoryInfo_v2"] || g.has["nvmlDeviceGetCount"] {
		t.Errorf("guard %v", g)
	}
	if ret := g.call("nvmlDeviceGetCount", func() nvml.Return { t.Error("called what is not there"); return nvml.SUCCESS }); ret != nvml.ERROR_FUNCTION_NOT_FOUND {
		t.Errorf("a call that is not there: %d", ret)
	}
	if ret := g.call("not in the table", func() nvml.Return { t.Error("called what nobody looked up"); return nvml.SUCCESS }); ret != nvml.ERROR_FUNCTION_NOT_FOUND {
		t.Errorf("a call nobody looked up: %d", ret)
	}
	if ret := g.call("nvmlShutdown", func() nvml.Return { panic("slice bounds out of range") }); ret != nvml.ERROR_UNKNOWN {
		t.Errorf("a call that panics: %d", ret)
	}
}
