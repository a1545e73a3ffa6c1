package amdgpu

import (
	"testing"
	"time"

	"llmtop/probes"
)

// Bits that are the same for all cards are told by the names that NVIDIA gave them.
func TestThrottleReasons(t *testing.T) {
	const power, heat, hot = probes.ThrottlePowerCap, probes.ThrottleSWThermal, probes.ThrottleHWThermal
	for bits, want := range map[uint64]uint64{
		0: 0, 1 << 0: power, 1 << 7: power, 1 << 16: power, 1 << 22: power, 1 << 32: heat, 1 << 45: heat, 1 << 46: hot, 1 << 47: hot,
		1 << 8: 0, 1 << 23: 0, 1 << 48: 0, 1<<1 | 1<<36: power | heat,
	} {
		root := tree(t, "mi250.txtar")
		put(t, root, device0+"gpu_metrics", metricsFile(3, map[int]uint64{layouts[3].throttle: bits}))
		d := newStage(t, root).device()
		if d.ThrottleBits != probes.Some(want) {
			t.Errorf("%#x: %v, want %#x", bits, d.ThrottleBits, want)
		}
		if d.EnergyJoulesTotal.Seen() || d.ThrottlePowerSecondsTotal.Seen() || d.NVLinkTxBytesPerS.Seen() {
			t.Errorf("a table without energy and links tells %v, %v, %v", d.EnergyJoulesTotal, d.ThrottlePowerSecondsTotal, d.NVLinkTxBytesPerS)
		}
	}
}

// The clocks of a card without work are low for that reason. Without reasons it is not said.
func TestIdleCard(t *testing.T) {
	root := tree(t, "rx7900.txtar")
	s := newStage(t, root)
	if d := s.device(); d.ThrottleBits.Seen() {
		t.Errorf("without reasons: %v", d.ThrottleBits)
	}
	put(t, root, device0+"gpu_metrics", metricsFile(3, map[int]uint64{layouts[3].throttle: 1}))
	if d := s.device(); d.ThrottleBits != probes.Some(probes.ThrottleIdle|probes.ThrottlePowerCap) {
		t.Errorf("with reasons: %v", d.ThrottleBits)
	}
}

// Residencies are parts of cycles, and become time by the firmware's clock. Counters of 32
// bits run over; what is all ones is not there.
func TestResidencies(t *testing.T) {
	for _, revision := range []byte{6, 7, 8} {
		l := layouts[revision]
		root := tree(t, "mi250.txtar")
		s := newStage(t, root)
		tick := func(clock float64, cycles, power, socket, memory, prochot uint64) *probes.GPUDevice {
			put(t, root, device0+"gpu_metrics", metricsFile(revision, map[int]uint64{
				l.clock: uint64(clock * 1e9), l.energy: uint64(clock * 65536 * 500), l.replays: 9, l.cycles: cycles,
				l.power: power, l.heat[0]: socket, l.heat[2]: memory, l.prochot: prochot,
			}))
			s.later(time.Second)
			return s.device()
		}
		d := tick(100, 0xfffffff0, 0xffffff00, 5, 10, 3)
		if d.ThrottleBits != probes.None[uint64](probes.NotSeen) || d.ThrottlePowerSecondsTotal != probes.Some(0.0) || d.EnergyJoulesTotal != probes.Some(50000.0) || d.PCIeReplaysTotal != probes.Some(9.0) {
			t.Errorf("1.%d at first: bits %v, held by power for %v s, %v J, %v replays", revision, d.ThrottleBits, d.ThrottlePowerSecondsTotal, d.EnergyJoulesTotal, d.PCIeReplaysTotal)
		}
		d = tick(102, 984, 244, 5, 260, 3) // 1000 cycles in 2 s: half of them held by power, a quarter by the memory's heat
		if d.ThrottlePowerSecondsTotal != probes.Some(1.0) || d.ThrottleThermalSecondsTotal != probes.Some(0.5) || d.ThrottleHWThermalSecondsTotal != probes.Some(0.0) ||
			d.ThrottleBits != probes.Some(probes.ThrottlePowerCap|probes.ThrottleSWThermal) {
			t.Errorf("1.%d: power %v s, heat %v s, prochot %v s, bits %v", revision, d.ThrottlePowerSecondsTotal, d.ThrottleThermalSecondsTotal, d.ThrottleHWThermalSecondsTotal, d.ThrottleBits)
		}
		d = tick(103, 1484, 244, 5, 260, 503)
		if d.ThrottlePowerSecondsTotal != probes.Some(1.0) || d.ThrottleHWThermalSecondsTotal != probes.Some(1.0) || d.ThrottleBits != probes.Some(probes.ThrottleHWThermal) {
			t.Errorf("1.%d: power %v s, prochot %v s, bits %v", revision, d.ThrottlePowerSecondsTotal, d.ThrottleHWThermalSecondsTotal, d.ThrottleBits)
		}
		d = tick(103, 1484, 244, 5, 260, 503) // not renewed
		if d.ThrottleHWThermalSecondsTotal != probes.Some(1.0) {
			t.Errorf("1.%d, not renewed: prochot %v s", revision, d.ThrottleHWThermalSecondsTotal)
		}
	}
}

// What went over the links between GPUs is counted a link, in KiB.
func TestLinksBetweenGPUs(t *testing.T) {
	for _, revision := range []byte{4, 5, 6, 7, 8} {
		l := layouts[revision]
		root := tree(t, "rx7900.txtar")
		s := newStage(t, root)
		tick := func(clock, sent0, sent1, received uint64) [2]probes.Opt[float64] {
			put(t, root, device0+"gpu_metrics", metricsFile(revision, map[int]uint64{l.clock: clock * 1e9, l.sent: sent0, l.sent + 8: sent1, l.received + 56: received}))
			s.later(time.Second)
			d := s.device()
			return [2]probes.Opt[float64]{d.NVLinkTxBytesPerS, d.NVLinkRxBytesPerS}
		}
		var none probes.Opt[float64]
		for i, c := range []struct{ got, want [2]probes.Opt[float64] }{
			{tick(10, 1000, 5000, 7), [2]probes.Opt[float64]{none, none}},
			{tick(12, 3000, 6000, 7), [2]probes.Opt[float64]{probes.Some(1500.0 * 1024), probes.Some(0.0)}},
			{tick(14, 100, 7000, 9), [2]probes.Opt[float64]{none, probes.Some(1024.0)}}, // a counter began anew
		} {
			if c.got != c.want {
				t.Errorf("1.%d, reading %d: %v, want %v", revision, i, c.got, c.want)
			}
		}
	}
}

// A table that is not known, or not whole, tells nothing: revisions are no extensions of
// each other.
func TestUnknownTables(t *testing.T) {
	whole := metricsFile(6, map[int]uint64{layouts[6].energy: 1 << 20})
	for name, file := range map[string]string{
		"empty": "", "short header": whole[:3], "cut": whole[:400], "an APU's": "\x78\x00\x02\x02" + whole[4:], "newer": "\x80\x06\x01\x09" + whole[4:], "other size": "\x81\x06" + whole[2:],
	} {
		root := tree(t, "rx7900.txtar")
		put(t, root, device0+"gpu_metrics", file)
		if d := newStage(t, root).device(); d.EnergyJoulesTotal != probes.None[float64](probes.Unsupported) || d.ThrottleBits.Seen() {
			t.Errorf("%s: energy %v, bits %v", name, d.EnergyJoulesTotal, d.ThrottleBits)
		}
	}
	root := tree(t, "rx7900.txtar")
	put(t, root, device0+"gpu_metrics", whole)
	if d := newStage(t, root).device(); d.EnergyJoulesTotal != probes.Some(16.0) {
		t.Errorf("the whole table: energy %v", d.EnergyJoulesTotal)
	}
}
