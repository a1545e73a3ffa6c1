package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func TestTimed(t *testing.T) {
	const script = `# two GPUs
0 * count 2
0 * name NVIDIA H200
20 0 ecc.corrected 3
30 0 xid 48
40 0 throttle 0x20

90 0 throttle 0
`
	for _, c := range []struct {
		name  string
		until float64
		more  string
		pace  pace
		want  string
	}{
		{"recorded", 90, "100 0 xid 63", recorded, "0 * count 2\n0 * name NVIDIA H200\n3 0 ecc.corrected 3\n4 0 xid 48\n5 0 throttle 0x20\n11 0 xid 63\n"},
		{"looked", math.Inf(1), "", looked, "0 * waits 0.1\n0 * count 2\n0 * name NVIDIA H200\n0 0 ecc.corrected 3\n0.2 0 xid 48\n0 0 throttle 0x20\n0 0 throttle 0\n"},
	} {
		got, err := timed(script, c.until, c.more, c.pace)
		if err != nil {
			t.Fatal(err)
		}
		var plain strings.Builder
		for line := range strings.Lines(got) {
			at, rest, _ := strings.Cut(line, " ")
			at = at[:len(at)-5] // thousandths and below are the order of the steps
			plain.WriteString(strings.TrimSuffix(strings.TrimSuffix(at, ".0"), ".") + " " + rest)
		}
		if plain.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, plain.String(), c.want)
		}
	}
	for _, bad := range []string{"soon * count 2", "0 * count"} {
		if _, err := timed(bad, 90, "", recorded); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Each fault names a script that is there, and has something to be seen by.
func TestFaults(t *testing.T) {
	names := map[string]bool{}
	for _, f := range faults() {
		if _, err := os.Stat(filepath.Join("../..", fakes, f.script+".txt")); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if names[f.name] || len(f.sample) == 0 || len(f.doctor) == 0 {
			t.Errorf("%s: twice, or without a check", f.name)
		}
		names[f.name] = true
	}
}

func TestChecks(t *testing.T) {
	d := probes.GPUDevice{Index: 1, PowerWatts: probes.Some(350.0), ThrottleBits: probes.Some(probes.ThrottleHWThermal | probes.ThrottleHWSlowdown),
		XidTotal: probes.Some[uint64](2), LastXid: probes.Some[uint64](79), SMActiveRatio: probes.None[float64](probes.Unsupported)}
	lost := probes.GPUDevice{Index: 2, Err: "the GPU is lost: gone"}
	g := &probes.GPU{Note: "no NVML device: not there", Devices: []probes.GPUDevice{d, lost, {Index: 1, Instance: "1g.18gb"}}}
	for _, c := range []struct {
		check check
		want  bool
	}{
		{is(1, "power_watts", 350), true}, {is(1, "power_watts", 351), false}, {is(1, "sm_active_ratio", 0), false}, {is(0, "power_watts", 350), false}, {is(1, "no_such", 0), false},
		{above(1, "power_watts", 349), true}, {above(1, "power_watts", 350), false}, {below(1, "power_watts", 351), true}, {below(1, "power_watts", 350), false},
		{absent(1, "sm_active_ratio", probes.Unsupported), true}, {absent(1, "sm_active_ratio", probes.Lost), false}, {absent(1, "power_watts", probes.NotSeen), false}, {absent(1, "no_such", probes.NotSeen), false},
		{held(1, probes.ThrottleHWThermal), true}, {held(1, probes.ThrottlePowerCap), false}, {held(2, 0), false},
		{xid(1, 79), true}, {xid(1, 48), false}, {xid(2, 0), false},
		{fails(2, "lost"), true}, {fails(1, "lost"), false}, {fails(1, ""), true}, {fails(2, ""), false},
		{notes("not there"), true}, {notes("mismatch"), false}, {devices(2, false), true}, {devices(1, true), true}, {devices(3, false), false},
	} {
		if got, ok := c.check.on(g); ok != c.want {
			t.Errorf("%s: %v %s", c.check.what, ok, got)
		}
		if _, ok := c.check.on(nil); ok {
			t.Errorf("%s: without a section", c.check.what)
		}
	}
}

// hanging are samples of eight GPUs of which one hangs from the fifth to the twentieth second.
func hanging(change func(at int, d *probes.GPUDevice)) (samples []*probes.Sample) {
	began := time.Unix(0, 0)
	for at := range 25 {
		now := began.Add(time.Duration(at+1) * time.Second)
		s := &probes.Sample{At: now, GPU: &probes.GPU{At: now}}
		for i := range 8 {
			d := probes.GPUDevice{Index: i, At: now, PowerWatts: probes.Some(1.0)}
			if i == hung && at >= 5 && at < 20 {
				d.At = began.Add(5 * time.Second)
				if at >= 8 {
					d.Err, d.PowerWatts = "no answer", probes.None[float64](probes.Stale)
				}
			}
			if change != nil {
				change(at, &d)
			}
			s.GPU.Devices = append(s.GPU.Devices, d)
		}
		samples = append(samples, s)
	}
	return samples
}

func TestJudgeHang(t *testing.T) {
	well := hanging(nil)
	for _, s := range well {
		d := s.GPU.Devices[0]
		d.Index = hung
		s.GPU.Devices[hung] = d
	}
	for _, c := range []struct {
		name   string
		change func(int, *probes.GPUDevice)
		want   string
	}{
		{"as it should", nil, ""},
		{"another is late", func(at int, d *probes.GPUDevice) {
			if at == 7 && d.Index == 4 {
				d.At = d.At.Add(-time.Second)
			}
		}, "GPU 4 has a fresh reading in 24 of 25 samples"},
		{"another has no readings", func(at int, d *probes.GPUDevice) {
			if at == 7 && d.Index == 0 {
				d.PowerWatts = probes.Opt[float64]{}
			}
		}, "GPU 0 has a fresh reading in 24 of 25 samples"},
		{"never stale", func(_ int, d *probes.GPUDevice) { d.Err = "" }, "GPU 3 is stale in 0 samples"},
		{"not back", func(at int, d *probes.GPUDevice) {
			if at == 24 && d.Index == hung {
				d.Err = "no answer"
			}
		}, "GPU 3 is not back"},
	} {
		if _, lacking := judgeHang(hanging(c.change), well, 15*time.Second); !strings.Contains(strings.Join(lacking, "; "), c.want) || (c.want == "") != (len(lacking) == 0) {
			t.Errorf("%s: %q, want %q", c.name, lacking, c.want)
		}
	}
	if _, lacking := judgeHang(nil, well, time.Second); len(lacking) == 0 {
		t.Error("no samples are enough")
	}
	late := func(at int, d *probes.GPUDevice) {
		if at == 7 || at == 9 {
			d.At = d.At.Add(-time.Second)
		}
	}
	for _, c := range []struct {
		from, to int
		want     bool
	}{{7, 7, true}, {7, 8, false}} {
		all := func(at int, d *probes.GPUDevice) {
			if at >= c.from && at <= c.to {
				d.At = d.At.Add(-time.Duration(at-c.from+1) * time.Second)
			}
		}
		if _, lacking := judgeHang(hanging(all), well, 15*time.Second); (len(lacking) == 0) != c.want {
			t.Errorf("all are late from %d to %d: %q", c.from, c.to, lacking)
		}
	}
	if _, lacking := judgeHang(hanging(late), hanging(late), 15*time.Second); len(lacking) > 0 {
		t.Errorf("what is late without a hang too counts: %q", lacking)
	}
}
