package rules

import (
	"slices"
	"time"

	"llmtop/probes"
)

const (
	processesSpan = 30 * time.Second // for how long a list of the processes on a device stands
	maxDevices    = 128              // that are looked at: 16 devices in 7 instances each, and themselves
)

// device is a GPU as it is now, with what it told before.
type device struct {
	*probes.GPUDevice
	mine    bool                // the engine uses it, or may: whose it is cannot be told
	divided bool                // its MIG instances are devices of their own
	bad     bool                // it tells nothing now
	why     probes.Absence      // then
	past    []*probes.GPUDevice // its readings of the now span, oldest first, the newest included
	oldest  *probes.GPUDevice   // its first reading of the wide span, nil without one
	held    heldSamples
}

// heldSamples counts the samples of the now span in which a device told its throttle bits,
// and those in which it was held down.
type heldSamples struct{ all, power, heat, brake float64 }

func (h *heldSamples) add(d *probes.GPUDevice) {
	bits, ok := d.ThrottleBits.Get()
	if !ok {
		return
	}
	h.all++
	if bits&probes.ThrottlePowerCap != 0 {
		h.power++
	}
	if bits&(probes.ThrottleSWThermal|probes.ThrottleHWThermal) != 0 {
		h.heat++
	}
	if bits&probes.ThrottlePowerBrake != 0 {
		h.brake++
	}
}

// gpus are the devices of the newest point. It is carried from tick to tick for its room.
type gpus struct {
	list   []device
	joined bool                 // it is known which of them the engine uses
	others []*probes.GPUProcess // on those, and none of the engine's
	cpus   cpuLists
	room   []float64
}

// look takes the newest point in.
func (g *gpus) look(n *now) {
	g.joined, g.others = false, g.others[:0]
	section := n.point.GPU
	if section == nil {
		g.list = g.list[:0]
		return
	}
	devices := min(len(section.Devices), maxDevices)
	g.list = slices.Grow(g.list[:0], devices)[:devices]
	for i := range g.list {
		d := &g.list[i]
		*d = device{GPUDevice: &section.Devices[i], past: d.past[:0]}
		d.bad, d.why = n.silentDevice(d.GPUDevice)
	}
	for i := range g.list {
		g.list[i].divided = g.list[i].MIG && slices.ContainsFunc(g.list, func(d device) bool { return d.Parent == g.list[i].UUID && d.Parent != "" })
	}
	g.remember(n)
	g.join(n, section)
}

// silentDevice reports that a device tells nothing now, and why. What an exporter tells
// stands longer than what is read at each tick; its share in another's device was judged
// when the two were joined.
func (n *now) silentDevice(d *probes.GPUDevice) (bool, probes.Absence) {
	switch {
	case isLost(d):
		return true, probes.Lost
	case d.Err != "":
		return true, probes.Stale
	}
	return !d.Stands(n.at, n.stale), probes.Stale
}

// isLost reports a device that fell off the bus, or one of which nothing else is known
// than that it does not answer.
func isLost(d *probes.GPUDevice) bool {
	return d.Err != "" && d.KernelActiveRatio.Why() != probes.Stale
}

// remember gathers what each device told over the now span. A reading that comes again
// counts once; times that go back begin anew.
func (g *gpus) remember(n *now) {
	var last *probes.GPU
	for _, p := range n.span.Points() {
		if p.GPU == nil || p.GPU == last {
			continue
		}
		last = p.GPU
		for i := range g.list {
			g.list[i].take(n.toldBy(p.GPU, i, g.list[i].UUID))
		}
	}
	for i := range g.list {
		d := &g.list[i]
		for _, p := range n.wide.Points() {
			if d.oldest = n.toldBy(p.GPU, i, d.UUID); d.oldest != nil {
				break
			}
		}
	}
}

// toldBy is what a device told in a section, nil when it told nothing or long ago.
func (n *now) toldBy(g *probes.GPU, i int, uuid string) *probes.GPUDevice {
	if g == nil {
		return nil
	}
	d := deviceIn(g, i, uuid)
	if d == nil || d.Err != "" || n.at.Sub(d.At) > lookSpan {
		return nil
	}
	return d
}

func (d *device) take(then *probes.GPUDevice) {
	if then == nil {
		return
	}
	if k := len(d.past); k > 0 {
		before := d.past[k-1].At
		if then.At.Equal(before) {
			return
		}
		if then.At.Before(before) {
			d.past, d.held = d.past[:0], heldSamples{}
		}
	}
	d.past = append(d.past, then)
	d.held.add(then)
}

// deviceIn finds a device in a section: mostly where it is now.
func deviceIn(g *probes.GPU, i int, uuid string) *probes.GPUDevice {
	if i < len(g.Devices) && g.Devices[i].UUID == uuid {
		return &g.Devices[i]
	}
	for i := range g.Devices {
		if g.Devices[i].UUID == uuid {
			return &g.Devices[i]
		}
	}
	return nil
}

// join finds out which devices the engine uses: those of which its processes hold memory.
// Where none can be found, numbers of processes may be those of another namespace, or the
// list is not to be had, they are all taken to be its own.
func (g *gpus) join(n *now, section *probes.GPU) {
	if !section.ProcessesAt.IsZero() && n.at.Sub(section.ProcessesAt) <= max(n.stale, processesSpan) {
		for i := range section.Processes {
			if p := &section.Processes[i]; n.isEngine(p.PID) {
				g.claim(p.GPU)
			}
		}
	}
	if !g.joined {
		for i := range g.list {
			g.list[i].mine = true
		}
		return
	}
	for i := range section.Processes {
		p := &section.Processes[i]
		if p.PID > 0 && g.uses(p.GPU) && !n.isEngine(p.PID) {
			g.others = append(g.others, p)
		}
	}
}

// find is the device or instance of that identity, nil when there is none.
func (g *gpus) find(uuid string) *device {
	for i := range g.list {
		if g.list[i].UUID == uuid {
			return &g.list[i]
		}
	}
	return nil
}

// claim makes a device the engine's, and of a MIG instance the device that it is of.
func (g *gpus) claim(uuid string) {
	d := g.find(uuid)
	if d == nil {
		return
	}
	g.joined, d.mine = true, true
	if d.Parent == "" {
		return
	}
	if parent := g.find(d.Parent); parent != nil {
		parent.mine = true
	}
}

// uses reports that the engine computes on a device or instance. That it has an instance of
// a divided one does not make what runs on the other instances its neighbours.
func (g *gpus) uses(uuid string) bool {
	d := g.find(uuid)
	return d != nil && d.mine && !d.divided
}

// isEngine reports a process of the engine's, by its number on this host.
func (n *now) isEngine(pid int) bool {
	if p := n.point.Process; p != nil {
		if pid == p.PID {
			return pid > 0
		}
		if _, found := slices.BinarySearchFunc(p.Members, pid, func(m probes.Member, pid int) int { return m.PID - pid }); found {
			return true
		}
	}
	for _, c := range n.point.Configs {
		if pid == c.PID && pid > 0 || slices.ContainsFunc(c.Ranks, func(r probes.Rank) bool { return r.PID == pid }) {
			return true
		}
	}
	return false
}
