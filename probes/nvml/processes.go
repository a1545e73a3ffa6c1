//go:build linux && cgo

package nvml

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// users are the processes on a device.
type users struct {
	root string // of /proc
	now  func() time.Time
	seen uint64 // microseconds: the newest sample of use that was read
}

// mostProcesses of a device are kept, those with most memory, of the mostListed that the
// driver names first; highestPID is the kernel's own limit.
const (
	mostProcesses = 256
	mostListed    = 1 << 14
	highestPID    = 1 << 22
)

// place is where processes run: a device, or a MIG instance of one.
type place struct {
	uuid   string
	handle nvml.Device
	whole  bool // it is a device that is not divided
}

// places of a divided device are its instances: its own list has the processes of all of
// them once more.
func (d *nvmlDevice) places() []place {
	var all []place
	for _, i := range d.instances {
		all = append(all, place{uuid: i.fixed.UUID, handle: i.handle})
	}
	if len(all) == 0 {
		all = append(all, place{d.kept.UUID, d.handle, !d.kept.MIG})
	}
	return all
}

// processes lists who uses the device, most memory first.
func (d *nvmlDevice) processes() ([]probes.GPUProcess, bool) {
	if d.handle == nil {
		return nil, false
	}
	var out []probes.GPUProcess
	told := false
	for _, at := range d.places() {
		found, ok := d.processesOf(at)
		told = told || ok
		out = slices.AppendSeq(out, maps.Values(found))
	}
	slices.SortFunc(out, func(a, b probes.GPUProcess) int {
		return cmp.Or(cmp.Compare(b.MemoryBytes.Or(0), a.MemoryBytes.Or(0)), cmp.Compare(a.PID, b.PID), cmp.Compare(a.GPU, b.GPU))
	})
	out = out[:min(len(out), mostProcesses)]
	names := namesOf(d.users.root)
	for i := range out {
		out[i].Name = names(out[i].PID)
	}
	return out, told
}

// processesOf asks three lists: of those that compute, those that draw, and those that
// compute through MPS.
func (d *nvmlDevice) processesOf(at place) (map[uint32]probes.GPUProcess, bool) {
	found := map[uint32]probes.GPUProcess{}
	compute := d.add(found, at, "nvmlDeviceGetComputeRunningProcesses", at.handle.GetComputeRunningProcesses)
	graphics := d.add(found, at, "nvmlDeviceGetGraphicsRunningProcesses", at.handle.GetGraphicsRunningProcesses)
	mps := d.add(found, at, "nvmlDeviceGetMPSComputeRunningProcesses", at.handle.GetMPSComputeRunningProcesses)
	if len(found) > 0 {
		d.addUse(found, at)
	}
	return found, compute || graphics || mps
}

// add asks for one of the lists. A process may be in several, each time with all its memory.
func (d *nvmlDevice) add(to map[uint32]probes.GPUProcess, at place, symbol string, get func() ([]nvml.ProcessInfo, nvml.Return)) bool {
	var list []nvml.ProcessInfo
	ret := d.guard.call(symbol, func() (ret nvml.Return) { list, ret = get(); return })
	if ret != nvml.SUCCESS {
		return false
	}
	for _, p := range list {
		before, known := to[p.Pid]
		if p.Pid == 0 || p.Pid > highestPID || (!known && len(to) == mostListed) {
			continue // in a container some drivers give entries without content
		}
		if memory := processMemory(p.UsedGpuMemory); memory.Seen() || !known {
			before.MemoryBytes = memory
		}
		before.GPU, before.PID = at.uuid, int(p.Pid)
		to[p.Pid] = before
	}
	return true
}

// processMemory has all bits set where the driver does not know.
func processMemory(bytes uint64) probes.Opt[float64] {
	if bytes == math.MaxUint64 {
		return probes.None[float64](probes.Unsupported)
	}
	return probes.Some(float64(bytes))
}

// addUse adds how much of the time each had work on the device, which no driver tells of a
// MIG instance. What is impossible, or not newer than what was read before, is no reading.
func (d *nvmlDevice) addUse(to map[uint32]probes.GPUProcess, at place) {
	now := d.users.now()
	if d.users.seen > uint64(now.UnixMicro()) { // the clock was set back: nothing would be newer for as long
		d.users.seen = 0
	}
	since := max(d.users.seen, uint64(now.Add(-processEvery).UnixMicro()))
	idle := probes.None[float64](probes.Unsupported)
	var samples []nvml.ProcessUtilizationSample
	if at.whole {
		samples, idle = d.use(at.handle, since)
	}
	for pid, p := range to {
		p.KernelActiveRatio, p.MemoryActiveRatio = idle, idle
		to[pid] = p
	}
	for _, s := range samples { // the newest of a process wins
		p, known := to[s.Pid]
		if !known {
			continue
		}
		if s.TimeStamp <= since {
			p.KernelActiveRatio, p.MemoryActiveRatio = probes.None[float64](probes.Stale), probes.None[float64](probes.Stale)
		} else {
			p.KernelActiveRatio, p.MemoryActiveRatio = percent(s.SmUtil, nvml.SUCCESS), percent(s.MemUtil, nvml.SUCCESS)
			d.users.seen = max(d.users.seen, s.TimeStamp)
		}
		to[s.Pid] = p
	}
}

// use asks for the samples since a time, and orders them by theirs. The driver lists only
// processes that had work meanwhile, and says that it found none when none had: the others
// were idle. go-nvml panics when the list grows while it reads it, so it is asked once more.
func (d *nvmlDevice) use(h nvml.Device, since uint64) (samples []nvml.ProcessUtilizationSample, others probes.Opt[float64]) {
	var ret nvml.Return
	for range 2 {
		ret = d.guard.call("nvmlDeviceGetProcessUtilization", func() (ret nvml.Return) { samples, ret = h.GetProcessUtilization(since); return })
		if ret != nvml.ERROR_UNKNOWN {
			break
		}
	}
	empty := ret == nvml.ERROR_NOT_FOUND || (ret == nvml.ERROR_INSUFFICIENT_SIZE && len(samples) == 0)
	switch {
	case empty:
		return nil, probes.Some(0.0)
	case ret != nvml.SUCCESS:
		return nil, probes.None[float64](absence(ret))
	}
	slices.SortFunc(samples, func(a, b nvml.ProcessUtilizationSample) int { return cmp.Compare(a.TimeStamp, b.TimeStamp) })
	return samples, probes.Some(0.0)
}
