package truth

import (
	"time"

	"llmtop/probes"
)

// ofHost and ofProcess read a number of a section.
type (
	ofHost    func(*probes.Host) probes.Opt[float64]
	ofProcess func(*probes.Process) probes.Opt[float64]
)

const fewSegments = 100 // TCP segments that a share of them needs

func hostRows() []row {
	rate := func(of ofHost) func(view) (float64, bool) {
		return func(v view) (float64, bool) { return v.hostRate(of) }
	}
	return []row{
		{"host.cpu_pressure", rate(func(h *probes.Host) probes.Opt[float64] { return h.CPUPressure.SomeSecondsTotal })},
		{"host.memory_pressure", rate(func(h *probes.Host) probes.Opt[float64] { return h.MemoryPressure.SomeSecondsTotal })},
		{"host.io_pressure", rate(func(h *probes.Host) probes.Opt[float64] { return h.IOPressure.SomeSecondsTotal })},
		{"host.swap_in", rate(func(h *probes.Host) probes.Opt[float64] { return h.SwapInTotal })},
		{"host.other_cpu", otherCPU},
		{"host.other_share", otherShare},
		{"host.memory_available", func(v view) (float64, bool) {
			h := v.now().Host
			if h == nil || !v.stands(h.At) {
				return 0, false
			}
			return h.MemoryAvailableBytes.Get()
		}},
		{"host.disk_busy", func(v view) (float64, bool) {
			return v.worstDisk(func(was, is *probes.Disk, seconds float64) (float64, bool) {
				busy, ok := grew(was.BusySecondsTotal, is.BusySecondsTotal)
				return min(1, busy/seconds), ok
			})
		}},
		{"host.disk_wait", func(v view) (float64, bool) {
			return v.worstDisk(func(was, is *probes.Disk, _ float64) (float64, bool) {
				waited, ok := grew(was.WaitSecondsTotal, is.WaitSecondsTotal)
				reads, ok2 := grew(was.ReadsTotal, is.ReadsTotal)
				writes, ok3 := grew(was.WritesTotal, is.WritesTotal)
				return waited / max(1, reads+writes), ok && ok2 && ok3 && reads+writes > 0
			})
		}},
		{"host.net_share", netShare},
		{"host.retransmits", func(v view) (float64, bool) {
			was, _ := v.hostBefore()
			if was == nil {
				return 0, false
			}
			sent, ok := grew(was.TCPSegmentsTotal, v.now().Host.TCPSegmentsTotal)
			again, ok2 := grew(was.TCPRetransmitsTotal, v.now().Host.TCPRetransmitsTotal)
			return again / max(1, sent), ok && ok2 && sent >= fewSegments
		}},
	}
}

func (v view) hostRate(of ofHost) (float64, bool) {
	if h := v.now().Host; h == nil || !of(h).Seen() {
		return 0, false
	}
	return perSecond(v.last(nowSpan).readings(func(m *moment) (reading, bool) {
		if m.Host == nil {
			return reading{}, false
		}
		x, ok := of(m.Host).Get()
		return reading{m.Host.At, x}, ok
	}))
}

// otherCPU is what is busy on all cores less what the engine takes.
func otherCPU(v view) (float64, bool) {
	busy, ok := v.hostRate(func(h *probes.Host) probes.Opt[float64] { return h.CPUBusySecondsTotal })
	engine, ok2 := v.processRate(cpuSeconds)
	return max(0, busy-engine), ok && ok2
}

func otherShare(v view) (float64, bool) {
	others, ok := otherCPU(v)
	if !ok || v.now().Host.CPUs == 0 {
		return 0, false
	}
	return others / float64(v.now().Host.CPUs), true
}

// hostBefore is the host at the begin of the now span, and the seconds since.
func (v view) hostBefore() (*probes.Host, float64) {
	is := v.now().Host
	if is == nil {
		return nil, 0
	}
	for _, m := range v.last(nowSpan) {
		if h := m.Host; h != nil && h.At.Before(is.At) && v.now().At.Sub(h.At) <= lookSpan {
			return h, is.At.Sub(h.At).Seconds()
		}
	}
	return nil, 0
}

// grew is by how much a counter grew; one that fell tells nothing.
func grew(was, is probes.Opt[float64]) (float64, bool) {
	a, ok := was.Get()
	b, ok2 := is.Get()
	return b - a, ok && ok2 && b >= a
}

func (v view) worstDisk(of func(was, is *probes.Disk, seconds float64) (float64, bool)) (worst float64, ok bool) {
	before, seconds := v.hostBefore()
	if before == nil {
		return 0, false
	}
	for i := range v.now().Host.Disks {
		is := &v.now().Host.Disks[i]
		for j := range before.Disks {
			if before.Disks[j].Name != is.Name {
				continue
			}
			if x, told := of(&before.Disks[j], is, seconds); told {
				worst, ok = max(worst, x), true
			}
		}
	}
	return worst, ok
}

// netShare is bytes a second over the link's speed, the fuller direction of the fullest
// interface; virtual ones count where there is no other.
func netShare(v view) (worst float64, ok bool) {
	before, seconds := v.hostBefore()
	if before == nil {
		return 0, false
	}
	real := false
	for _, c := range v.now().Host.NICs {
		real = real || c.Up && c.Kind != "virtual"
	}
	for _, is := range v.now().Host.NICs {
		speed := is.SpeedBytesPerS.Or(0)
		for _, was := range before.NICs {
			if was.Name != is.Name || real && is.Kind == "virtual" || speed <= 0 {
				continue
			}
			rx, ok1 := grew(was.RxBytesTotal, is.RxBytesTotal)
			tx, ok2 := grew(was.TxBytesTotal, is.TxBytesTotal)
			if ok1 || ok2 {
				worst, ok = max(worst, rx*one(ok1)/seconds/speed, tx*one(ok2)/seconds/speed), true
			}
		}
	}
	return worst, ok
}

// idleCores is the running and waiting below which their ratio says nothing.
const idleCores = 0.02

func processRows() []row {
	rate := func(of ofProcess) func(view) (float64, bool) {
		return func(v view) (float64, bool) { return v.processRate(of) }
	}
	gauge := func(of ofProcess) func(view) (float64, bool) {
		return func(v view) (float64, bool) {
			p := v.now().Process
			if p == nil || !v.stands(p.At) {
				return 0, false
			}
			return of(p).Get()
		}
	}
	return []row{
		{"process.cpu_cores", rate(cpuSeconds)},
		{"process.run_wait", func(v view) (float64, bool) {
			waits, ok := v.processRate(func(p *probes.Process) probes.Opt[float64] { return p.RunWaitSecondsTotal })
			runs, ok2 := v.processRate(cpuSeconds)
			return waits / max(idleCores, waits+runs), ok && ok2 && waits+runs >= idleCores
		}},
		{"process.throttled", func(v view) (float64, bool) {
			stopped, ok := v.processRate(func(p *probes.Process) probes.Opt[float64] { return p.CgroupThrottledTotal })
			periods, ok2 := v.processRate(func(p *probes.Process) probes.Opt[float64] { return p.CgroupPeriodsTotal })
			return stopped / max(1e-9, periods), ok && ok2 && periods > 0
		}},
		{"process.throttled_time", rate(func(p *probes.Process) probes.Opt[float64] { return p.CgroupThrottledSecTotal })},
		{"process.blocked", rate(func(p *probes.Process) probes.Opt[float64] { return p.BlockedSecondsTotal })},
		{"process.switches", rate(func(p *probes.Process) probes.Opt[float64] { return p.VoluntarySwitchesTotal })},
		{"process.major_faults", rate(func(p *probes.Process) probes.Opt[float64] { return p.MajorFaultsTotal })},
		{"process.busiest_thread", func(v view) (float64, bool) {
			x, ok := v.processRate(func(p *probes.Process) probes.Opt[float64] { return p.BusiestThreadSecs })
			return min(x, 1), ok
		}},
		{"process.gil_suspects", turnTakers},
		{"process.cpu_limit", gauge(func(p *probes.Process) probes.Opt[float64] { return p.CPULimitCores })},
		{"process.memory_of_limit", gauge(func(p *probes.Process) probes.Opt[float64] { return over(p.MemoryLimitUsedBytes, p.MemoryLimitBytes) })},
		{"process.descriptors", gauge(func(p *probes.Process) probes.Opt[float64] { return over(p.Descriptors, p.DescriptorsLimit) })},
		{"process.allowed_taken", func(v view) (float64, bool) {
			busy, ok := v.processRate(func(p *probes.Process) probes.Opt[float64] { return p.AllowedBusySecondsTotal })
			engine, ok2 := v.processRate(cpuSeconds)
			if !ok || !ok2 || !v.now().Process.AllowedCPUs.Seen() {
				return otherShare(v)
			}
			cores := v.now().Process.AllowedCPUs.Or(0)
			return min(1, max(0, busy-engine)/max(1e-9, cores)), cores > 0
		}},
		{"process.numa_remote", remoteCores},
	}
}

func cpuSeconds(p *probes.Process) probes.Opt[float64] { return p.CPUSecondsTotal }

// processRate is of the process that there is now.
func (v view) processRate(of ofProcess) (float64, bool) {
	is := v.now().Process
	if is == nil || !of(is).Seen() {
		return 0, false
	}
	return perSecond(v.last(nowSpan).readings(func(m *moment) (reading, bool) {
		if m.Process == nil || m.Process.PID != is.PID {
			return reading{}, false
		}
		x, ok := of(m.Process).Get()
		return reading{m.Process.At, x}, ok
	}))
}

// processBefore is the engine's processes at the begin of the now span, and the seconds since.
func (v view) processBefore() (*probes.Process, float64) {
	is := v.now().Process
	for _, m := range v.last(nowSpan) {
		was := m.Process
		if is != nil && was != nil && was.PID == is.PID && was.At.Before(is.At) && v.now().At.Sub(was.At) <= time.Duration(lookSpan) {
			return was, is.At.Sub(was.At).Seconds()
		}
	}
	return nil, 0
}
