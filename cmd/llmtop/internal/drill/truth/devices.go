package truth

import (
	"slices"
	"time"

	"llmtop/probes"
)

// processesSpan is for how long a list of the processes on devices stands.
const processesSpan = 30 * time.Second

// devices are the GPUs at a moment.
type devices struct {
	list   []gpu
	joined bool                 // it is known which of them the engine uses
	others []*probes.GPUProcess // on those, and none of the engine's
}

// gpu is a device and what it told over the now span.
type gpu struct {
	*probes.GPUDevice
	mine, silent, divided bool
	past                  []*probes.GPUDevice
	oldest                *probes.GPUDevice // of the wide span
}

// of reads a number of a device.
type of func(*probes.GPUDevice) probes.Opt[float64]

// look works the devices out, once a moment.
func (v view) look() *devices {
	if d := v.now().devices; d != nil {
		return d
	}
	d := &devices{}
	v.now().devices = d
	s := v.now().GPU
	if s == nil {
		return d
	}
	for i := range s.Devices {
		g := gpu{GPUDevice: &s.Devices[i]}
		g.silent = g.Err != "" || !g.Stands(v.now().At, v.stale())
		g.divided = g.MIG && slices.ContainsFunc(s.Devices, func(o probes.GPUDevice) bool { return o.Parent == g.UUID })
		g.past = v.toldBy(v.last(nowSpan), g.UUID)
		if all := v.toldBy(v.last(wideSpan), g.UUID); len(all) > 0 {
			g.oldest = all[0]
		}
		d.list = append(d.list, g)
	}
	v.join(d, s)
	return d
}

// toldBy are a device's readings of a span, each once.
func (v view) toldBy(span view, uuid string) (out []*probes.GPUDevice) {
	for _, m := range span {
		if m.GPU == nil {
			continue
		}
		for i := range m.GPU.Devices {
			d := &m.GPU.Devices[i]
			if d.UUID != uuid || d.Err != "" || v.now().At.Sub(d.At) > lookSpan {
				continue
			}
			if n := len(out); n > 0 && d.At.Equal(out[n-1].At) {
				continue
			} else if n > 0 && d.At.Before(out[n-1].At) {
				out = nil
			}
			out = append(out, d)
		}
	}
	return out
}

// join finds the devices of which processes of the engine hold memory; all, where none can
// be found.
func (v view) join(d *devices, s *probes.GPU) {
	uses := map[string]bool{}
	if age := v.now().At.Sub(s.ProcessesAt); !s.ProcessesAt.IsZero() && age <= max(v.stale(), processesSpan) {
		for i := range s.Processes {
			if p := &s.Processes[i]; v.ofEngine(p.PID) {
				uses[p.GPU] = true
			}
		}
	}
	for i := range d.list {
		if g := &d.list[i]; uses[g.UUID] {
			d.joined, uses[g.Parent] = true, true
		}
	}
	for i := range d.list {
		g := &d.list[i]
		g.mine = !d.joined || uses[g.UUID]
		for j := range s.Processes {
			p := &s.Processes[j]
			if d.joined && g.mine && !g.divided && p.GPU == g.UUID && p.PID > 0 && !v.ofEngine(p.PID) {
				d.others = append(d.others, p)
			}
		}
	}
}

func (v view) ofEngine(pid int) bool {
	if pid <= 0 {
		return false
	}
	if p := v.now().Process; p != nil {
		if p.PID == pid || slices.ContainsFunc(p.Members, func(m probes.Member) bool { return m.PID == pid }) {
			return true
		}
	}
	for _, c := range v.now().Configs {
		if c.PID == pid || slices.ContainsFunc(c.Ranks, func(r probes.Rank) bool { return r.PID == pid }) {
			return true
		}
	}
	return false
}

// worst is the reading of the engine's device that is furthest off.
func (v view) worst(worse func(a, b float64) float64, read func(*gpu) (float64, bool)) (out float64, ok bool) {
	for i := range v.look().list {
		g := &v.look().list[i]
		if !g.mine || g.silent {
			continue
		}
		switch x, told := read(g); {
		case !told:
		case ok:
			out = worse(out, x)
		default:
			out, ok = x, true
		}
	}
	return out, ok
}

func smaller(a, b float64) float64 { return min(a, b) }

// counted adds a reading up over devices.
func (v view) counted(which func(*gpu) bool, read func(*gpu) (float64, bool)) (total float64, ok bool) {
	for i := range v.look().list {
		if g := &v.look().list[i]; which(g) {
			if x, told := read(g); told {
				total, ok = total+x, true
			}
		}
	}
	return total, ok
}

func mine(g *gpu) bool { return g.mine }
func every(*gpu) bool  { return true }

// readings are a number over the now span, as the device told it.
func (g *gpu) readings(read of) (out []reading) {
	for _, d := range g.past {
		if x, ok := read(d).Get(); ok {
			out = append(out, reading{d.At, x})
		}
	}
	return out
}

// idles reports clocks lowered for want of work.
func (g *gpu) idles() bool { return g.ThrottleBits.Or(0)&probes.ThrottleIdle != 0 }

// lost reports a device that fell off the bus.
func (g *gpu) lost() bool { return g.Err != "" && g.KernelActiveRatio.Why() != probes.Stale }

// gained is what a rare thing counted over the wide span.
func (g *gpu) gained(read of) (float64, bool) {
	now, ok := read(g.GPUDevice).Get()
	if !ok || g.silent || g.oldest == nil {
		return 0, false
	}
	before, ok := read(g.oldest).Get()
	if before > now {
		before = 0
	}
	return now - before, ok
}

// bits is the share of samples of the now span with one of these throttle bits.
func (g *gpu) bits(mask uint64) (float64, bool) {
	all, with := 0.0, 0.0
	for _, d := range g.past {
		if b, ok := d.ThrottleBits.Get(); ok {
			if all++; b&mask != 0 {
				with++
			}
		}
	}
	return with / max(all, 1), all > 0
}

// held is the share of the now span in which a reason held the clocks down: by the driver's
// counters where one has ever counted, else by samples with the bits.
func (g *gpu) held(mask uint64, seconds ...of) (float64, bool) {
	byTime, told, counts := 0.0, false, false
	for _, read := range seconds {
		if x, ok := perSecond(g.readings(read)); ok && read(g.GPUDevice).Seen() {
			byTime, told = max(byTime, min(x, 1)), true
		}
		counts = counts || read(g.GPUDevice).Or(0) > 0
	}
	if !told || !counts {
		if x, ok := g.bits(mask); ok {
			return x, true
		}
	}
	return byTime, told
}
