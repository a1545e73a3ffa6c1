package device

import (
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
	"llmtop/rules/roofline"
)

// Whatever is asked of a GPU, and whatever is turned: energy is power over time, nothing is
// more than all of it, counters only rise, and the power that is told stays near its limit.
func TestPhysicsHolds(t *testing.T) {
	names := make([]string, len(roofline.GPUs))
	for i := range roofline.GPUs {
		names[i] = roofline.GPUs[i].Name
	}
	turned := []struct {
		id        knob.ID
		low, high float64
	}{
		{knob.PowerCap, 50, 800}, {knob.PowerBrake, 0, 1}, {knob.Cooling, 0.2, 3}, {knob.Inlet, -10, 50}, {knob.ClockLock, 200, 3000},
		{knob.IdleClocks, 0, 1}, {knob.Compute, 0.2, 1}, {knob.Bandwidth, 0.2, 1}, {knob.OtherKernels, 0, 0.9}, {knob.OtherMemory, 0, 200}, {knob.NVLink, 0.1, 1}, {knob.PCIeWidth, 1, 16},
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "board")
		kernel, tensor, dram := rapid.Float64Range(0, 1).Draw(rt, "kernel"), rapid.Float64Range(0, 1).Draw(rt, "tensor"), rapid.Float64Range(0, 1).Draw(rt, "dram")
		r := loaded(t, name, 2, mix(kernel, tensor, dram))
		for range rapid.IntRange(1, 12).Draw(rt, "turns") {
			k := rapid.SampledFrom(turned).Draw(rt, "knob")
			v := rapid.Float64Range(k.low, k.high).Draw(rt, "value")
			if knob.Table[k.id].Kind == knob.Switch || knob.Table[k.id].Integer {
				v = math.Round(v)
			}
			r.turn(k.id, rapid.IntRange(0, 1).Draw(rt, "target"), v)
			before := r.f.gpus[0].total
			joules, settled := 0.0, r.now+2*time.Second
			for range 40 {
				r.run(100 * time.Millisecond)
				g, s := &r.f.gpus[0], &r.f.spec
				joules += g.watts * 0.1
				if g.lost {
					return // it became so hot that it switched itself off
				}
				if g.watts < 0.7*g.idle || math.IsNaN(g.watts) || math.IsNaN(g.celsius) || g.clock <= 0 || g.clock > 1 {
					rt.Fatalf("%s: %+v", name, g)
				}
				floor := g.clock <= leastClock+0.01 || g.byHeat > 0
				if r.now > settled && g.watts > g.limit*1.02 && !floor {
					rt.Fatalf("%s: %.1f W at a limit of %.0f W, clock %.2f", name, g.watts, g.limit, g.clock)
				}
				if g.celsius > s.Slowdown+shutdownAbove+1 {
					rt.Fatalf("%s: %.0f °C", name, g.celsius)
				}
			}
			after := r.f.gpus[0].total
			if got := after.joules - before.joules; math.Abs(got-joules) > 1e-6*joules+1e-3 {
				rt.Fatalf("energy %.3f J, power over time %.3f J", got, joules)
			}
			rises(rt, before, after)
			d := r.section().Devices[0]
			for name, v := range map[string]float64{"kernel": d.KernelActiveRatio.Or(0), "memory": d.MemoryActiveRatio.Or(0), "sm": d.SMActiveRatio.Or(0), "occupancy": d.SMOccupancyRatio.Or(0),
				"tensor": d.TensorActiveRatio.Or(0), "dram": d.DRAMActiveRatio.Or(0), "graphics": d.GraphicsActiveRatio.Or(0)} {
				if v < 0 || v > 1 {
					rt.Fatalf("%s %v", name, v)
				}
			}
			if used, all := d.MemoryUsedBytes.Or(0)+d.MemoryReservedBytes.Or(0), d.MemoryTotalBytes.Or(0); used > all+8<<20 {
				rt.Fatalf("%.0f bytes of %.0f in use", used, all)
			}
		}
	})
}

func rises(t *rapid.T, before, after totals) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		if f := a.Field(i); f.Kind() == reflect.Float64 && b.Field(i).Float() < f.Float() {
			t.Fatalf("%s went back", a.Type().Field(i).Name)
		}
	}
}

func TestTemperatureSettlesWhereHeatGoesAsFastAsItComes(t *testing.T) {
	r := loaded(t, "h100", 1, decoding)
	g := &r.f.gpus[0]
	r.run(time.Minute)
	early := g.celsius
	r.run(5 * time.Minute)
	want := g.inlet + g.watts*g.resistance
	if math.Abs(g.celsius-want) > 0.5 || early > want || want < 45 || want > 75 {
		t.Errorf("%.1f °C after a minute, %.1f °C in the end, want %.1f", early, g.celsius, want)
	}
	r.turn(knob.Cooling, 0, 0.4)
	r.run(5 * time.Minute)
	if limit := r.f.spec.Operating; math.Abs(g.celsius-limit) > 2 {
		t.Errorf("badly cooled it is at %.1f °C, software holds it at %.0f", g.celsius, limit)
	}
	if g.clock > 0.92 || g.byHeat < 0.9 || g.byPower > 0 {
		t.Errorf("clock %.2f, held down by heat %.2f of the time, by power %.2f", g.clock, g.byHeat, g.byPower)
	}
	r.turn(knob.Cooling, 0, 1)
	r.run(5 * time.Minute)
	if math.Abs(g.celsius-want) > 2 || g.clock < 0.95 {
		t.Errorf("cooled again it is at %.1f °C, clock %.2f", g.celsius, g.clock)
	}
}

// A board that neither software nor hardware can keep cool enough switches itself off.
func TestBoardWithoutCoolingIsLost(t *testing.T) {
	r := loaded(t, "h100", 1, decoding)
	r.run(time.Minute)
	r.turn(knob.Cooling, 0, 0.05)
	var slowed bool
	for range 600 {
		r.run(time.Second)
		if r.f.Lost(0) {
			break
		}
		d := r.section().Devices[0]
		halved := d.ThrottleBits.Or(0)&(probes.ThrottleHWThermal|probes.ThrottleHWSlowdown) == probes.ThrottleHWThermal|probes.ThrottleHWSlowdown
		slowed = slowed || halved && d.SMClockHertz.Or(0) < 0.6*heatFloor*d.SMClockMaxHertz.Or(0) && d.ThrottleHWThermalSecondsTotal.Or(0) > 1
	}
	if !slowed || !r.f.Lost(0) {
		t.Errorf("slowed by hardware: %v, lost: %v", slowed, r.f.Lost(0))
	}
	r.run(time.Second)
	if d := r.section().Devices[0]; d.Err == "" || d.LastXid.Or(0) != xidOffTheBus {
		t.Errorf("error %q, Xid %v", d.Err, d.LastXid)
	}
}

func TestPowerCurve(t *testing.T) {
	for clock := 0.05; clock <= 1; clock += 0.01 {
		if got := clockFor(thirst(clock)); math.Abs(got-clock) > 0.005 {
			t.Errorf("clock %.3f has a thirst that %.3f has", clock, got)
		}
	}
	for _, limit := range []float64{150, 300, 500, 700, 900} {
		clock, share := held(100, 600, 1, limit, 0.3)
		if power := 100 + 600*thirst(clock); power > limit*1.001 && share > 0 {
			t.Errorf("limit %.0f W: %.1f W at %.2f, felt %.2f of the time", limit, power, clock, share)
		}
	}
	if _, share := held(100, 600, 1, 720, 0.3); share <= 0 || share > 0.5 {
		t.Errorf("a limit a little above the mean is felt %.2f of the time", share)
	}
}

// What comes out depends neither on how the time is cut into pieces nor on who looks.
func TestPiecesAndLooksChangeNothing(t *testing.T) {
	play := func(span time.Duration, look bool) board2 {
		r := loaded(t, "h200", 1, decoding)
		m := decoding(&r.f.spec, cost.GPU{Share: 1, Bandwidth: 1}, time.Second)
		for now := time.Duration(0); now < 20*time.Second; {
			now += span
			l := scaled(m, span)
			r.f.Advance(now, span, []Load{l})
			if look && now%time.Second == 0 {
				r.f.Section(day.Add(now))
			}
		}
		g := &r.f.gpus[0]
		return board2{g.total.joules, g.celsius, g.clock, g.total.dram}
	}
	want := play(100*time.Millisecond, false)
	for _, span := range []time.Duration{10 * time.Millisecond, 40 * time.Millisecond, 250 * time.Millisecond, 4 * time.Second} {
		for _, look := range []bool{false, true} {
			if got := play(span, look); !near(got.joules, want.joules) || !near(got.celsius, want.celsius) || !near(got.clock, want.clock) || !near(got.dram, want.dram) {
				t.Errorf("in pieces of %v, looked at %v: %+v, want %+v", span, look, got, want)
			}
		}
	}
}

type board2 struct{ joules, celsius, clock, dram float64 }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

func scaled(l Load, span time.Duration) Load {
	part := span.Seconds()
	l.Kernel, l.Tensor = seconds(l.Kernel.Seconds()*part), seconds(l.Tensor.Seconds()*part)
	l.Bytes, l.LinkBytes, l.PCIeBytes = l.Bytes*part, l.LinkBytes*part, l.PCIeBytes*part
	return l
}

// A day without a call between is no long loop.
func TestLongSpan(t *testing.T) {
	r := loaded(t, "h100", 1, decoding)
	before := r.f.gpus[0].total.joules
	m := decoding(&r.f.spec, cost.GPU{Share: 1, Bandwidth: 1}, 24*time.Hour)
	r.f.Advance(24*time.Hour, 24*time.Hour, []Load{m})
	g := &r.f.gpus[0]
	if watts := (g.total.joules - before) / 86400; math.Abs(watts-g.watts) > 5 || g.watts < 400 {
		t.Errorf("%.1f W by energy, %.1f W in the end", watts, g.watts)
	}
}

// Bytes over time over the peak is what the monitor says of the memory.
func TestMemoryTrafficAddsUp(t *testing.T) {
	r := loaded(t, "h100", 1, decoding)
	r.run(30 * time.Second)
	r.section()
	bytes := 0.0
	work := r.work
	r.work = func(i int, c cost.GPU, span time.Duration) Load {
		l := work(i, c, span)
		bytes += l.Bytes
		return l
	}
	r.run(10 * time.Second)
	if got, want := r.section().Devices[0].DRAMActiveRatio.Or(0), bytes/10/r.f.spec.Bandwidth; math.Abs(got-want) > 1e-6 {
		t.Errorf("DRAM active %.4f, want %.4f", got, want)
	}
}
