package probes

import (
	"slices"
	"time"
)

// Where a device's readings come from.
const (
	SourceNVML   = "nvml"
	SourceDCGM   = "dcgm"   // an exporter of DCGM's readings
	SourceAMDGPU = "amdgpu" // the kernel driver's files
)

// stalePeriods is for how many periods of its source a reading stands.
const stalePeriods = 3

// Stands reports whether the device's readings stand for now: limit is the age at which
// those of a source that is read at each tick no longer do, and a source that is renewed
// more rarely has three of its periods.
func (d *GPUDevice) Stands(now time.Time, limit time.Duration) bool {
	own := time.Duration(stalePeriods * d.PeriodSeconds * float64(time.Second))
	return now.Sub(d.At) <= max(limit, own)
}

// AddTo joins what several probes tell of the GPUs. The driver's own devices come first,
// and what an exporter tells of one of them fills in the activity that the driver does not
// tell. An exporter's devices count only where the driver tells of none: in a container it
// may well tell of devices that are not ours. Those of another driver are added. A section
// that has nothing to be joined with is placed as it is. Why the driver tells of none is
// kept: a board that somebody else tells of does not mean that the driver works.
func (g *GPU) AddTo(to *Sample) {
	g = g.aged(to.At)
	switch was := to.GPU; {
	case was == nil:
		to.GPU = g
	case len(was.Devices) == 0 && len(g.Devices) > 0:
		to.GPU = g.noted(was.Note)
	case len(g.Devices) == 0:
		to.GPU = was.noted(g.Note)
	case g.exported():
		to.GPU = was.filledFrom(g)
	case was.exported() && !g.foreign():
		to.GPU = g.filledFrom(was)
	default:
		to.GPU = was.and(g)
	}
}

// noted is the section with a note, if it has none of its own.
func (g *GPU) noted(note string) *GPU {
	if note == "" || g.Note != "" {
		return g
	}
	out := *g
	out.Note = note
	return &out
}

func (g *GPU) exported() bool { return g.Devices[0].Source == SourceDCGM }
func (g *GPU) foreign() bool  { return g.Devices[0].Source == SourceAMDGPU }

// aged is the section at now: readings that are older than three periods of their source
// are stale. It is the section itself while there are none.
func (g *GPU) aged(now time.Time) *GPU {
	old := func(d GPUDevice) bool { return d.PeriodSeconds > 0 && !d.Stands(now, 0) }
	if !slices.ContainsFunc(g.Devices, old) {
		return g
	}
	out := *g
	out.Devices = slices.Clone(g.Devices)
	for i := range out.Devices {
		if old(out.Devices[i]) {
			out.Devices[i].expire()
		}
	}
	return &out
}

// expire makes every reading that there was a stale one. What never was keeps its reason.
func (d *GPUDevice) expire() {
	for _, r := range GPUReadings {
		if v := r.Of(d); v.Seen() {
			*v = None[float64](Stale)
		}
	}
	if d.ThrottleBits.Seen() {
		d.ThrottleBits = None[uint64](Stale)
	}
}

// filledFrom is the section with the activity that another source tells of its devices.
func (g *GPU) filledFrom(other *GPU) *GPU {
	out := *g
	out.Devices = slices.Clone(g.Devices)
	for i := range other.Devices {
		if mine := match(out.Devices, other.Devices, i); mine >= 0 {
			out.Devices[mine].fill(&other.Devices[i])
		}
	}
	return &out
}

// match finds the device that others[i] is, -1 where there is none. A MIG instance has no
// UUID in DCGM: it is known by its parent and its number there or, where one side does not
// tell the number, by its profile while there is only one of that.
func match(devices, others []GPUDevice, i int) int {
	d := &others[i]
	if at := slices.IndexFunc(devices, func(m GPUDevice) bool { return m.UUID == d.UUID }); at >= 0 || d.Parent == "" {
		return at
	}
	found := -1
	for at := range devices {
		m := &devices[at]
		if m.Parent != d.Parent || m.Instance != d.Instance {
			continue
		}
		mine, known := m.InstanceID.Get()
		theirs, told := d.InstanceID.Get()
		switch {
		case known && told && mine == theirs:
			return at
		case known && told:
		case found >= 0 || profiles(others, d) > 1:
			return -1
		default:
			found = at
		}
	}
	return found
}

// profiles counts the instances of the same profile on the same device.
func profiles(devices []GPUDevice, d *GPUDevice) (n int) {
	for i := range devices {
		if devices[i].Parent == d.Parent && devices[i].Instance == d.Instance {
			n++
		}
	}
	return n
}

// activity are the readings of how busy a device's units and links are.
var activity = [...]func(*GPUDevice) *Opt[float64]{
	func(d *GPUDevice) *Opt[float64] { return &d.SMActiveRatio },
	func(d *GPUDevice) *Opt[float64] { return &d.DRAMActiveRatio },
	func(d *GPUDevice) *Opt[float64] { return &d.TensorActiveRatio },
	func(d *GPUDevice) *Opt[float64] { return &d.SMOccupancyRatio },
	func(d *GPUDevice) *Opt[float64] { return &d.GraphicsActiveRatio },
	func(d *GPUDevice) *Opt[float64] { return &d.PCIeTxBytesPerS },
	func(d *GPUDevice) *Opt[float64] { return &d.PCIeRxBytesPerS },
	func(d *GPUDevice) *Opt[float64] { return &d.NVLinkTxBytesPerS },
	func(d *GPUDevice) *Opt[float64] { return &d.NVLinkRxBytesPerS },
}

// fill takes the activity over that the device does not tell. One that tells any activity
// of its units keeps to what it tells: two sources are of two times. What is counted
// (energy, errors) is never taken over: a counter that changes its source jumps.
func (d *GPUDevice) fill(from *GPUDevice) {
	if d.Err != "" || d.SMActiveRatio.Seen() || d.DRAMActiveRatio.Seen() || d.TensorActiveRatio.Seen() {
		return
	}
	for _, of := range activity {
		mine, theirs := of(d), of(from)
		if !mine.Seen() && (theirs.Seen() || theirs.Why() == Stale) {
			*mine = *theirs
			d.ActivityFrom, d.ActivityAt = from.Source, from.At
		}
	}
}

// and is the section with the devices of another driver after its own.
func (g *GPU) and(other *GPU) *GPU {
	out := *g
	out.Devices = slices.Clone(g.Devices)
	next := 0
	for i := range out.Devices {
		next = max(next, out.Devices[i].Index+1)
	}
	for _, d := range other.Devices {
		d.Index += next
		out.Devices = append(out.Devices, d)
	}
	if other.At.After(out.At) {
		out.At = other.At
	}
	if other.ProcessesAt.After(out.ProcessesAt) {
		out.ProcessesAt = other.ProcessesAt
	}
	out.Processes = slices.Concat(g.Processes, other.Processes)
	return &out
}
