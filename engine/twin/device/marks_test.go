package device

import (
	"testing"
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// look is what an engineer goes by to tell faults of a GPU apart.
type look struct {
	clock, power, tensor, dram, sm, kernel float64 // clock of the highest, power of the limit
	bits                                   uint64  // of ten seconds, all together
	power10, heat10, brake10               float64 // seconds held down in these ten
	hot                                    float64 // °C to go until it slows down
	others                                 int
	xid                                    uint64
	limit                                  float64 // of the default
}

// looks plays on for ten seconds and reads GPU 0 each second.
func (r *rig) looks() (l look) {
	first := r.section().Devices[0]
	var last probes.GPUDevice
	for range 10 {
		r.run(time.Second)
		g := r.section()
		last = g.Devices[0]
		l.bits |= last.ThrottleBits.Or(0)
		l.others = 0
		for _, p := range g.Processes {
			if p.GPU == last.UUID && p.PID != 4000 {
				l.others++
			}
		}
	}
	grew := func(of func(*probes.GPUDevice) probes.Opt[float64]) float64 {
		return of(&last).Or(0) - of(&first).Or(0)
	}
	l.power10 = grew(func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottlePowerSecondsTotal })
	l.heat10 = grew(func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleThermalSecondsTotal })
	l.brake10 = grew(func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleBrakeSecondsTotal })
	l.clock, l.power = last.SMClockHertz.Or(0)/last.SMClockMaxHertz.Or(1), last.PowerWatts.Or(0)/last.PowerLimitWatts.Or(1)
	l.tensor, l.dram, l.sm, l.kernel = last.TensorActiveRatio.Or(-1), last.DRAMActiveRatio.Or(-1), last.SMActiveRatio.Or(-1), last.KernelActiveRatio.Or(-1)
	l.hot, l.xid, l.limit = last.TemperatureMarginCelsius.Or(-1), last.LastXid.Or(0), last.PowerLimitWatts.Or(0)/last.PowerDefaultWatts.Or(1)
	return l
}

// busy is an engine that is always at it: it does as many FLOPs and bytes as the GPU lets it.
// Prefill takes part of the time, as long as the arithmetic needs.
func busy(s *Spec, prefill float64) func(i int, c cost.GPU, span time.Duration) Load {
	return func(_ int, c cost.GPU, span time.Duration) Load {
		k := 0.95 * span.Seconds()
		slower := 1 / (c.Clock * c.Compute)
		p := prefill * slower / (prefill*slower + (1-prefill)/c.Bandwidth) // of the time in kernels
		work := k * c.Share
		return Load{Kernel: seconds(k), Tensor: seconds(work * (0.65*p*c.Compute + 0.1*(1-p)/slower)), Bytes: work * (0.3*p/slower + 0.75*(1-p)*c.Bandwidth) * s.Bandwidth,
			LinkBytes: work * 0.1 * s.LinkBandwidth * c.Link, Batch: 48, MemoryBytes: 0.9 * s.Memory}
	}
}

// Each fault has its marks, and none of those of the faults that look like it (rules reference, §2).
func TestMarks(t *testing.T) {
	const (
		slow = probes.ThrottleHWSlowdown
		heat = probes.ThrottleSWThermal | probes.ThrottleHWThermal
	)
	is := func(bits, want uint64) bool { return bits&want == want }
	for _, c := range []struct {
		name  string
		turn  func(r *rig)
		marks map[string]func(l, healthy look) bool
	}{
		{"power cap", func(r *rig) { r.turn(knob.PowerCap, 0, 380) }, map[string]func(l, h look) bool{
			"bit":                  func(l, h look) bool { return l.bits == probes.ThrottlePowerCap },
			"counted":              func(l, h look) bool { return l.power10 > 9 },
			"clock below 0.92":     func(l, h look) bool { return l.clock < 0.92 },
			"power at the limit":   func(l, h look) bool { return l.power > 0.95 && l.power < 1.04 },
			"limit below default":  func(l, h look) bool { return l.limit < 0.6 },
			"cooler than before":   func(l, h look) bool { return l.hot > h.hot },
			"no heat and no brake": func(l, h look) bool { return l.heat10 == 0 && l.brake10 == 0 },
		}},
		{"heat", func(r *rig) { r.turn(knob.Cooling, 0, 0.35) }, map[string]func(l, h look) bool{
			"bit": func(l, h look) bool {
				return is(l.bits, probes.ThrottleSWThermal) && !is(l.bits, probes.ThrottlePowerCap)
			},
			"counted":                   func(l, h look) bool { return l.heat10 > 9 && l.power10 == 0 },
			"clock below 0.92":          func(l, h look) bool { return l.clock < 0.92 },
			"power well below limit":    func(l, h look) bool { return l.power < 0.9 },
			"at the temperature it may": func(l, h look) bool { return l.hot <= 3 },
		}},
		{"power brake", func(r *rig) { r.turn(knob.PowerBrake, 0, 1) }, map[string]func(l, h look) bool{
			"bits":                   func(l, h look) bool { return l.bits == slow|probes.ThrottlePowerBrake },
			"counted":                func(l, h look) bool { return l.brake10 > 9.5 && l.power10 == 0 && l.heat10 == 0 },
			"clock half":             func(l, h look) bool { return l.clock > 0.45 && l.clock < 0.55 },
			"power well below limit": func(l, h look) bool { return l.power < 0.7 },
		}},
		{"stuck clocks", func(r *rig) { r.turn(knob.ClockLock, 0, 900) }, map[string]func(l, h look) bool{
			"no bit but that of a setting": func(l, h look) bool { return l.bits&^probes.ThrottleAppClocks == 0 },
			"nothing counted":              func(l, h look) bool { return l.power10 == 0 && l.heat10 == 0 && l.brake10 == 0 },
			"clock below 0.7":              func(l, h look) bool { return l.clock < 0.7 },
			"power below 0.6":              func(l, h look) bool { return l.power < 0.6 },
			"busy":                         func(l, h look) bool { return l.sm > 0.5 },
		}},
		{"shared", func(r *rig) { r.turn(knob.OtherKernels, 0, 0.5); r.turn(knob.OtherMemory, 0, 4) }, map[string]func(l, h look) bool{
			"another process":        func(l, h look) bool { return l.others == 1 && h.others == 0 },
			"no bit of heat or such": func(l, h look) bool { return l.bits&(heat|slow) == 0 },
			"clock as before":        func(l, h look) bool { return l.clock > 0.92 },
			"busy the more":          func(l, h look) bool { return l.kernel > h.kernel },
			"limit as before":        func(l, h look) bool { return l.limit == 1 },
		}},
		{"slow arithmetic", func(r *rig) { r.turn(knob.Compute, 0, 0.5) }, map[string]func(l, h look) bool{
			"no bit of heat or such": func(l, h look) bool { return l.bits&(heat|slow) == 0 },
			"clock as before":        func(l, h look) bool { return l.clock > 0.92 },
			"no other, no error":     func(l, h look) bool { return l.others == 0 && l.xid == 0 },
			"less at the tensors":    func(l, h look) bool { return l.tensor < 0.9*h.tensor },
			"as busy":                func(l, h look) bool { return l.kernel >= h.kernel-0.01 },
		}},
		{"slow memory", func(r *rig) { r.turn(knob.Bandwidth, 0, 0.4) }, map[string]func(l, h look) bool{
			"clock as before":    func(l, h look) bool { return l.clock > 0.92 && l.bits&(heat|slow) == 0 },
			"less of the memory": func(l, h look) bool { return l.dram < 0.7*h.dram },
		}},
		{"Xid", func(r *rig) { r.turn(knob.Xid, 0, 48) }, map[string]func(l, h look) bool{
			"its number": func(l, h look) bool { return l.xid == 48 && h.xid == 0 },
			"no slower":  func(l, h look) bool { return l.clock > 0.92 },
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := specOf(t, "h100")
			r := newRig(t, "h100", 1, busy(&s, 0.15))
			r.run(time.Minute)
			healthy := r.looks()
			if healthy.clock < 0.92 || healthy.heat10 > 0 || healthy.brake10 > 0 || healthy.bits&^probes.ThrottlePowerCap != 0 {
				t.Fatalf("before: %+v", healthy)
			}
			c.turn(r)
			r.run(3 * time.Minute)
			l := r.looks()
			for mark, holds := range c.marks {
				if !holds(l, healthy) {
					t.Errorf("%s: before %+v, then %+v", mark, healthy, l)
				}
			}
		})
	}
}

// A card at full work touches its power limit though nothing is wrong with it.
func TestHealthyCardTouchesItsLimit(t *testing.T) {
	for _, name := range []string{"h100", "h200", "a100-80", "l4", "a10"} {
		r := loaded(t, name, 1, mix(0.97, 0.45, 0.6))
		r.run(time.Minute)
		lit := 0
		for range 60 {
			r.run(time.Second)
			if r.section().Devices[0].ThrottleBits.Or(0)&probes.ThrottlePowerCap != 0 {
				lit++
			}
		}
		if lit < 12 {
			t.Errorf("%s: the power-cap bit is lit in %d of 60 samples", name, lit)
		}
	}
}

// Ranks that wait for a slow one spin: all kernel time, little power, no memory traffic.
func TestStragglersPeersSpin(t *testing.T) {
	s := specOf(t, "h100")
	r := newRig(t, "h100", 4, func(i int, c cost.GPU, span time.Duration) Load {
		l := Load{Kernel: span, Batch: 32, MemoryBytes: 6e10}
		if l.Tensor, l.Bytes = span*3/20, 0.35*s.Bandwidth*span.Seconds(); i != 2 {
			l.Idle = span / 2
		}
		return l
	})
	r.run(time.Minute)
	r.section()
	r.run(10 * time.Second)
	g := r.section()
	slow := g.Devices[2]
	for i, d := range g.Devices {
		if d.KernelActiveRatio.Or(0) < 0.99 {
			t.Errorf("GPU %d: kernels run %.2f of the time", i, d.KernelActiveRatio.Or(0))
		}
		if i != 2 && (d.PowerWatts.Or(0) > 0.92*slow.PowerWatts.Or(0) || d.SMActiveRatio.Or(0) > 0.7*slow.SMActiveRatio.Or(0)) {
			t.Errorf("GPU %d waits at %.0f W with SMs %.2f active, the slow one works at %.0f W with %.2f", i, d.PowerWatts.Or(0), d.SMActiveRatio.Or(0), slow.PowerWatts.Or(0), slow.SMActiveRatio.Or(0))
		}
	}
}

func TestHangSpins(t *testing.T) {
	r := loaded(t, "h100", 2, decoding)
	r.run(time.Minute)
	r.work = func(_ int, _ cost.GPU, span time.Duration) Load {
		return Load{Kernel: span, Idle: span, MemoryBytes: 6e10}
	}
	r.run(15 * time.Second)
	r.section()
	r.run(5 * time.Second)
	r.each(func(d *probes.GPUDevice) {
		if d.KernelActiveRatio.Or(0) < 0.99 || d.PowerWatts.Or(0) > 0.4*d.PowerLimitWatts.Or(0) || d.DRAMActiveRatio.Or(1) > 0.02 || d.TensorActiveRatio.Or(1) > 0.02 {
			t.Errorf("kernels %.2f of the time, %.0f W, DRAM %.2f, tensor %.2f", d.KernelActiveRatio.Or(0), d.PowerWatts.Or(0), d.DRAMActiveRatio.Or(1), d.TensorActiveRatio.Or(1))
		}
	})
}

// Clocks that fall without work are low when the next request comes, and rise in a while.
func TestIdleClocks(t *testing.T) {
	for _, name := range []string{"h100", "l4"} {
		r := loaded(t, name, 1, nothing)
		r.run(10 * time.Second)
		if d := r.section().Devices[0]; d.ThrottleBits.Or(9) != 0 || d.SMClockHertz.Or(0) < 0.95*d.SMClockMaxHertz.Or(1) {
			t.Errorf("%s, with a process on it: clock %.0f, bits %x", name, d.SMClockHertz.Or(0), d.ThrottleBits.Or(9))
		}
		awake := r.f.gpus[0].watts
		r.turn(knob.IdleClocks, 0, 1)
		r.run(10 * time.Second)
		if c := r.f.Condition(0).Clock; c > 0.3 || r.f.gpus[0].watts >= awake {
			t.Errorf("%s: clock %.2f, %.0f W of %.0f W", name, c, r.f.gpus[0].watts, awake)
		}
		if d := r.section().Devices[0]; d.ThrottleBits.Or(9) != probes.ThrottleIdle || (d.PerformanceState.Or(0) == 8) != (name == "l4") {
			t.Errorf("%s: bits %x, P%v", name, d.ThrottleBits.Or(9), d.PerformanceState)
		}
		r.work = alike(&r.f.spec, mix(0.3, 0.1, 0.3))
		r.run(200 * time.Millisecond)
		if c := r.f.Condition(0).Clock; c > 0.9 {
			t.Errorf("%s: the clock is at %.2f after 0.2 s of work", name, c)
		}
		if r.run(3 * time.Second); r.f.Condition(0).Clock < 0.95 && name == "h100" {
			t.Errorf("%s: the clock is at %.2f after 3 s of work", name, r.f.Condition(0).Clock)
		}
	}
}
