package panes

import (
	"fmt"
	"strings"
	"time"

	"llmtop/probes"
)

// hostSheets are the machine, the engines' processes, their connections, and who else is there.
func hostSheets(v *view, w int) []row {
	var rows []row
	for _, part := range []struct {
		title string
		rows  []row
	}{
		{"machine", machineSheet(v, w)}, {"engine processes", processSheet(v, w)},
		{"connections", socketSheet(v, w)}, {"neighbours", neighbourSheet(v, w)},
	} {
		if len(part.rows) > 0 {
			rows = append(append(rows, row{}.add(strong, " "+part.title)), append(part.rows, row{})...)
		}
	}
	if len(rows) == 0 {
		return []row{row{}.add(plain, " The host was not read.")}
	}
	return rows
}

// machineSheet is the machine as a whole.
func machineSheet(v *view, w int) []row {
	h := v.tick.Point.Host
	if h == nil {
		return nil
	}
	x := hostFacts{v, h}
	var rows []row
	for _, part := range []struct {
		label string
		facts facts
	}{
		{"system", x.system()}, {"CPU", x.cpu()}, {"pressure", x.pressure()}, {"memory", x.memory()}, {"TCP", x.tcp()},
	} {
		rows = append(rows, part.facts.rows(w, part.label)...)
	}
	label := "disks"
	for i := range h.Disks {
		rows = append(rows, x.disk(&h.Disks[i]).rows(w, label)...)
		label = ""
	}
	rows = append(rows, x.filesystems().rows(w, "filesystems")...)
	label = "network"
	for i := range h.NICs {
		rows = append(rows, x.nic(&h.NICs[i]).rows(w, label)...)
		label = ""
	}
	return append(rows, absences(hostAbsences(h), w)...)
}

// hostFacts words the readings of the machine.
type hostFacts struct {
	v *view
	h *probes.Host
}

// perSecond is how a counter of the host grew over the last seconds.
func (x hostFacts) perSecond(of func(*probes.Host) probes.Opt[float64]) probes.Opt[float64] {
	if !of(x.h).Seen() {
		return of(x.h)
	}
	return x.v.lately().Rate(func(p *probes.Point) (float64, time.Time, bool) {
		if p.Host == nil {
			return 0, time.Time{}, false
		}
		value, ok := of(p.Host).Get()
		return value, p.Host.At, ok
	})
}

func (x hostFacts) system() (f facts) {
	f.add("", fmt.Sprintf("%d cores", x.h.CPUs))
	f.add("kernel", clean(x.h.Kernel))
	f.add("on", clean(x.h.Virtual))
	if !x.h.BootedAt.IsZero() {
		f.add("up", ago(x.v.at.Sub(x.h.BootedAt)))
	}
	for _, n := range x.h.NUMANodes {
		if len(x.h.NUMANodes) > 1 {
			f.add(fmt.Sprintf("NUMA node %d: cores %s,", n.Node, clean(n.CPUs)), show(n.MemoryFreeBytes, byteSize)+" free")
		}
	}
	return f
}

func (x hostFacts) cpu() (f facts) {
	f.reading("busy", x.v.sig("host.cpu_busy"), percent, "")
	f.reading("busiest core", x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.BusiestCoreSecs }), percent, "")
	f.reading("full cores", x.h.FullCores, count, "")
	f.reading("steal", x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.CPUStealSecondsTotal }), digits, "cores")
	f.reading("waiting for disks", x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.CPUWaitSecondsTotal }), digits, "cores")
	f.reading("load", x.h.Load1, digits, "")
	f.reading("", x.h.Runnable, count, "runnable")
	f.reading("", x.h.Blocked, count, "blocked (state D)")
	return f
}

// pressure is the time in which some, and all, had to wait.
func (x hostFacts) pressure() (f facts) {
	for _, p := range []struct {
		name string
		of   func(*probes.Host) *probes.Pressure
	}{
		{"CPU", func(h *probes.Host) *probes.Pressure { return &h.CPUPressure }},
		{"memory", func(h *probes.Host) *probes.Pressure { return &h.MemoryPressure }},
		{"IO", func(h *probes.Host) *probes.Pressure { return &h.IOPressure }},
	} {
		f.reading(p.name, x.perSecond(func(h *probes.Host) probes.Opt[float64] { return p.of(h).SomeSecondsTotal }), percent, "some")
		if p.name != "CPU" { // of the machine as a whole the kernel defines no full CPU pressure
			f.reading(p.name, x.perSecond(func(h *probes.Host) probes.Opt[float64] { return p.of(h).FullSecondsTotal }), percent, "all")
		}
	}
	return f
}

func (x hostFacts) memory() (f facts) {
	h := x.h
	f.reading("available", h.MemoryAvailableBytes, byteSize, "of "+show(h.MemoryTotalBytes, byteSize))
	f.reading("dirty", h.DirtyBytes, byteSize, "")
	if total, ok := h.SwapTotalBytes.Get(); ok && total == 0 {
		f.add("no swap", "configured")
	} else {
		f.reading("swap free", h.SwapFreeBytes, byteSize, "of "+show(h.SwapTotalBytes, byteSize))
		f.reading("swapped in", x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.SwapInTotal }), count, "pages/s")
		f.reading("out", x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.SwapOutTotal }), count, "pages/s")
	}
	f.reading("major faults", x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.MajorFaultsTotal }), count, "/s")
	f.reading("killed for memory since boot", h.OOMKillsTotal, count, "")
	return f
}

func (x hostFacts) tcp() (f facts) {
	sent := x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.TCPSegmentsTotal })
	again := x.perSecond(func(h *probes.Host) probes.Opt[float64] { return h.TCPRetransmitsTotal })
	f.reading("", sent, count, "segments/s")
	if n, ok := sent.Get(); ok && n > 0 && again.Seen() {
		f.add("sent again", percent(again.Or(0)/n))
	}
	f.reading("refused for a full backlog", x.h.TCPListenOverflowsTotal, count, "since boot")
	return f
}

// disk is how busy one is and how long a request takes there.
func (x hostFacts) disk(d *probes.Disk) (f facts) {
	grew := func(of func(*probes.Disk) probes.Opt[float64]) probes.Opt[float64] {
		return x.perSecond(func(h *probes.Host) probes.Opt[float64] {
			return readingOf(h.Disks, func(o *probes.Disk) bool { return o.Name == d.Name }, of)
		})
	}
	f.add("", clean(d.Name))
	f.reading("busy", grew(func(d *probes.Disk) probes.Opt[float64] { return d.BusySecondsTotal }), percent, "")
	f.reading("read", grew(func(d *probes.Disk) probes.Opt[float64] { return d.ReadBytesTotal }), rate, "")
	f.reading("written", grew(func(d *probes.Disk) probes.Opt[float64] { return d.WriteBytesTotal }), rate, "")
	reads := grew(func(d *probes.Disk) probes.Opt[float64] { return d.ReadsTotal }).Or(0)
	writes := grew(func(d *probes.Disk) probes.Opt[float64] { return d.WritesTotal }).Or(0)
	waited, ok := grew(func(d *probes.Disk) probes.Opt[float64] { return d.WaitSecondsTotal }).Get()
	if ok && reads+writes > 0 {
		f.add("", seconds(waited/(reads+writes))+" a request")
	}
	f.reading("", d.InFlight, count, "in flight")
	return f
}

func (x hostFacts) filesystems() (f facts) {
	for _, s := range x.h.Filesystems {
		free, ok := s.FreeBytes.Get()
		total, okTotal := s.TotalBytes.Get()
		if !ok || !okTotal || total <= 0 {
			name := clean(s.Mount)
			if name == "" {
				name = "where the engine runs:"
			}
			why := "does not answer"
			if s.FreeBytes.Why() != probes.Stale && s.FreeBytes.Why() != probes.NotSeen {
				why = s.FreeBytes.Why().String()
			}
			f.add(name, why)
			continue
		}
		f.add(clean(s.Mount), fmt.Sprintf("%s free of %s", byteSize(free), byteSize(total)))
	}
	return f
}

func (x hostFacts) nic(n *probes.NIC) (f facts) {
	grew := func(of func(*probes.NIC) probes.Opt[float64]) probes.Opt[float64] {
		return x.perSecond(func(h *probes.Host) probes.Opt[float64] {
			return readingOf(h.NICs, func(o *probes.NIC) bool { return o.Name == n.Name }, of)
		})
	}
	f.add("", strings.TrimSpace(clean(n.Name)+" "+clean(n.Kind)))
	if !n.Up {
		f.add("", "down")
	}
	f.reading("in", grew(func(n *probes.NIC) probes.Opt[float64] { return n.RxBytesTotal }), rate, "")
	f.reading("out", grew(func(n *probes.NIC) probes.Opt[float64] { return n.TxBytesTotal }), rate, "")
	f.reading("link", n.SpeedBytesPerS, rate, "")
	f.reading("since boot dropped in", n.RxDropsTotal, count, "")
	f.reading("out", n.TxDropsTotal, count, "")
	f.reading("errors", n.ErrorsTotal, count, "")
	return f
}

// hostAbsences are the readings of the machine that are missing for a reason worth telling.
func hostAbsences(h *probes.Host) (out []absence) {
	for _, r := range []struct {
		name string
		of   probes.Opt[float64]
	}{
		{"CPU pressure", h.CPUPressure.SomeSecondsTotal}, {"memory pressure", h.MemoryPressure.SomeSecondsTotal}, {"IO pressure", h.IOPressure.SomeSecondsTotal},
		{"swap", h.SwapTotalBytes}, {"OOM kills", h.OOMKillsTotal}, {"TCP retransmits", h.TCPRetransmitsTotal}, {"listen overflows", h.TCPListenOverflowsTotal},
		{"cores one by one", h.BusiestCoreSecs},
	} {
		if !r.of.Seen() && r.of.Why() != probes.NotSeen {
			out = append(out, absence{r.name, r.of.Why()})
		}
	}
	return out
}
