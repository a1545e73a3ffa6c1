package panes

import (
	"fmt"
	"strings"
	"time"

	"llmtop/probes"
)

// processSheet are the engines' processes: together, each, and their busiest threads.
func processSheet(v *view, w int) []row {
	p := v.tick.Point.Process
	if p == nil {
		return nil
	}
	x := processReadings{v, p}
	rows := x.cpu().rows(w, "CPU")
	rows = append(rows, x.quota().rows(w, "quota")...)
	rows = append(rows, x.memory().rows(w, "memory")...)
	rows = append(rows, x.disks().rows(w, "disk, files")...)
	for i := range p.Members {
		rows = append(rows, x.member(&p.Members[i], w))
	}
	label := "busy threads"
	for i := range p.BusyThreads {
		rows = append(rows, x.thread(&p.BusyThreads[i]).rows(w, label)...)
		label = ""
	}
	return append(rows, absences(processAbsences(p), w)...)
}

// processReadings words what the engines' processes take.
type processReadings struct {
	v *view
	p *probes.Process
}

// perSecond is how a counter of theirs grew over the last seconds.
func (x processReadings) perSecond(of func(*probes.Process) probes.Opt[float64]) probes.Opt[float64] {
	return x.v.lately().Rate(func(p *probes.Point) (float64, time.Time, bool) {
		if p.Process == nil || p.Process.PID != x.p.PID {
			return 0, time.Time{}, false
		}
		value, ok := of(p.Process).Get()
		return value, p.Process.At, ok
	})
}

func (x processReadings) cpu() (f facts) {
	f.reading("", x.v.sig("process.cpu_cores"), digits, "cores")
	f.reading("waits for one", x.v.sig("process.run_wait"), percent, "of the time it wants one")
	f.reading("busiest thread", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.BusiestThreadSecs }), percent, "of a core")
	f.reading("", x.p.Threads, count, "threads")
	f.reading("", x.p.BlockedThreads, count, "blocked (state D)")
	f.reading("gives way", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.VoluntarySwitchesTotal }), count, "times/s")
	f.reading("put off", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.PreemptedSwitchesTotal }), count, "times/s")
	f.reading("may use", x.p.AllowedCPUs, count, "cores")
	if n, ok := x.p.AllowedCPUs.Get(); ok && n > 0 {
		busy := x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.AllowedBusySecondsTotal })
		f.reading("which are", busy, func(cores float64) string { return percent(min(1, cores/n)) }, "busy")
	}
	return f
}

func (x processReadings) quota() (f facts) {
	f.reading("stopped in", x.v.sig("process.throttled"), percent, "of the periods")
	if limit, ok := x.p.CPULimitCores.Get(); ok {
		f.add("", digits(limit)+" cores")
		f.reading("stops", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.CgroupThrottledSecTotal }), digits, "cores at a time")
		f.add("set by", clean(x.p.CgroupPath))
	} else if x.p.CgroupPeriodsTotal.Seen() {
		f.add("no CPU", "limit")
	}
	f.reading("CPU pressure of its group", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.CgroupPressure.SomeSecondsTotal }), percent, "")
	f.reading("memory pressure", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.CgroupMemoryPressure.SomeSecondsTotal }), percent, "")
	return f
}

func (x processReadings) memory() (f facts) {
	f.reading("resident", x.p.RSSBytes, byteSize, "")
	f.reading("limit", x.p.MemoryLimitBytes, byteSize, "")
	f.reading("used of it", x.p.MemoryLimitUsedBytes, byteSize, "")
	f.reading("killed for memory", x.p.CgroupOOMKillsTotal, count, "")
	f.reading("major faults", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.MajorFaultsTotal }), count, "/s")
	return f
}

func (x processReadings) disks() (f facts) {
	f.reading("read", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.ReadBytesTotal }), rate, "")
	f.reading("written", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.WriteBytesTotal }), rate, "")
	f.reading("blocked threads", x.perSecond(func(p *probes.Process) probes.Opt[float64] { return p.BlockedSecondsTotal }), digits, "at a time")
	if n, ok := x.p.Descriptors.Get(); ok {
		f.add("descriptors", count(n)+" of "+show(x.p.DescriptorsLimit, count))
	}
	return f
}

// member is one process; what its CPU and waiting grew by is its own.
func (x processReadings) member(m *probes.Member, w int) row {
	grew := func(of func(*probes.Member) probes.Opt[float64]) probes.Opt[float64] {
		return x.perSecond(func(p *probes.Process) probes.Opt[float64] {
			return readingOf(p.Members, func(o *probes.Member) bool { return o.PID == m.PID }, of)
		})
	}
	name := strings.TrimSpace(clean(m.Rank) + " " + clean(m.Name))
	r := row{}.add(plain, " ").right(plain, 8, fmt.Sprint(m.PID)).add(plain, "  ").left(strong, max(12, min(28, w-66)), name).
		add(faint, " CPU").right(plain, 6, show(grew(func(m *probes.Member) probes.Opt[float64] { return m.CPUSecondsTotal }), digits)).
		add(faint, "  wait").right(plain, 6, show(grew(func(m *probes.Member) probes.Opt[float64] { return m.RunWaitSecondsTotal }), digits)).
		add(faint, "  rss").right(plain, 9, show(m.RSSBytes, byteSize)).
		add(faint, "  threads").right(plain, 5, show(m.Threads, count))
	if blocked := m.BlockedThreads.Or(0); blocked > 0 {
		r = r.add(bad, "  "+count(blocked)+" in state D")
	}
	if m.AllowedCPUs != "" {
		r = r.add(faint, "  cores "+clean(m.AllowedCPUs))
	}
	return r
}

func (x processReadings) thread(t *probes.Thread) (f facts) {
	grew := func(of func(*probes.Thread) probes.Opt[float64]) probes.Opt[float64] {
		return x.perSecond(func(p *probes.Process) probes.Opt[float64] {
			return readingOf(p.BusyThreads, func(o *probes.Thread) bool { return o.PID == t.PID && o.TID == t.TID }, of)
		})
	}
	f.add("", fmt.Sprintf("%d %s", t.TID, clean(t.Name)))
	f.reading("", grew(func(t *probes.Thread) probes.Opt[float64] { return t.CPUSecondsTotal }), percent, "of a core")
	f.reading("waits", grew(func(t *probes.Thread) probes.Opt[float64] { return t.RunWaitSecondsTotal }), percent, "")
	f.add("state", clean(t.State))
	return f
}

// processAbsences are the readings of the processes that are missing for a reason worth telling.
func processAbsences(p *probes.Process) (out []absence) {
	for _, r := range []struct {
		name string
		of   probes.Opt[float64]
	}{
		{"waits for a core", p.RunWaitSecondsTotal}, {"context switches", p.VoluntarySwitchesTotal}, {"descriptors", p.Descriptors},
		{"disk bytes", p.ReadBytesTotal}, {"cgroup", p.CgroupPeriodsTotal}, {"allowed cores", p.AllowedCPUs},
	} {
		if !r.of.Seen() && r.of.Why() != probes.NotSeen {
			out = append(out, absence{r.name, r.of.Why()})
		}
	}
	return out
}
