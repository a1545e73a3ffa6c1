package twin

import (
	"time"

	"llmtop/engine/twin/device"
	"llmtop/engine/twin/machine"
)

// usage is how long a replica has computed steps and how long not.
type usage struct {
	busy, idle time.Duration
	until      time.Duration
}

// account adds what the step that is computed has done until now to the loads: as much
// of the whole as of its time has passed. What hangs beyond its end waits on the GPU.
func (r *replica) account(now time.Duration) {
	span := now - r.used.until
	r.used.until = now
	r.load.CPU[machine.GC] += r.pauses.stopped(now-span, now)
	c := &r.current
	if !c.running {
		r.used.idle += span
		return
	}
	r.used.busy += span
	r.load.Stepping += span
	if over := min(span, now-c.to); over > 0 {
		for i := range r.gpus {
			r.gpus[i].Kernel += over
			r.gpus[i].Idle += over
		}
		now = c.to
	}
	if c.counted >= c.to || now <= c.counted {
		return
	}
	part := float64(now-c.counted) / float64(c.to-c.from)
	c.counted = now
	r.charge(part)
}

// charge adds a part of the step to the loads.
func (r *replica) charge(part float64) {
	c := &r.current
	kernel := times(c.cost.Kernel, part)
	for i := range r.gpus {
		g := &r.gpus[i]
		idle := time.Duration(0)
		if i < len(c.idle) {
			idle = times(c.idle[i], part)
		}
		g.Kernel += kernel
		g.Idle += idle
		g.Tensor += times(kernel, c.cost.Tensor)
		g.FLOPs += part * c.cost.FLOPs
		g.Bytes += part * c.cost.Bytes
		g.LinkBytes += part * c.cost.LinkBytes
		g.PCIeBytes += part * c.cost.PCIeBytes
		g.Batch += part * float64(len(c.step.Items)) // a mean once it is divided by the steps
	}
	r.steps += part
	h := &c.cost.Host
	for _, p := range [...]struct {
		part machine.Part
		took time.Duration
	}{
		{machine.Schedule, h.Schedule}, {machine.Launch, h.Launch}, {machine.Sampling, h.Sample}, {machine.GrammarMask, h.Mask},
		{machine.Compile, c.cost.CPU - h.Sum()},
	} {
		r.load.CPU[p.part] += times(p.took, part)
	}
}

// gpuLoads is what the replica has done on each of its GPUs since the last call; valid
// until the next one.
func (r *replica) gpuLoads() []device.Load {
	r.account(r.sim.now)
	r.shown = append(r.shown[:0], r.gpus...)
	for i := range r.shown {
		if r.steps > 0 {
			r.shown[i].Batch /= r.steps
		}
		r.shown[i].MemoryBytes = r.holds()
	}
	clear(r.gpus)
	r.steps = 0
	return r.shown
}

// hostLoad is what the replica has done on the CPU since the last call.
func (r *replica) hostLoad() machine.Load {
	s := r.sim
	r.account(s.now)
	r.load.Read = r.reads()
	l := r.load
	l.Up, l.Loading, l.Connections = r.up, !r.up && !r.lost, r.jobs.count
	for j, left := r.jobs.first, r.jobs.slow; left > 0; j = j.after {
		if !j.slow {
			continue
		}
		if left--; j.first > 0 {
			l.Slow++
			l.SendQueue += s.unread(j)
		}
	}
	l.SendQueue += s.unsent() * float64(r.jobs.count) / float64(max(1, s.open))
	r.load = machine.Load{}
	if rest := l.Blocked - (s.now - r.taken); rest > 0 { // lines that wait for those before them
		l.Blocked, r.load.Blocked = l.Blocked-rest, rest
	}
	r.taken = s.now
	return l
}

// unread is what a slow client has not read of what is there for it.
func (s *Simulation) unread(j *job) float64 {
	f := &s.front
	there := float64(len(j.seq.Output)) * f.EventBytes
	return min(f.Buffer, max(0, there-(s.now-j.first).Seconds()*f.SlowBytes))
}
