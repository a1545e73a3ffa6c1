package panes

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"llmtop/probes"
)

// gpuAt is when the devices were last read.
func gpuAt(v *view) time.Time {
	if g := v.tick.Point.GPU; g != nil {
		return g.At
	}
	return time.Time{}
}

// gpuRows is a line a device, at most most lines; without a device one line says why.
func gpuRows(v *view, w, most int) []row {
	g := v.tick.Point.GPU
	if g == nil {
		return []row{row{}.add(strong, " GPU   ").add(faint, missing+" not read")}
	}
	if len(g.Devices) == 0 {
		note := clean(g.Note)
		if !strings.Contains(note, "no NVML device") {
			note = strings.TrimSuffix("no NVML device: "+note, ": ")
		}
		if width(note) > w-7 { // the file's name says as much
			note = strings.ReplaceAll(note, "the NVIDIA driver's library ", "")
		}
		return []row{row{}.add(strong, " GPU   ").add(faint, note)}
	}
	devices := g.Devices
	if len(devices) > most {
		devices = worst(devices, most)
	}
	var rows []row
	for i := range devices {
		label := " " + deviceLabel(g, &devices[i])
		if n := wholeDevices(g); len(devices) < len(g.Devices) && n > 1 && devices[i].Parent == "" {
			label += fmt.Sprintf("/%d", n) // one of so many
		}
		rows = append(rows, gpuRow(v, w, label, &devices[i]))
	}
	return rows
}

// deviceLabel is what a device is called in a row: "GPU0"; a MIG instance of it "GPU0·2g.35gb",
// with its number where there are several of that kind: "GPU0·1g.18gb#9".
func deviceLabel(g *probes.GPU, d *probes.GPUDevice) string {
	label := fmt.Sprintf("GPU%d", d.Index)
	if d.Parent == "" {
		return label
	}
	alike := 0
	for i := range g.Devices {
		if o := &g.Devices[i]; o.Parent == d.Parent && o.Instance == d.Instance {
			alike++
		}
	}
	kind := clean(d.Instance)
	if kind == "" {
		kind = "MIG"
	}
	label += "·" + kind
	if id, ok := d.InstanceID.Get(); ok && alike > 1 {
		label += fmt.Sprintf("#%d", id)
	}
	return label
}

// wholeDevices counts those that are no instances of another.
func wholeDevices(g *probes.GPU) (n int) {
	for i := range g.Devices {
		if g.Devices[i].Parent == "" {
			n++
		}
	}
	return n
}

// worst picks the n devices to look at first: lost, held back, then the busiest.
func worst(devices []probes.GPUDevice, n int) []probes.GPUDevice {
	rank := func(d *probes.GPUDevice) float64 {
		switch {
		case d.Err != "":
			return 3
		case len(d.Troubles()) > 0:
			return 2
		}
		return d.KernelActiveRatio.Or(d.SMActiveRatio.Or(0)) // of an instance nobody tells the first
	}
	sorted := append([]probes.GPUDevice(nil), devices...)
	sort.SliceStable(sorted, func(i, j int) bool { return rank(&sorted[i]) > rank(&sorted[j]) })
	return sorted[:n]
}

// gpuRow is one device: how much kernels and memory are at work, power against
// its limit, SM clock, temperature, memory, and what holds its clocks down.
// "kern" is the time in which any kernel ran, not how much of the GPU it used: that is SM.
func gpuRow(v *view, w int, label string, d *probes.GPUDevice) row {
	r := row{}.left(strong, max(7, width(label)+1), label)
	if d.Err != "" {
		age, _ := v.age(d.At)
		return r.add(bad, xidBefore(d)+clean(d.Err)).add(old, lastSeen(d.At, age))
	}
	if d.Asleep {
		return r.add(faint, "asleep; it is not woken to be read")
	}
	age, isOld := v.at.Sub(d.At), !v.stands(d)
	fresh := func(t tone) tone {
		if isOld {
			return old
		}
		return t
	}
	t := fresh(plain)
	if w < 60 {
		return append(r, narrowDevice(t, d)...)
	}
	if w >= 96 {
		r = r.left(fresh(faint), 15, cut(shortGPU(d.Name), 14))
	}
	if w >= 96 || !d.SMActiveRatio.Seen() {
		r = r.add(faint, "kern").right(t, 6, show(d.KernelActiveRatio, percent))
	}
	if w >= 96 {
		r = r.add(plain, "  ")
	}
	if w >= 96 || d.SMActiveRatio.Seen() { // where there is room for one of the two: how much of the GPU is used
		r = r.add(faint, "SM  ").right(t, 6, show(d.SMActiveRatio, percent))
	}
	r = r.add(faint, "  DRAM").right(t, 6, show(d.DRAMActiveRatio, percent))
	if d.Parent == "" { // power, clock and heat are the board's, and stand in its row
		r = r.right(fresh(powerTone(d)), 10, overLimit(d.PowerWatts, d.PowerLimitWatts, watts, "W")).
			right(t, 10, show(d.SMClockHertz, gigahertz)).
			right(t, 7, show(d.TemperatureCelsius, func(c float64) string { return digits(c) + " °C" }))
	}
	memory := row{}.add(faint, "  mem").right(t, 6, show(usedRatio(d), percent))
	if isOld {
		return append(r, memory...).add(old, lastSeen(d.At, age))
	}
	trouble := row{}
	if troubles := d.Troubles(); len(troubles) > 0 {
		trouble = trouble.add(bad, "  ⚠ "+strings.Join(troubles, ", "))
	}
	if len(trouble) == 0 || r.width()+memory.width()+trouble.width() <= w { // else what is wrong matters more
		r = append(r, memory...)
	}
	return append(r, trouble...)
}

// xidBefore is the critical error that a device had which is not read any more.
func xidBefore(d *probes.GPUDevice) string {
	number, ok := d.LastXid.Get()
	if d.XidTotal.Or(0) == 0 || !ok {
		return ""
	}
	return fmt.Sprintf("Xid %d, ", number)
}

// narrowDevice is a device where there is room for little: what is wrong with it, else how
// busy it is.
func narrowDevice(t tone, d *probes.GPUDevice) row {
	if troubles := d.Troubles(); len(troubles) > 0 {
		return row{}.add(bad, "⚠ "+strings.Join(troubles, ", "))
	}
	name, active := "kern", d.KernelActiveRatio
	if d.SMActiveRatio.Seen() {
		name, active = "SM", d.SMActiveRatio
	}
	return row{}.add(faint, name).add(t, " "+show(active, percent)+"  "+show(d.PowerWatts, wattage)+"  "+show(d.TemperatureCelsius, degrees))
}

// troubledGPU is the device that is worst off, as a row; nil when all are well.
func troubledGPU(v *view, w int) []row {
	g := v.tick.Point.GPU
	if g == nil {
		return nil
	}
	for _, d := range worst(g.Devices, min(1, len(g.Devices))) {
		if d.Err != "" || len(d.Troubles()) > 0 {
			return gpuRows(v, w, 1)
		}
	}
	return nil
}

// stands reports whether a device's readings stand for now: an exporter's do for longer.
func (v *view) stands(d *probes.GPUDevice) bool {
	return d.At.IsZero() || d.Stands(v.at, v.staleAfter(v.everyOf(d.At)))
}

func lastSeen(at time.Time, age time.Duration) string {
	if at.IsZero() {
		return ""
	}
	return "  " + ago(age) + " old"
}

func gigahertz(hz float64) string { return fmt.Sprintf("%.2f GHz", hz/1e9) }

func watts(w float64) string { return fmt.Sprintf("%.0f", w) }

// overLimit prints used/limit unit, each part on its own missing.
func overLimit(used, limit probes.Opt[float64], print func(float64) string, unit string) string {
	if !used.Seen() && !limit.Seen() {
		return missing
	}
	return show(used, print) + "/" + show(limit, print) + unit
}

func powerTone(d *probes.GPUDevice) tone {
	used, ok := d.PowerWatts.Get()
	limit, okLimit := d.PowerLimitWatts.Get()
	if ok && okLimit && used >= 0.97*limit {
		return warn
	}
	return plain
}

func usedRatio(d *probes.GPUDevice) probes.Opt[float64] {
	used, ok := d.MemoryUsedBytes.Get()
	total, okTotal := d.MemoryTotalBytes.Get()
	if !ok || !okTotal || total <= 0 {
		return probes.Opt[float64]{}
	}
	return probes.Some(used / total)
}

// shortGPU leaves out what every name begins with.
func shortGPU(name string) string {
	return strings.TrimPrefix(clean(name), "NVIDIA ")
}
