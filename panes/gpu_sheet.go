package panes

import (
	"fmt"
	"strings"
	"time"

	"llmtop/probes"
)

// gpuSheets are all readings of all devices: a line each to compare them, then each in full.
func gpuSheets(v *view, w int) []row {
	rows := gpuRows(v, w, 64)
	g := v.tick.Point.GPU
	if g == nil || len(g.Devices) == 0 {
		return rows
	}
	var frame facts
	frame.add("", clean(g.Driver))
	frame.add("CUDA", clean(g.CUDA))
	whole := wholeDevices(g)
	frame.add("devices", fmt.Sprint(whole))
	if parts := len(g.Devices) - whole; parts > 0 {
		frame.add("MIG instances", fmt.Sprint(parts))
	}
	frame.add("", clean(g.Note))
	rows = append(rows, frame.rows(w, "driver")...)
	rows = append(rows, labelled(w, "kernel log", clean(g.KernelLog))...)
	rows = append(rows, linkRows(g, w)...)
	for i := range g.Devices {
		rows = append(append(rows, row{}), deviceSheet(v, w, g, &g.Devices[i])...)
	}
	return rows
}

// deviceSheet is one device in full.
func deviceSheet(v *view, w int, g *probes.GPU, d *probes.GPUDevice) []row {
	rows := []row{row{}.add(strong, " "+deviceTitle(d))}
	if d.Err != "" {
		rows = append(rows, row{}.add(plain, " ").left(faint, labelWidth, "trouble").add(bad, clean(d.Err)))
	}
	of := deviceFacts{v, d}
	for _, part := range []struct {
		label string
		facts facts
	}{
		{"place", of.place()}, {"activity", of.activity()}, {"memory", of.memory()}, {"power", of.power()}, {"clocks", of.clocks()},
		{"heat", of.heat()}, {"held down", of.heldDown()}, {"links", of.links()}, {"errors", of.errors()},
	} {
		rows = append(rows, part.facts.rows(w, part.label)...)
	}
	rows = append(rows, processFacts(v, g, d).rows(w, "processes")...)
	if d.Err != "" || d.Asleep {
		return rows // which say why nothing else is known
	}
	if d.Parent != "" { // of what it lacks, the device as a whole tells
		return append(rows, labelled(w, "as a whole", fmt.Sprintf("power, clocks, heat, links and errors are told of GPU %d", d.Index))...)
	}
	return append(rows, absences(deviceAbsences(d), w)...)
}

// deviceTitle is who the device is.
func deviceTitle(d *probes.GPUDevice) string {
	parts := []string{fmt.Sprintf("GPU %d", d.Index), clean(d.Name)}
	if d.Instance != "" && !strings.Contains(d.Name, d.Instance) {
		parts = append(parts, clean(d.Instance))
	}
	if d.Architecture != "" {
		parts = append(parts, clean(d.Architecture))
	}
	if d.Asleep {
		parts = append(parts, "asleep")
	}
	if d.MIG {
		parts = append(parts, "MIG")
	}
	return strings.Join(parts, " · ")
}

// deviceFacts words the readings of a device.
type deviceFacts struct {
	v *view
	d *probes.GPUDevice
}

// place is where the device is, and who tells of it.
func (x deviceFacts) place() (f facts) {
	if x.d.Parent != "" {
		return nil // that of the device
	}
	f.add("PCI", clean(x.d.PCIAddress))
	f.reading("NUMA node", x.d.NUMANode, count, "")
	f.add("near cores", clean(x.d.CPUs))
	f.add("", clean(x.d.Virtual))
	f.add("read by", clean(x.d.Source))
	return f
}

func (x deviceFacts) activity() (f facts) {
	d := x.d
	f.reading("a kernel ran", d.KernelActiveRatio, percent, "of the time")
	f.reading("SMs", d.SMActiveRatio, percent, "")
	f.reading("occupancy", d.SMOccupancyRatio, percent, "")
	f.reading("tensor cores", d.TensorActiveRatio, percent, "")
	f.reading("DRAM", d.DRAMActiveRatio, percent, "of its bandwidth")
	if d.ActivityFrom != "" && len(f) > 1 {
		by := clean(d.ActivityFrom)
		if age := x.v.at.Sub(d.ActivityAt); !d.ActivityAt.IsZero() && age >= 2*time.Second {
			by += ", " + ago(age) + " old"
		}
		f.add("measured by", by)
	}
	return f
}

func (x deviceFacts) memory() (f facts) {
	d := x.d
	used, total := d.MemoryUsedBytes, d.MemoryTotalBytes
	if share, ok := usedRatio(d).Get(); ok {
		f.add("", fmt.Sprintf("%s of %s (%s)", byteSize(used.Or(0)), byteSize(total.Or(0)), percent(share)))
	} else {
		f.reading("used", used, byteSize, "")
		f.reading("of", total, byteSize, "")
	}
	f.reading("", d.MemoryReservedBytes, byteSize, "reserved by the driver")
	f.reading("read or written", d.MemoryActiveRatio, percent, "of the time")
	return f
}

func (x deviceFacts) power() (f facts) {
	d := x.d
	f.reading("now", d.PowerWatts, wattage, "")
	f.reading("mean of a second", d.PowerAverageWatts, wattage, "")
	f.reading("by energy", x.perSecond(func(d *probes.GPUDevice) probes.Opt[float64] { return d.EnergyJoulesTotal }), wattage, "")
	f.reading("limit", d.PowerLimitWatts, wattage, "")
	f.reading("default limit", d.PowerDefaultWatts, wattage, "")
	return f
}

func wattage(w float64) string { return watts(w) + " W" }

func (x deviceFacts) clocks() (f facts) {
	clock := func(name string, now, most probes.Opt[float64]) {
		if text := overLimit(now, most, func(hz float64) string { return fmt.Sprintf("%.2f", hz/1e9) }, " GHz"); text != missing {
			f.add(name, text)
		}
	}
	clock("SM", x.d.SMClockHertz, x.d.SMClockMaxHertz)
	clock("memory", x.d.MemoryClockHertz, x.d.MemoryClockMaxHz)
	f.reading("performance state P", x.d.PerformanceState, count, "")
	return f
}

func (x deviceFacts) heat() (f facts) {
	f.reading("", x.d.TemperatureCelsius, degrees, "")
	if margin, ok := x.d.TemperatureMarginCelsius.Get(); ok && margin >= 0 {
		f.add("", degrees(margin)+" below where it slows down")
	} else if ok {
		f.add("", degrees(-margin)+" above where it slows down")
	}
	f.reading("slows down at", x.d.TemperatureSlowdownCelsius, degrees, "")
	f.reading("memory", x.d.MemoryTemperatureCelsius, degrees, "")
	return f
}

func degrees(c float64) string { return fmt.Sprintf("%.0f °C", c) }

// heldDown is what keeps the clocks down: now, and what share of the last seconds.
func (x deviceFacts) heldDown() (f facts) {
	if bits, ok := x.d.ThrottleBits.Get(); ok {
		now := probes.HeldDownBy(bits)
		if now == "" {
			now = "nothing"
		}
		f.add("now", now)
	}
	var never []string
	for _, t := range throttleTimes {
		share, ok := x.perSecond(t.of).Get()
		switch {
		case ok && share > 0:
			f.add(t.name, percent(share)+" of the time")
		case ok:
			never = append(never, t.name)
		}
	}
	f.add("in the last 10 s not by", strings.Join(never, ", "))
	return f
}

var throttleTimes = []struct {
	name string
	of   func(*probes.GPUDevice) probes.Opt[float64]
}{
	{"power cap", func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottlePowerSecondsTotal }},
	{"heat", func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleThermalSecondsTotal }},
	{"heat by software", func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleSWThermalSecondsTotal }},
	{"heat by hardware", func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleHWThermalSecondsTotal }},
	{"power brake", func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleBrakeSecondsTotal }},
	{"sync boost", func(d *probes.GPUDevice) probes.Opt[float64] { return d.ThrottleSyncSecondsTotal }},
}

func (x deviceFacts) links() (f facts) {
	d := x.d
	if gen, ok := d.PCIeGeneration.Get(); ok {
		link := "gen " + count(gen) + show(d.PCIeWidth, lanes)
		if most, ok := d.PCIeGenerationMax.Get(); ok {
			link += " of gen " + count(most) + show(d.PCIeWidthMax, lanes)
		}
		f.add("PCIe", link)
	}
	f.reading("replays", d.PCIeReplaysTotal, count, "")
	f.reading("out", d.PCIeTxBytesPerS, rate, "")
	f.reading("in", d.PCIeRxBytesPerS, rate, "")
	if active, ok := d.NVLinksActive.Get(); ok {
		f.add("NVLink", count(active)+" of "+show(d.NVLinksTotal, count)+" up")
	}
	f.reading("errors", d.NVLinkErrorsTotal, count, "")
	f.reading("out", d.NVLinkTxBytesPerS, rate, "")
	f.reading("in", d.NVLinkRxBytesPerS, rate, "")
	return f
}

func lanes(n float64) string { return " ×" + count(n) }

func rate(bytes float64) string { return byteSize(bytes) + "/s" }

func (x deviceFacts) errors() (f facts) {
	d := x.d
	if n, ok := d.XidTotal.Get(); ok && n == 0 {
		f.add("", "no Xid since llmtop listens")
	} else if ok {
		last := "unknown"
		if number, ok := d.LastXid.Get(); ok {
			last = fmt.Sprint(number)
		}
		f.add("", fmt.Sprintf("%d Xid, the last %s", n, last))
	} else if number, ok := d.LastXid.Get(); ok && number > 0 {
		f.add("last Xid", fmt.Sprint(number))
	}
	f.reading("ECC corrected", d.ECCCorrectedTotal, count, "")
	f.reading("uncorrected", d.ECCUncorrectedTotal, count, "")
	f.reading("rows remapped for corrected errors", d.RowsRemappedCorrected, count, "")
	f.reading("for uncorrected", d.RowsRemappedUncorrected, count, "")
	f.reading("", d.RemapPending, yes("a row waits for a reset to be remapped"), "")
	f.reading("", d.RemapFailed, yes("a row could not be remapped"), "")
	if action, ok := d.RecoveryAction.Get(); ok && action > 0 && int(action) < len(probes.RecoveryActions) {
		f.add("the driver asks to", probes.RecoveryActions[int(action)])
	}
	return f
}

// yes says a text of what is so, nothing of what is not.
func yes(text string) func(float64) string {
	return func(is float64) string {
		if is == 0 {
			return ""
		}
		return text
	}
}

// perSecond is how a counter of this device grew over the last seconds.
func (x deviceFacts) perSecond(of func(*probes.GPUDevice) probes.Opt[float64]) probes.Opt[float64] {
	if !of(x.d).Seen() {
		return of(x.d)
	}
	return x.v.lately().Rate(func(p *probes.Point) (float64, time.Time, bool) {
		if p.GPU == nil {
			return 0, time.Time{}, false
		}
		at := time.Time{}
		value, ok := readingOf(p.GPU.Devices, func(d *probes.GPUDevice) bool { return d.UUID == x.d.UUID && d.Index == x.d.Index }, func(d *probes.GPUDevice) probes.Opt[float64] {
			at = d.At
			return of(d)
		}).Get()
		return value, at, ok
	})
}

// mostGPUProcesses of a device are named.
const mostGPUProcesses = 12

// processFacts are the processes on a device; those of an engine are named by their rank.
func processFacts(v *view, g *probes.GPU, d *probes.GPUDevice) (f facts) {
	ranks := ranksOf(v)
	more := 0
	for i := range g.Processes {
		p := &g.Processes[i]
		if p.GPU != d.UUID {
			continue
		}
		if len(f) == mostGPUProcesses {
			more++
			continue
		}
		words := []string{fmt.Sprint(p.PID), clean(p.Name)}
		if rank, ours := ranks[p.PID]; ours {
			words = append(words, "(engine "+clean(rank)+")")
		}
		if bytes, ok := p.MemoryBytes.Get(); ok {
			words = append(words, byteSize(bytes))
		}
		if busy, ok := p.KernelActiveRatio.Get(); ok {
			words = append(words, percent(busy)+" of the time")
		}
		f.add("", strings.Join(words, " "))
	}
	if more > 0 {
		f.add("and", fmt.Sprintf("%d more with less memory", more))
	}
	return f
}

// ranksOf names the engines' processes.
func ranksOf(v *view) map[int]string {
	out := map[int]string{}
	for _, c := range v.tick.Point.Configs {
		for _, r := range c.Ranks {
			out[r.PID] = r.Name
		}
	}
	if p := v.tick.Point.Process; p != nil {
		for i := range p.Members {
			m := &p.Members[i]
			if _, named := out[m.PID]; !named || m.Rank != "" {
				out[m.PID] = m.Rank
			}
		}
	}
	return out
}

// linkRows tell how the devices reach each other: which pairs, by the kind of the way.
func linkRows(g *probes.GPU, w int) []row {
	var kinds []string
	pairs := map[string][]string{}
	for _, l := range g.Links {
		if pairs[l.Kind] == nil {
			kinds = append(kinds, l.Kind)
		}
		pairs[l.Kind] = append(pairs[l.Kind], fmt.Sprintf("%d–%d", l.From, l.To))
	}
	var f facts
	all := len(g.Links)
	for _, k := range kinds {
		if len(pairs[k]) == all && all > 1 {
			f.add(clean(k), "between all")
			continue
		}
		f.add(clean(k), strings.Join(pairs[k], " "))
	}
	return f.rows(w, "topology")
}
