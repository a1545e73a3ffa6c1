package amdgpu

import (
	"encoding/binary"
	"math"

	"llmtop/probes"
)

// layout says where in a file gpu_metrics of one revision what stands, and how long the
// file is; 0: it has no such field (kernel, kgd_pp_interface.h, struct gpu_metrics_v1_*).
// The revisions are no extensions of each other, so one that is not listed is not read.
type layout struct {
	size     int
	throttle int // reasons as bits that are the same for all cards
	clock    int // ns
	energy   int // of 2^-16 J
	replays  int
	sent     int // xGMI, eight links, KiB
	received int
	cycles   int // that the residencies below are parts of
	prochot  int
	power    int
	heat     [3]int // of the socket, the voltage regulators, the memory
}

// layouts are those of format revision 1, by content revision.
var layouts = map[byte]layout{
	3: {size: 120, throttle: 112, clock: 32},
	4: {size: 288, clock: 32, energy: 24, replays: 88, received: 104, sent: 168},
	5: {size: 328, clock: 64, energy: 56, replays: 120, received: 144, sent: 208},
	6: {size: 1664, clock: 24, energy: 16, replays: 104, received: 128, sent: 192, cycles: 32, prochot: 36, power: 40, heat: [3]int{44, 48, 52}},
	7: {size: 2208, clock: 32, energy: 24, replays: 112, received: 136, sent: 200, cycles: 40, prochot: 44, power: 48, heat: [3]int{52, 56, 60}},
	8: {size: 3360, clock: 32, energy: 24, replays: 112, received: 136, sent: 200, cycles: 40, prochot: 44, power: 48, heat: [3]int{52, 56, 60}},
}

// links is how many xGMI links a file tells of.
const links = 8

// metrics reads the firmware's own table. It keeps the last one, since most of what it
// tells is counted.
type metrics struct {
	last                   *table
	power, heat, prochot   float64 // seconds held down since the first reading
	bits                   uint64
	told                   bool // there were two readings, and bits says what was so between them
	sentPerS, receivedPerS probes.Opt[float64]
}

// table is one reading.
type table struct {
	layout
	b []byte
}

// parse takes a file whose header says that it is of a known revision and whole.
func parse(b []byte) *table {
	if len(b) < 4 || b[2] != 1 {
		return nil
	}
	l, known := layouts[b[3]]
	if !known || int(binary.LittleEndian.Uint16(b)) != l.size || len(b) < l.size {
		return nil
	}
	return &table{l, b}
}

// u32 and u64 are fields; all bits set is how the driver says that there is none.
func (t *table) u32(at int) (uint32, bool) {
	v := binary.LittleEndian.Uint32(t.b[at:])
	return v, at > 0 && v != math.MaxUint32
}

func (t *table) u64(at int) (uint64, bool) {
	v := binary.LittleEndian.Uint64(t.b[at:])
	return v, at > 0 && v != math.MaxUint64
}

// read fills in what the table tells.
func (m *metrics) read(f files, d *probes.GPUDevice) {
	b, err := f.get("gpu_metrics")
	t := parse(b)
	if err != nil || t == nil {
		if err != nil {
			d.ThrottleBits = probes.None[uint64](why(err))
		}
		m.last, m.told = nil, false
		return
	}
	if v, ok := t.u64(t.energy); ok {
		d.EnergyJoulesTotal = probes.Some(float64(v) / (1 << 16))
	}
	if v, ok := t.u64(t.replays); ok {
		d.PCIeReplaysTotal = probes.Some(float64(v))
	}
	if v, ok := t.u64(t.throttle); ok {
		d.ThrottleBits = probes.Some(reasons(v))
	}
	m.compare(t)
	m.last = t
	d.NVLinkTxBytesPerS, d.NVLinkRxBytesPerS = m.sentPerS, m.receivedPerS
	if t.cycles > 0 {
		d.ThrottlePowerSecondsTotal, d.ThrottleThermalSecondsTotal, d.ThrottleHWThermalSecondsTotal = probes.Some(m.power), probes.Some(m.heat), probes.Some(m.prochot)
		d.ThrottleBits = probes.None[uint64](probes.NotSeen)
		if m.told {
			d.ThrottleBits = probes.Some(m.bits)
		}
	}
}

// Reasons that the firmware has for holding clocks down (kernel, amdgpu_smu.h,
// SMU_THROTTLER_*_BIT): package power in bits 0 to 7, current in 16 to 22, heat in 32 to
// 45, and from 46 on that a pin of the processor said it is too hot.
const (
	powerReasons   = 0xff | 0x7f<<16
	heatReasons    = 0x3fff << 32
	prochotReasons = 0x3 << 46
)

// reasons are the bits by NVML's names. A limit of current is one of power by another name.
func reasons(v uint64) (bits uint64) {
	if v&powerReasons != 0 {
		bits |= probes.ThrottlePowerCap
	}
	if v&heatReasons != 0 {
		bits |= probes.ThrottleSWThermal
	}
	if v&prochotReasons != 0 {
		bits |= probes.ThrottleHWThermal
	}
	return bits
}

// compare works out what went on since the last table.
func (m *metrics) compare(t *table) {
	unsupported, notYet := probes.None[float64](probes.Unsupported), probes.Opt[float64]{}
	m.sentPerS, m.receivedPerS = unsupported, unsupported
	if t.sent > 0 {
		m.sentPerS, m.receivedPerS = notYet, notYet
	}
	if m.last == nil || m.last.size != t.size {
		return
	}
	was, known := m.last.u64(t.clock)
	is, told := t.u64(t.clock)
	if !known || !told || is <= was {
		return // the firmware did not renew it, or began anew
	}
	seconds := float64(is-was) / 1e9
	if t.sent > 0 {
		m.sentPerS, m.receivedPerS = t.rate(m.last, t.sent, seconds), t.rate(m.last, t.received, seconds)
	}
	if t.cycles > 0 {
		m.hold(t, seconds)
	}
}

// hold adds up the times for which clocks were held down.
func (m *metrics) hold(t *table, seconds float64) {
	power, heat, prochot := t.share(m.last, t.power), 0.0, t.share(m.last, t.prochot)
	for _, at := range t.heat { // they may be at the same time
		heat = max(heat, t.share(m.last, at))
	}
	m.power, m.heat, m.prochot = m.power+power*seconds, m.heat+heat*seconds, m.prochot+prochot*seconds
	m.bits, m.told = 0, true
	for _, r := range []struct {
		share float64
		bit   uint64
	}{{power, probes.ThrottlePowerCap}, {heat, probes.ThrottleSWThermal}, {prochot, probes.ThrottleHWThermal}} {
		if r.share > 0 {
			m.bits |= r.bit
		}
	}
}

// share is the part of the cycles since an older table in which a residency was counted.
// Both are of 32 bits and may have run over once.
func (t *table) share(older *table, at int) float64 {
	a, ok := older.u32(at)
	b, now := t.u32(at)
	from, known := older.u32(t.cycles)
	to, told := t.u32(t.cycles)
	if !ok || !now || !known || !told || to == from {
		return 0
	}
	return min(float64(b-a)/float64(to-from), 1)
}

// rate is what all links moved a second since an older table. A counter that went back, of
// one link, makes it unknown.
func (t *table) rate(older *table, at int, seconds float64) probes.Opt[float64] {
	total, any := 0.0, false
	for i := range links {
		a, had := older.u64(at + 8*i)
		b, has := t.u64(at + 8*i)
		switch {
		case !had || !has:
			continue
		case b < a:
			return probes.Opt[float64]{}
		}
		total, any = total+float64(b-a)*1024, true
	}
	if !any {
		return probes.None[float64](probes.Unsupported)
	}
	return probes.Some(total / seconds)
}
