package machine

import (
	"cmp"
	"math"
	"slices"
	"time"

	"llmtop/probes"
)

// maxMembers bounds the processes that are told, as probes/host does.
const maxMembers = 256

// busyThread is one that ran since the reading before.
type busyThread struct {
	r    *replica
	lane int
	t    *thread
	ran  float64
}

// processSection is nil while no engine's process is there: the probe has nothing to tell.
func (h *Host) processSection(at time.Time, seconds float64) *probes.Process {
	first := h.firstUp()
	if first == nil {
		h.told.pid = 0
		return nil
	}
	main := &first.processes[0]
	h.rename(main.pid)
	s := &probes.Process{At: probes.Stamp(at), PID: main.pid, Name: main.name, StartedAt: probes.Stamp(first.began)}
	h.threadReadings(s, seconds)
	h.memberReadings(s)
	h.groupReadings(s)
	h.allowedReadings(s)
	c := &h.told.sum
	s.CPUSecondsTotal, s.RunWaitSecondsTotal = ticks(c.run), probes.Some(c.wait)
	s.VoluntarySwitchesTotal, s.PreemptedSwitchesTotal, s.MajorFaultsTotal = whole(c.voluntary), whole(c.preempted), whole(c.faults)
	s.ReadBytesTotal, s.WriteBytesTotal = whole(c.read), whole(c.write)
	return s
}

func (h *Host) firstUp() *replica {
	for i := range h.replicas {
		if h.replicas[i].up {
			return &h.replicas[i]
		}
	}
	return nil
}

// rename begins anew when the first engine's process is another one: then the probe knows
// only what those that are there have done since their start.
func (h *Host) rename(pid int) {
	t := &h.told
	if t.fresh = t.pid != pid; !t.fresh {
		return
	}
	t.pid, t.sum, t.busiest, t.blocked, t.allowed = pid, counters{}, 0, 0, 0
	for i := range h.replicas {
		r := &h.replicas[i]
		for j := range r.processes {
			t.sum.add(&r.processes[j].counters)
		}
		for j := range r.lanes {
			for k := range r.lanes[j].threads {
				r.lanes[j].threads[k].told = 0
			}
		}
	}
}

// threadReadings tells the busiest threads, and how many were blocked.
func (h *Host) threadReadings(s *probes.Process, seconds float64) {
	t := &h.told
	busy, blocked, both := t.busy[:0], 0.0, 0.0
	for i := range h.replicas {
		r := &h.replicas[i]
		for j := range r.processes {
			r.processes[j].blocked = 0
		}
		for j := range r.lanes {
			l := &r.lanes[j]
			share := l.sleeps / float64(l.count)
			for k := range l.threads[:min(len(l.threads), l.count)] {
				th := &l.threads[k]
				is := share > 0 && h.noise.Float64() < share
				if is {
					blocked++
					r.processes[l.process].blocked++
					if th.blocked {
						both++
					}
				}
				th.blocked = is
				if ran := th.run - th.told; ran > 0 {
					busy = append(busy, busyThread{r, j, th, ran})
				}
				th.told = th.run
			}
		}
	}
	t.busy = busy
	t.blocked += both * seconds
	slices.SortStableFunc(busy, func(a, b busyThread) int { return cmp.Compare(b.ran, a.ran) })
	if len(busy) > 0 {
		t.busiest += busy[0].ran
	}
	s.BlockedThreads, s.BlockedSecondsTotal, s.BusiestThreadSecs = probes.Some(blocked), probes.Some(t.blocked), probes.Some(t.busiest)
	if t.fresh {
		return
	}
	n := min(len(busy), maxThreads)
	s.BusyThreads = make([]probes.Thread, n)
	for i := range n {
		b := &busy[i]
		l := &b.r.lanes[b.lane]
		s.BusyThreads[i] = probes.Thread{PID: b.r.processes[l.process].pid, TID: b.t.tid, Name: l.name(b.r), State: h.state(l, b.t), CPUSecondsTotal: probes.Some(b.t.run), RunWaitSecondsTotal: probes.Some(b.t.wait)}
	}
}

// state of a thread: it runs or would run as often as it has in the last span.
func (h *Host) state(l *lane, t *thread) string {
	switch {
	case t.blocked:
		return "D"
	case h.noise.Float64() < l.wants/float64(l.count):
		return "R"
	}
	return "S"
}

// memberReadings tells the processes.
func (h *Host) memberReadings(s *probes.Process) {
	n := 0
	for i := range h.replicas {
		n += len(h.replicas[i].processes)
	}
	s.Members = make([]probes.Member, 0, n)
	rss, threads := 0.0, 0.0
	for i := range h.replicas {
		r := &h.replicas[i]
		for j := range r.processes {
			m := h.member(r, j)
			rss += m.RSSBytes.Or(0)
			threads += m.Threads.Or(0)
			s.Members = append(s.Members, m)
		}
	}
	s.RSSBytes, s.Threads = probes.Some(rss), probes.Some(threads)
	slices.SortFunc(s.Members, func(a, b probes.Member) int { return a.PID - b.PID })
	share := -1.0
	for i := range s.Members {
		m := &s.Members[i]
		if x := m.Descriptors.Or(0) / m.DescriptorsLimit.Or(1); x > share {
			share, s.Descriptors, s.DescriptorsLimit = x, m.Descriptors, m.DescriptorsLimit
		}
	}
	s.Members = s.Members[:min(n, maxMembers)]
}

// descriptorsLimit is what service managers and containers give.
const descriptorsLimit = 65536

func (h *Host) member(r *replica, j int) probes.Member {
	p := &r.processes[j]
	threads, open := p.idle, 40+math.Floor(p.idle/2)
	for i := range r.lanes {
		if r.lanes[i].process == j {
			threads += float64(r.lanes[i].count)
		}
	}
	if j == 0 {
		open += float64(r.load.Connections)
	}
	return probes.Member{PID: p.pid, Parent: p.parent, Name: p.name, Rank: p.rank, Endpoint: r.endpoint, AllowedCPUs: p.cpus,
		CPUSecondsTotal: ticks(p.run), RunWaitSecondsTotal: probes.Some(p.wait),
		VoluntarySwitchesTotal: whole(p.voluntary), PreemptedSwitchesTotal: whole(p.preempted), MajorFaultsTotal: whole(p.faults),
		RSSBytes: probes.Some(math.Floor(p.rss/page) * page), Threads: probes.Some(threads), BlockedThreads: probes.Some(p.blocked),
		Descriptors: probes.Some(open), DescriptorsLimit: probes.Some(float64(descriptorsLimit))}
}

// groupReadings are the cgroup's. Without limits there is none to tell.
func (h *Host) groupReadings(s *probes.Process) {
	g, none := &h.group, probes.None[float64](probes.NotExposed)
	s.CgroupPath = g.path
	s.CgroupPeriodsTotal, s.CgroupThrottledTotal = whole(g.periods), whole(g.throttled)
	s.CgroupThrottledSecTotal = probes.Some(g.seconds)
	s.CgroupPressure, s.CgroupMemoryPressure = h.stalls.groupCPU.told(), h.stalls.groupMemory.told()
	s.CPULimitCores, s.MemoryLimitBytes, s.MemoryLimitUsedBytes, s.CgroupOOMKillsTotal = none, none, none, probes.Some(0.0)
	if g.quota > 0 {
		s.CPULimitCores = probes.Some(g.quota)
	}
}

// allowedReadings are of the cores on which the member with the fewest may run.
func (h *Host) allowedReadings(s *probes.Process) {
	list := h.everyCore
	if h.remote() {
		list = h.nodes[len(h.nodes)-1-h.nodeOf(h.firstUp().processes[0].gpu)].list
	}
	if !h.told.fresh {
		for _, core := range list {
			h.told.allowed += h.cores.busy[core] - h.told.cpu[core]
		}
	}
	s.AllowedCPUs, s.AllowedBusySecondsTotal = probes.Some(float64(len(list))), probes.Some(h.told.allowed)
}
