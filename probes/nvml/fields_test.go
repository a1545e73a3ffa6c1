//go:build linux && cgo

package nvml

import (
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// NVML writes no more of a value than its type has bytes: what stood in the others before
// must not become part of the next.
func TestFieldValuesAreDecodedByType(t *testing.T) {
	s := play(t, "driver", `
0 * count 1
0 0 field.1 0xfffffffffffffff0 u64
0 0 field.2 12345 u32
0 0 field.3 -7 i32
0 0 field.4 -8 i64
0 0 field.5 2.5 f64
0 0 field.6 65535 u16
0 0 field.7 error 4
0 0 field.8 error 2
0 0 field.9 nan f64
0 0 field.10.3 33
0 0 field.10.all 44
0 0 field.11 0xffffffffffffffff
5 0 field.1 error 999
`)
	if s == nil {
		return
	}
	s.fresh(0)
	s.probe.Close() // from here on the test asks by itself
	sys, err := s.lib.open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.lib.close()
	d := sys.devices[0].(*nvmlDevice)
	if _, err := d.read(); err != nil {
		t.Fatal(err)
	}
	var f fields
	r := reader{guard: d.guard, refused: map[question]nvml.Return{}}
	ask := func(ids ...uint32) {
		f.want(0, ids...)
		f.read(&r, d.handle)
	}
	ask(1, 1, 1, 1, 1, 1, 1, 1) // fills the structures with ones
	ask(2, 3, 4, 5, 6, 7, 8, 9, 11, 99)
	for id, want := range map[uint32]probes.Opt[float64]{
		2: probes.Some(12345.0), 3: probes.Some(-7.0), 4: probes.Some(-8.0), 5: probes.Some(2.5), 6: probes.Some(65535.0),
		7: probes.None[float64](noPermission), 8: probes.None[float64](unsupported), 9: probes.None[float64](unsupported),
		11: probes.None[float64](unsupported), 99: probes.None[float64](unsupported), 12: probes.None[float64](unsupported),
	} {
		if got := f.of(id).opt(1); got != want {
			t.Errorf("field %d: %+v, want %+v", id, got, want)
		}
	}
	f.want(3, 10)
	f.want(allLinks, 10)
	f.read(&r, d.handle)
	if a, b := f.ofScope(10, 3), f.ofScope(10, allLinks); a.value != 33 || b.value != 44 {
		t.Errorf("by scope %+v, %+v", a, b)
	}
	s.moveTo(5)
	if ask(1, 2); f.of(1).opt(1) != (probes.Opt[float64]{}) || f.of(2).opt(1) != probes.Some(12345.0) {
		t.Errorf("one that fails for now, and its neighbour: %+v, %+v", f.of(1), f.of(2))
	}
	s.moveTo(4)
	if ask(1); !f.of(1).opt(1).Seen() {
		t.Error("an error that passes was kept")
	}
	r.refused[question{fieldsSymbol, 2, 0}] = nvml.ERROR_NOT_SUPPORTED
	if ask(1, 2); f.of(2).opt(1) != probes.None[float64](unsupported) || f.of(1).value == 0 {
		t.Error("what was refused was asked again, or moved its neighbour")
	}
}

// What a device has not is not asked for every second; what failed is.
func TestRefusalsAreKeptForAMinute(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 0 margin 20
0 0 pstate 1
0 0 error.MarginTemperature 3
0 0 error.PerformanceState 999
0 0 field.82 error 3
2 0 error.MarginTemperature 0
2 0 error.PerformanceState 0
2 0 field.82 55
`)
	if s == nil {
		return
	}
	readings(t, s.fresh(0).Devices[0], map[string]any{"temperature_margin_celsius": unsupported, "performance_state": notSeen, "memory_temperature_celsius": unsupported})
	s.moveTo(3)
	readings(t, s.fresh(0).Devices[0], map[string]any{"temperature_margin_celsius": unsupported, "performance_state": 1, "memory_temperature_celsius": unsupported})
	s.moveTo(61)
	readings(t, s.fresh(0).Devices[0], map[string]any{"temperature_margin_celsius": 20, "performance_state": 1, "memory_temperature_celsius": 55})
}

// What changes seldom is asked for every ten seconds, and kept between.
func TestSeldomReadings(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 0 ecc.corrected 1
0 0 pcie_width 16
0 0 field.230 0
3 0 ecc.corrected 2
3 0 pcie_width 8
3 0 field.230 7
12 0 error.TotalEccErrors 999
25 0 error.TotalEccErrors 0
25 0 field.230 8
`)
	if s == nil {
		return
	}
	for _, x := range []struct {
		at   float64
		want map[string]any
	}{
		{0, map[string]any{"ecc_corrected_total": 1, "pcie_width": 16, "recovery_action": 0}},
		{5, map[string]any{"ecc_corrected_total": 1, "pcie_width": 16, "recovery_action": 0}},
		{10, map[string]any{"ecc_corrected_total": 2, "pcie_width": 8, "recovery_action": 7}},
		{20, map[string]any{"ecc_corrected_total": notSeen, "pcie_width": 8, "recovery_action": 7}},
		{30, map[string]any{"ecc_corrected_total": 2, "recovery_action": notSeen}}, // an action without words
	} {
		s.moveTo(x.at)
		readings(t, s.fresh(0).Devices[0], x.want)
	}
}

// An identity that could not be read at first is read as soon as it can be.
func TestIdentityComesLater(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 0 error.UUID 999
0 0 error.MaxClockInfo 999
1 0 error.UUID 0
1 0 error.MaxClockInfo 0
`)
	if s == nil {
		return
	}
	if d := s.fresh(0).Devices[0]; d.UUID != "" || d.SMClockMaxHertz.Seen() {
		t.Fatalf("%+v", d)
	}
	s.moveTo(1)
	d := s.fresh(0).Devices[0]
	if d.UUID == "" {
		t.Error("no UUID after a second")
	}
	check(t, reading{"maximum", d.SMClockMaxHertz, 1980e6})
}
