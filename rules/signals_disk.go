package rules

import "llmtop/probes"

// diskRows are the host's disks, the worst of them.
func diskRows() []Signal {
	row := hostRow
	return []Signal{
		row("host.io_pressure", "I/O pressure", "ratio", 0.05, "share of time in which some task waited for a disk", func(n *now) probes.Opt[float64] {
			return hostRate(n, func(h *probes.Host) probes.Opt[float64] { return h.IOPressure.SomeSecondsTotal })
		}),
		row("host.io_stalled", "I/O stall", "ratio", 0.05, "share of time in which every task that was not idle waited for a disk", func(n *now) probes.Opt[float64] {
			return hostRate(n, func(h *probes.Host) probes.Opt[float64] { return h.IOPressure.FullSecondsTotal })
		}),
		row("host.disk_busy", "busiest disk", "ratio", 0.1, "time in which a disk had at least one request out, the busiest; fast disks serve many at once, so that 100 % need not be all they can", func(n *now) probes.Opt[float64] {
			return n.worstDisk(func(old, now *probes.Disk, seconds float64) probes.Opt[float64] {
				return atMostOne(perSecond(old.BusySecondsTotal, now.BusySecondsTotal, seconds))
			})
		}),
		row("host.disk_wait", "wait of the slowest disk", "s", 0.005, "seconds that a request to a disk took, its queue included, mean of the now span, the slowest disk", func(n *now) probes.Opt[float64] {
			return n.worstDisk(diskWait)
		}),
		row("host.disk_free", "room on the fullest file system", "ratio", 0.02, "free bytes over all, the fullest of the file systems that engines fill", func(n *now) probes.Opt[float64] {
			return n.fullest()
		}),
	}
}

// hostBefore is the host at the begin of the now span, and the seconds since; nil without.
func (n *now) hostBefore() (*probes.Host, float64) {
	is := n.point.Host
	if is == nil {
		return nil, 0
	}
	for _, p := range n.span.Points() {
		if h := p.Host; h != nil && h.At.Before(is.At) && n.at.Sub(h.At) <= lookSpan {
			return h, is.At.Sub(h.At).Seconds()
		}
	}
	return nil, 0
}

// perSecond is what a counter gained a second; one that went back began again and tells nothing.
func perSecond(old, now probes.Opt[float64], seconds float64) probes.Opt[float64] {
	a, ok := old.Get()
	b, ok2 := now.Get()
	switch {
	case !ok2:
		return now
	case !ok || b < a || seconds <= 0:
		return missing()
	}
	return probes.Some((b - a) / seconds)
}

func atMostOne(v probes.Opt[float64]) probes.Opt[float64] {
	if x, ok := v.Get(); ok {
		return probes.Some(min(x, 1))
	}
	return v
}

// larger is the larger of two readings; where neither is there, the first reason.
func larger(a, b probes.Opt[float64]) probes.Opt[float64] {
	x, ok := a.Get()
	y, ok2 := b.Get()
	if !ok2 || ok && x >= y {
		if !ok && a.Why() == probes.NotSeen {
			return b
		}
		return a
	}
	return b
}

// worstDisk is the highest of what each disk did in the now span.
func (n *now) worstDisk(of func(old, now *probes.Disk, seconds float64) probes.Opt[float64]) probes.Opt[float64] {
	old, seconds := n.hostBefore()
	if old == nil {
		return n.hostAbsence()
	}
	out := missing()
	is := n.point.Host
	for i := range is.Disks {
		if was := diskIn(old, i, is.Disks[i].Name); was != nil {
			out = larger(out, of(was, &is.Disks[i], seconds))
		}
	}
	return out
}

// hostAbsence is why nothing is known of what the host did.
func (n *now) hostAbsence() probes.Opt[float64] {
	if h := n.point.Host; h != nil {
		return n.aged(missing(), h.At)
	}
	return missing()
}

func diskIn(h *probes.Host, i int, name string) *probes.Disk {
	if i < len(h.Disks) && h.Disks[i].Name == name {
		return &h.Disks[i]
	}
	for i := range h.Disks {
		if h.Disks[i].Name == name {
			return &h.Disks[i]
		}
	}
	return nil
}

// diskWait is missing for a disk that was asked nothing.
func diskWait(old, now *probes.Disk, seconds float64) probes.Opt[float64] {
	waited := perSecond(old.WaitSecondsTotal, now.WaitSecondsTotal, seconds)
	reads, ok := perSecond(old.ReadsTotal, now.ReadsTotal, seconds).Get()
	writes, ok2 := perSecond(old.WritesTotal, now.WritesTotal, seconds).Get()
	if w, seen := waited.Get(); seen {
		if !ok || !ok2 || reads+writes <= 0 {
			return missing()
		}
		return probes.Some(w / (reads + writes))
	}
	return waited
}

func (n *now) fullest() probes.Opt[float64] {
	h := n.point.Host
	if h == nil {
		return missing()
	}
	if !n.fresh(h.At) {
		return probes.None[float64](probes.Stale)
	}
	out := missing()
	for i := range h.Filesystems {
		free := ratio(h.Filesystems[i].FreeBytes, h.Filesystems[i].TotalBytes)
		x, ok := free.Get()
		if y, have := out.Get(); ok && (!have || x < y) || !ok && !have && out.Why() == probes.NotSeen {
			out = free
		}
	}
	return out
}
