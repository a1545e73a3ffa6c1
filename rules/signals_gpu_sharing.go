package rules

import (
	"slices"

	"llmtop/probes"
)

// gpuSharingRows tell of devices that are not alike, and of who else is on them.
func gpuSharingRows() []Signal {
	other := func(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
		return gpuRow(name, title, unit, step, formula+"; missing where it is not known which devices the engine uses", func(n *now) probes.Opt[float64] {
			if !n.gpus.joined {
				return missing()
			}
			return at(n)
		})
	}
	return []Signal{
		gpuRow("gpu.spread", "slowest GPU of its kind", "ratio", 0.05, "SM clock of a busy device over the median of the busy ones of its model (power where clocks are not told), the lowest: a straggler; one device has nothing to be held against",
			(*now).gpuSpread),
		other("gpu.other_processes", "others on the engine's GPUs", "count", 1, "processes that hold memory of the engine's devices and are none of the engine's", func(n *now) probes.Opt[float64] {
			return probes.Some(float64(n.otherProcesses()))
		}),
		other("gpu.other_memory", "GPU memory of others", "bytes", 256<<20, "device memory that processes which are none of the engine's hold on its devices", func(n *now) probes.Opt[float64] {
			return n.ofOthers(func(p *probes.GPUProcess) probes.Opt[float64] { return p.MemoryBytes })
		}),
		other("gpu.other_active", "GPU kernel time of others", "ratio", 0.1, "time in which kernels ran of processes that are none of the engine's, added up over its devices", func(n *now) probes.Opt[float64] {
			return n.ofOthers(func(p *probes.GPUProcess) probes.Opt[float64] { return p.KernelActiveRatio })
		}),
	}
}

// otherProcesses counts them once, on however many devices they are.
func (n *now) otherProcesses() int {
	pids := make([]int, 0, len(n.gpus.others))
	for _, p := range n.gpus.others {
		pids = append(pids, p.PID)
	}
	slices.Sort(pids)
	return len(slices.Compact(pids))
}

// ofOthers adds a reading of them up: 0 without any.
func (n *now) ofOthers(of func(*probes.GPUProcess) probes.Opt[float64]) probes.Opt[float64] {
	if len(n.gpus.others) == 0 {
		return probes.Some(0.0)
	}
	out := missing()
	for _, p := range n.gpus.others {
		v := of(p)
		if x, ok := v.Get(); ok {
			out = probes.Some(out.Or(0) + x)
		} else if !out.Seen() && out.Why() == probes.NotSeen {
			out = v
		}
	}
	return out
}

// busyKernels is the time in which kernels ran from which a device is at work [proposal].
const busyKernels = 0.2

func (n *now) gpuSpread() probes.Opt[float64] {
	if v := n.spreadOf(func(d *probes.GPUDevice) probes.Opt[float64] { return d.SMClockHertz }); v.Seen() {
		return v
	}
	return n.spreadOf(func(d *probes.GPUDevice) probes.Opt[float64] { return d.PowerWatts })
}

func (n *now) spreadOf(of gpuReading) probes.Opt[float64] {
	busy := func(d *device) probes.Opt[float64] {
		if !d.mine || d.bad || d.Parent != "" || d.idles() || d.KernelActiveRatio.Or(1) < busyKernels {
			return missing()
		}
		return of(d.GPUDevice)
	}
	out := missing()
	for i := range n.gpus.list {
		d := &n.gpus.list[i]
		own, ok := busy(d).Get()
		if !ok {
			continue
		}
		room := n.gpus.room[:0]
		for j := range n.gpus.list {
			if v, ok := busy(&n.gpus.list[j]).Get(); ok && n.gpus.list[j].Name == d.Name {
				room = append(room, v)
			}
		}
		n.gpus.room = room
		if len(room) < 2 {
			continue
		}
		slices.Sort(room)
		if median := room[len(room)/2]; median > 0 {
			out = probes.Some(min(out.Or(1), own/median))
		}
	}
	return out
}
