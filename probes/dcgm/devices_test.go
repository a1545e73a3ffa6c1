package dcgm

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/scrape"
)

var update = flag.Bool("update", false, "write the golden files anew")

var began = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// page parses a page as the probe that fetches it does.
func page(t testing.TB, text []byte) *probes.Scrape {
	t.Helper()
	s, more := scrape.NewParser(0).Parse(text)
	if more > 0 || s.Dropped > 0 {
		t.Fatalf("%d series left out, %d lines dropped", more, s.Dropped)
	}
	s.At = began
	return s
}

func fixture(t testing.TB, name string) *probes.Scrape {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".prom"))
	if err != nil {
		t.Fatal(err)
	}
	return page(t, text)
}

// Each page gives the devices and readings that stand in the text beside it.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.prom")
	if err != nil || len(pages) < 6 {
		t.Fatalf("pages: %v, %v", pages, err)
	}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), ".prom")
		t.Run(name, func(t *testing.T) {
			got, golden := told(devices(fixture(t, name))), filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the devices are not those of %s (-update writes them):\n%s", golden, got)
			}
		})
	}
}

// told writes down what is known of the devices, and what is not for a reason of its own.
func told(g *probes.GPU) string {
	var b strings.Builder
	fmt.Fprintf(&b, "driver %s\n", g.Driver)
	for i := range g.Devices {
		d := g.Devices[i]
		absent := map[probes.Absence][]string{}
		fmt.Fprintf(&b, "\n%d %s %q %s %s activity=%q mig=%v instance=%q of %q virtual=%q\n",
			d.Index, d.UUID, d.Name, d.Source, d.PCIAddress, d.ActivityFrom, d.MIG, d.Instance, d.Parent, d.Virtual)
		for _, r := range probes.GPUReadings {
			if v, ok := r.Of(&d).Get(); ok {
				fmt.Fprintf(&b, "  %s %v %s\n", r.Name, v, r.Unit)
			} else {
				absent[r.Of(&d).Why()] = append(absent[r.Of(&d).Why()], r.Name)
			}
		}
		if x, ok := d.ThrottleBits.Get(); ok {
			fmt.Fprintf(&b, "  throttle_bits %#x\n", x)
		}
		if x, ok := d.LastXid.Get(); ok {
			fmt.Fprintf(&b, "  last_xid %d\n", x)
		}
		delete(absent, probes.NotExposed) // the rest
		for _, why := range slices.Sorted(maps.Keys(absent)) {
			fmt.Fprintf(&b, "  %s: %s\n", why, strings.Join(absent[why], " "))
		}
	}
	return b.String()
}

// What the goldens must say, whatever else they say.
func TestTraps(t *testing.T) {
	of := func(name string, i int) *probes.GPUDevice { return &devices(fixture(t, name)).Devices[i] }
	for _, c := range []struct {
		what string
		got  probes.Opt[float64]
		want probes.Opt[float64]
	}{
		{"a utilisation is a percentage", of("a100", 0).KernelActiveRatio, probes.Some(1.0)},
		{"also under the name that says ratio", of("dcgm46", 0).KernelActiveRatio, probes.Some(0.87)},
		{"a profiling field is a ratio", of("a100", 0).SMActiveRatio, probes.Some(0.74321)},
		{"PCIe bytes are a rate, whatever their type says", of("a100", 0).PCIeTxBytesPerS, probes.Some(412345678.0)},
		{"violations are in ns, whatever their help says, and no blank past 39 h", of("a100", 0).ThrottlePowerSecondsTotal, probes.Some(140737.488999999)},
		{"energy is in mJ, and no blank just past that of 32 bits", of("a100", 1).EnergyJoulesTotal, probes.Some(2147483.7)},
		{"memory is the sum of its parts", of("a100", 0).MemoryTotalBytes, probes.Some((6144.0 + 74854 + 922) * (1 << 20))},
		{"older exporters tell no reserved part", of("t4", 0).MemoryTotalBytes, probes.Some((9120.0 + 5989) * (1 << 20))},
		{"0 °C is no sensor", of("t4", 0).MemoryTemperatureCelsius, probes.None[float64](probes.Unsupported)},
		{"P-state 32 is none", of("t4", 0).PerformanceState, probes.None[float64](probes.Unsupported)},
		{"blank of 64 bits", of("t4", 0).ECCCorrectedTotal, probes.None[float64](probes.NotExposed)},
		{"blank of 32 bits", of("t4", 0).PCIeGeneration, probes.None[float64](probes.NotExposed)},
		{"no permission of 32 bits", of("t4", 0).PCIeWidth, probes.None[float64](probes.NoPermission)},
		{"blank of a float", of("t4", 0).DRAMActiveRatio, probes.None[float64](probes.NotExposed)},
		{"not supported of a float", of("t4", 0).SMActiveRatio, probes.None[float64](probes.Unsupported)},
		{"no permission of a float", of("t4", 0).SMOccupancyRatio, probes.None[float64](probes.NoPermission)},
		{"NaN", of("t4", 0).TensorActiveRatio, probes.None[float64](probes.NotExposed)},
		{"a field that is not on the page", of("t4", 0).PowerLimitWatts, probes.None[float64](probes.NotExposed)},
		{"power now rather than its average", of("h100", 0).PowerWatts, probes.Some(377.5)},
		{"a little above 1 is 1", of("h100", 0).TensorActiveRatio, probes.Some(1.0)},
		{"far above 1 is nothing", of("mig", 3).SMActiveRatio, probes.None[float64](probes.NotSeen)},
		{"power of a divided device, told with its instances", of("mig", 0).PowerWatts, probes.Some(203.636)},
		{"is not that of an instance", of("mig", 1).PowerWatts, probes.None[float64](probes.NotExposed)},
		{"memory of an instance", of("mig", 3).MemoryUsedBytes, probes.Some(4001.0 * (1 << 20))},
		{"is not that of the device", of("mig", 0).MemoryUsedBytes, probes.None[float64](probes.NotExposed)},
		{"no byte over PCIe at work is no measurement", of("dcgm46", 0).PCIeTxBytesPerS, probes.None[float64](probes.Unsupported)},
		{"a device without NVLink", of("dcgm46", 0).NVLinkErrorsTotal, probes.None[float64](probes.NotExposed)},
		{"shares of pods are not the device's", of("shared", 0).KernelActiveRatio, probes.None[float64](probes.NotExposed)},
		{"what each pod is told alike is", of("shared", 0).DRAMActiveRatio, probes.Some(0.48)},
	} {
		want, ok := c.want.Get()
		got, seen := c.got.Get()
		if ok != seen || !ok && c.got.Why() != c.want.Why() || ok && (got-want > 1e-6*want || want-got > 1e-6*want) {
			t.Errorf("%s: got %v (%v), want %v (%v)", c.what, got, c.got.Why(), want, c.want.Why())
		}
	}
}

// The field of the last Xid keeps its value for ever: it counts nothing, and 0 is none.
func TestXidIsNoCount(t *testing.T) {
	for i, want := range []probes.Opt[uint64]{probes.None[uint64](probes.NotSeen), probes.Some[uint64](43)} {
		d := devices(fixture(t, "a100")).Devices[i]
		if d.LastXid != want || d.XidTotal.Seen() {
			t.Errorf("device %d: last Xid %v, total %v; want %v and none", i, d.LastXid, d.XidTotal, want)
		}
	}
}

// A divided device comes first and has no readings of its instances, which follow by number.
func TestInstances(t *testing.T) {
	type row struct {
		uuid, parent, instance string
		id                     probes.Opt[uint64]
		mig                    bool
	}
	const u = "GPU-a5d7c2b1-3e40-4f6a-8899-22bb33cc44d"
	var got []row
	for _, d := range devices(fixture(t, "mig")).Devices {
		got = append(got, row{d.UUID, d.Parent, d.Instance, d.InstanceID, d.MIG})
	}
	want := []row{
		{u + "d", "", "", probes.Opt[uint64]{}, true},
		{u + "d/2", u + "d", "3g.20gb", probes.Some[uint64](2), false},
		{u + "d/9", u + "d", "1g.5gb", probes.Some[uint64](9), false},
		{u + "d/10", u + "d", "1g.5gb", probes.Some[uint64](10), false},
		{u + "e", "", "", probes.Opt[uint64]{}, false},
	}
	if len(got) != len(want) {
		t.Fatalf("devices %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("device %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// A page from anywhere costs no more than its devices are bounded to, and its text is safe.
func TestHostilePage(t *testing.T) {
	s := &probes.Scrape{At: began, Schema: &probes.Schema{}}
	add := func(name string, v float64, labels ...string) {
		series := probes.Series{Name: name}
		for i := 0; i < len(labels); i += 2 {
			series.Labels = append(series.Labels, probes.Label{Name: labels[i], Value: labels[i+1]})
		}
		s.Schema.Series, s.Values = append(s.Schema.Series, series), append(s.Values, v)
	}
	for i := range 3 * maxDevices {
		add("DCGM_FI_DEV_FB_USED", math.Inf(-1), "gpu", "-1e9", "UUID", fmt.Sprint("u\x1b", i/2), "modelName", "\x1b]0;x\a"+strings.Repeat("x", 1e4),
			"GPU_I_ID", strings.Repeat("9", 20), "GPU_I_PROFILE", "\x1b[2J", "pci_bus_id", "\x1b00000000:00:00.0")
	}
	add("DCGM_FI_DEV_XID_ERRORS", -3.5, "gpu", "1", "UUID", "u\x1b0")
	s.Schema.Series = append(s.Schema.Series, probes.Series{Name: "DCGM_FI_DEV_GPU_UTIL", Labels: s.Schema.Series[0].Labels}) // without a value
	g := devices(s)
	if len(g.Devices) == 0 || len(g.Devices) > maxDevices {
		t.Errorf("%d devices", len(g.Devices))
	}
	for _, d := range g.Devices {
		if all := d.Name + d.Instance + d.UUID + d.Parent + d.PCIAddress; strings.ContainsAny(all, "\x1b\a") || len(all) > 500 {
			t.Fatalf("device %q %q %q %q", d.UUID, d.Name, d.Instance, d.PCIAddress)
		}
		if d.MemoryUsedBytes.Seen() || d.LastXid.Seen() {
			t.Errorf("readings of %q: %v, %v", d.UUID, d.MemoryUsedBytes, d.LastXid)
		}
	}
}

// What cannot be is no reading, and a number that is none is no device's.
func TestImpossibleNumbers(t *testing.T) {
	d := devices(page(t, []byte(`DCGM_FI_DEV_POWER_USAGE{gpu="99999999999",UUID="GPU-1"} -5
DCGM_FI_DEV_SM_CLOCK{gpu="99999999999",UUID="GPU-1"} -7
DCGM_FI_DEV_GPU_TEMP_LIMIT{gpu="99999999999",UUID="GPU-1"} -3
`))).Devices[0]
	if d.Index != 0 || d.PowerWatts.Seen() || d.SMClockHertz.Seen() || d.TemperatureMarginCelsius != probes.Some(-3.0) {
		t.Errorf("device %d: power %v, clock %v, margin %v", d.Index, d.PowerWatts, d.SMClockHertz, d.TemperatureMarginCelsius)
	}
}

func TestNoDCGM(t *testing.T) {
	g := devices(page(t, []byte("vllm:num_requests_running{model_name=\"m\"} 3\nDCGM_FI_DEV_NVSWITCH_TEMP_CELSIUS{nvswitch=\"0\"} 40\n")))
	if len(g.Devices) != 0 {
		t.Errorf("devices %+v", g.Devices)
	}
}

func BenchmarkPage(b *testing.B) {
	s := fixture(b, "a100")
	for b.Loop() {
		devices(s)
	}
}
