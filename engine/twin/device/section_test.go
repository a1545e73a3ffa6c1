package device

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
	"llmtop/rules/roofline"
)

// Every reading of every board is there or has a reason, its section survives JSON and joins
// another as it is.
func TestEveryBoardTellsOrSaysWhyNot(t *testing.T) {
	for _, row := range roofline.GPUs {
		t.Run(row.Name, func(t *testing.T) {
			r := loaded(t, row.Name, 2, decoding)
			r.run(20 * time.Second)
			g := r.section()
			if len(g.Devices) != 2 || len(g.Links) != 1 || len(g.Processes) != 2 || g.Note != "" {
				t.Fatalf("%+v", g)
			}
			d := &g.Devices[0]
			for _, reading := range probes.GPUReadings {
				if v := reading.Of(d); !v.Seen() && v.Why() != probes.Unsupported {
					t.Errorf("%s: %v", reading.Name, v.Why())
				}
			}
			s := &r.f.spec
			for name, c := range map[string]struct {
				of   probes.Opt[float64]
				want bool
			}{
				"SM activity":        {d.SMActiveRatio, s.Architecture == "hopper" || s.Architecture == "blackwell"},
				"ECC":                {d.ECCUncorrectedTotal, row.ECC},
				"NVLinks":            {d.NVLinksTotal, row.NVLink > 0},
				"NVLink traffic":     {d.NVLinkTxBytesPerS, row.NVLink > 0},
				"memory temperature": {d.MemoryTemperatureCelsius, s.HBM},
				"margin":             {d.TemperatureMarginCelsius, s.Architecture != "ampere" && row.ECC},
				"slowdown":           {d.TemperatureSlowdownCelsius, s.Architecture == "ampere" || !row.ECC},
				"power of a second":  {d.PowerAverageWatts, !strings.HasPrefix(row.Name, "a100")},
			} {
				if c.of.Seen() != c.want {
					t.Errorf("%s: %v, want %v", name, c.of, c.want)
				}
			}
			if s.Hunger < 0.5*s.Watts || s.Hunger > 2*s.Watts {
				t.Errorf("its work wants %.0f W, the limit is %.0f W", s.Hunger, s.Watts)
			}
			text, err := json.Marshal(g)
			if err != nil {
				t.Fatal(err)
			}
			var back probes.GPU
			if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(*g, back) {
				t.Errorf("another after JSON (%v)", err)
			}
			sample := &probes.Sample{At: g.At}
			if g.AddTo(sample); sample.GPU != g {
				t.Error("it does not join a sample as it is")
			}
		})
	}
}

// The same seed gives the same bytes, another one another board.
func TestSeed(t *testing.T) {
	play := func(seed uint64) string {
		b := knob.NewBoard(4, 1)
		f := New(Config{Spec: specOf(t, "h100"), GPUs: 4, PIDs: []int{1, 2, 3, 4}, Board: b, Seed: seed, Spread: 0.1})
		m := decoding(&f.spec, cost.GPU{Share: 1, Bandwidth: 1}, time.Second)
		var out strings.Builder
		for i := range 30 {
			now := time.Duration(i+1) * time.Second
			f.Advance(now, time.Second, []Load{m, m, m, m})
			text, _ := json.Marshal(f.Section(day.Add(now)))
			out.Write(text)
		}
		return out.String()
	}
	if play(3) != play(3) {
		t.Error("the same seed gives other bytes")
	}
	if play(3) == play(4) {
		t.Error("another seed gives the same bytes")
	}
}

// A section belongs to who asked: the next ones leave it alone.
func TestSectionStays(t *testing.T) {
	r := loaded(t, "h100", 2, decoding)
	r.run(5 * time.Second)
	g := r.section()
	before, _ := json.Marshal(g)
	r.turn(knob.OtherKernels, 0, 0.5)
	r.turn(knob.GPULost, 1, 1)
	r.run(20 * time.Second).section()
	if after, _ := json.Marshal(g); string(before) != string(after) {
		t.Error("it has changed")
	}
}

// What is asked for seldom comes late, as a probe's reading does.
func TestSeldomReadingsComeLate(t *testing.T) {
	r := loaded(t, "h100", 1, decoding)
	r.run(time.Second).section()
	r.turn(knob.ECC, 0, 3)
	r.turn(knob.PCIeWidth, 0, 4)
	r.turn(knob.NVLink, 0, 0.5)
	r.run(time.Second)
	d := r.section().Devices[0]
	if d.XidTotal.Or(0) != 2 || d.LastXid.Or(0) != xidContained || d.ECCUncorrectedTotal.Or(9) != 0 || d.PCIeWidth.Or(0) != 16 {
		t.Errorf("at once: Xids %v, last %v, errors %v, lanes %v", d.XidTotal, d.LastXid, d.ECCUncorrectedTotal, d.PCIeWidth)
	}
	r.run(10 * time.Second)
	d = r.section().Devices[0]
	if d.ECCUncorrectedTotal.Or(0) != 3 || d.RemapPending.Or(0) != 1 || d.RecoveryAction.Or(0) != resetGPU || d.RowsRemappedUncorrected.Or(0) != 3 {
		t.Errorf("errors %v, pending %v, action %v, rows %v", d.ECCUncorrectedTotal, d.RemapPending, d.RecoveryAction, d.RowsRemappedUncorrected)
	}
	if d.PCIeWidth.Or(0) != 4 || d.PCIeWidthMax.Or(0) != 16 || d.NVLinksActive.Or(0) != 9 || d.NVLinksTotal.Or(0) != 18 || d.NVLinkErrorsTotal.Or(0) == 0 {
		t.Errorf("lanes %v of %v, NVLinks %v of %v, errors %v", d.PCIeWidth, d.PCIeWidthMax, d.NVLinksActive, d.NVLinksTotal, d.NVLinkErrorsTotal)
	}
	if c := r.f.Condition(0); c.Link != 0.5 {
		t.Errorf("link %v", c.Link)
	}
}

// Over PCIe alone it is the lanes that slow what goes to other GPUs.
func TestLanesCarryWhatGoesBetweenGPUs(t *testing.T) {
	r := loaded(t, "l40s", 2, decoding)
	r.turn(knob.PCIeWidth, 1, 4)
	if a, b := r.f.Condition(0).Link, r.f.Condition(1).Link; a != 1 || b != 0.25 {
		t.Errorf("links %v and %v", a, b)
	}
}

func TestLostGPU(t *testing.T) {
	r := loaded(t, "h100", 3, decoding)
	r.run(10 * time.Second)
	before := r.section().Devices[1]
	for _, c := range []struct {
		name string
		turn func()
	}{
		{"gpu_lost", func() { r.turn(knob.GPULost, 1, 1) }},
		{"Xid 79", func() { r.turn(knob.Xid, 2, 79) }},
	} {
		c.turn()
		r.run(5 * time.Second)
		g, lost := r.section(), 1
		if c.name != "gpu_lost" {
			lost = 2
		}
		d := g.Devices[lost]
		if !r.f.Lost(lost) || !strings.HasPrefix(d.Err, "the GPU is lost") || d.UUID == "" || d.LastXid.Or(0) != 79 || d.XidTotal.Or(0) != 1 || !d.At.Before(g.At) {
			t.Errorf("%s: %+v", c.name, d)
		}
		for _, reading := range probes.GPUReadings {
			if v := reading.Of(&d); v.Seen() || v.Why() != probes.Lost {
				t.Errorf("%s: %s is %v", c.name, reading.Name, v)
			}
		}
		for _, p := range g.Processes {
			if p.GPU == d.UUID {
				t.Errorf("%s: a process on it", c.name)
			}
		}
		if c := r.f.Condition(lost); c.Clock != 1 || c.Share != 1 {
			t.Errorf("steps under %+v", c)
		}
		if other := g.Devices[0]; other.Err != "" || !other.PowerWatts.Seen() {
			t.Errorf("%s: another one: %+v", c.name, other)
		}
	}
	r.turn(knob.GPULost, 1, 0)
	r.run(15 * time.Second)
	if d := r.section().Devices[1]; d.Err != "" || d.UUID != before.UUID || d.XidTotal.Or(0) != 1 || !d.PowerWatts.Seen() {
		t.Errorf("back: %+v", d)
	}
	if !r.f.Lost(2) {
		t.Error("a GPU that fell off the bus by itself is back")
	}
}

// What only follows from an error does not hide its number, and an application's error is not
// the board's.
func TestXidNumbers(t *testing.T) {
	r := loaded(t, "h100", 1, decoding)
	for _, c := range []struct {
		number float64
		last   uint64
	}{{31, 31}, {95, 95}, {154, 95}, {45, 95}, {13, 13}} {
		r.turn(knob.Xid, knob.All, c.number)
		r.run(time.Second)
		if got := r.section().Devices[0].LastXid.Or(0); got != c.last {
			t.Errorf("after %.0f the last one is %d, want %d", c.number, got, c.last)
		}
	}
	r.run(15 * time.Second)
	if d := r.section().Devices[0]; d.XidTotal.Or(0) != 5 || d.RecoveryAction.Or(0) != rebootHost || d.ECCUncorrectedTotal.Or(0) != 1 {
		t.Errorf("%v Xids, action %v, errors %v", d.XidTotal, d.RecoveryAction, d.ECCUncorrectedTotal)
	}
}

func TestProcesses(t *testing.T) {
	r := loaded(t, "h100", 2, decoding)
	r.run(5 * time.Second).section()
	r.turn(knob.OtherMemory, 1, 500)
	r.turn(knob.OtherKernels, 1, 0.4)
	r.run(4 * time.Second)
	g := r.section()
	if len(g.Processes) != 3 || g.ProcessesAt.IsZero() {
		t.Fatalf("%+v", g.Processes)
	}
	own, other := g.Processes[1], g.Processes[2]
	d := g.Devices[1]
	if own.PID != 4001 || own.GPU != d.UUID || other.GPU != d.UUID || other.PID == own.PID || other.KernelActiveRatio.Or(0) < 0.35 {
		t.Errorf("%+v and %+v", own, other)
	}
	if sum := own.MemoryBytes.Or(0) + other.MemoryBytes.Or(0) + d.MemoryReservedBytes.Or(0); sum > d.MemoryTotalBytes.Or(0)+1 {
		t.Errorf("%.0f bytes held of %.0f", sum, d.MemoryTotalBytes.Or(0))
	}
	r.f.Use([]int{4000, 5001})
	r.turn(knob.OtherKernels, 1, 0)
	r.turn(knob.OtherMemory, 1, 0)
	r.run(4 * time.Second)
	if g := r.section(); len(g.Processes) != 2 || g.Processes[1].PID != 5001 {
		t.Errorf("%+v", g.Processes)
	}
	r.work = func(int, cost.GPU, time.Duration) Load { return Load{} }
	r.run(10 * time.Second)
	if g := r.section(); len(g.Processes) != 0 || g.Devices[0].ThrottleBits.Or(0) != probes.ThrottleIdle {
		t.Errorf("without the engine: %+v, bits %x", g.Processes, g.Devices[0].ThrottleBits.Or(0))
	}
}

func TestWaysBetweenGPUs(t *testing.T) {
	for name, want := range map[string][3]string{"h100": {"NV18", "NV18", "NV18"}, "a100-80": {"NV12", "NV12", "NV12"}, "l40s": {"PIX", "NODE", "SYS"}} {
		r := loaded(t, name, 8, nothing)
		g := r.run(time.Second).section()
		ways := map[[2]int]string{}
		for _, l := range g.Links {
			ways[[2]int{l.From, l.To}] = l.Kind
		}
		if got := [3]string{ways[[2]int{0, 1}], ways[[2]int{1, 2}], ways[[2]int{0, 7}]}; got != want || len(ways) != 28 {
			t.Errorf("%s: %v, want %v; %d in all", name, got, want, len(ways))
		}
		if d := g.Devices[5]; d.NUMANode.Or(9) != 1 || d.CPUs != "32-63" || d.PCIAddress == g.Devices[4].PCIAddress {
			t.Errorf("%s: node %v, cores %s, address %s", name, d.NUMANode, d.CPUs, d.PCIAddress)
		}
	}
}

// What a step costs was measured on healthy boards, whatever their limit does to their clocks; a
// lower limit is felt as what it takes away.
func TestConditionIsHeldAgainstAHealthyBoard(t *testing.T) {
	for _, row := range roofline.GPUs {
		for name, m := range map[string]func(*Spec, cost.GPU, time.Duration) Load{"decode": decoding, "prefill": prefilling} {
			r := loaded(t, row.Name, 1, m)
			r.run(time.Minute)
			if c := r.f.Condition(0); c != (cost.GPU{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}) {
				t.Errorf("%s, %s: %+v", row.Name, name, c)
			}
			before := r.f.gpus[0].clock
			r.turn(knob.PowerCap, 0, max(0.7*row.PowerLimit, row.PowerMin))
			r.run(10 * time.Second)
			after, limit := r.f.gpus[0].clock, r.f.gpus[0].limit
			if c := r.f.Condition(0); near(c.Clock, 1) != (after > before-0.005) || math.Abs(c.Clock-after/before) > 0.02 {
				t.Errorf("%s, %s: at %.0f W the clock is %.3f, it was %.3f: %+v", row.Name, name, limit, after, before, c)
			}
		}
	}
}

func TestNoGPU(t *testing.T) {
	f := New(Config{Board: knob.NewBoard(0, 1)})
	f.Advance(time.Second, time.Second, nil)
	if g := f.Section(day); g.Note == "" || len(g.Devices) != 0 {
		t.Errorf("%+v", g)
	}
}

// One Advance for each step of an engine, and one Section a second, are what a simulated day has.
func BenchmarkAdvanceStep(b *testing.B) {
	r := loaded(b, "h100", 8, decoding)
	r.run(time.Second)
	const span = 12 * time.Millisecond
	m := scaled(decoding(&r.f.spec, cost.GPU{Share: 1, Bandwidth: 1}, time.Second), span)
	for i := range r.loads {
		r.loads[i] = m
	}
	b.ReportAllocs()
	for b.Loop() {
		r.now += span
		r.f.Advance(r.now, span, r.loads)
	}
}

func BenchmarkAdvanceSecond(b *testing.B) {
	r := loaded(b, "h100", 8, decoding)
	m := decoding(&r.f.spec, cost.GPU{Share: 1, Bandwidth: 1}, time.Second)
	for i := range r.loads {
		r.loads[i] = m
	}
	b.ReportAllocs()
	for b.Loop() {
		r.now += time.Second
		r.f.Advance(r.now, time.Second, r.loads)
	}
}

func BenchmarkSection(b *testing.B) {
	r := loaded(b, "h100", 8, decoding)
	r.run(5 * time.Second)
	b.ReportAllocs()
	for b.Loop() {
		r.now += time.Second
		r.section()
	}
}
