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
		label := fmt.Sprintf(" GPU%d", devices[i].Index)
		if len(devices) < len(g.Devices) {
			label += fmt.Sprintf("/%d", len(g.Devices)) // one of so many
		}
		rows = append(rows, gpuRow(v, w, label, &devices[i]))
	}
	return rows
}

// worst picks the n devices to look at first: lost, held back, then the busiest.
func worst(devices []probes.GPUDevice, n int) []probes.GPUDevice {
	rank := func(d *probes.GPUDevice) float64 {
		switch {
		case d.Err != "":
			return 3
		case throttles(d.ThrottleBits.Or(0)) != "":
			return 2
		}
		return d.KernelActiveRatio.Or(0)
	}
	sorted := append([]probes.GPUDevice(nil), devices...)
	sort.SliceStable(sorted, func(i, j int) bool { return rank(&sorted[i]) > rank(&sorted[j]) })
	return sorted[:n]
}

// gpuRow is one device: how much kernels and memory are at work, power against
// its limit, SM clock, temperature, memory, and what holds its clocks down.
// "kern" is the time in which any kernel ran, not how much of the GPU it used.
func gpuRow(v *view, w int, label string, d *probes.GPUDevice) row {
	r := row{}.left(strong, 7, label)
	if d.Err != "" {
		age, _ := v.age(d.At)
		return r.add(bad, clean(d.Err)).add(old, lastSeen(d.At, age))
	}
	age, isOld := v.age(d.At)
	t := v.fresh(d.At, plain)
	if w >= 96 {
		r = r.left(v.fresh(d.At, faint), 15, shortGPU(d.Name))
	}
	r = r.add(faint, "kern").right(t, 6, show(d.KernelActiveRatio, percent)).
		add(faint, "  DRAM").right(t, 6, show(d.DRAMActiveRatio, percent)).
		right(v.fresh(d.At, powerTone(d)), 10, overLimit(d.PowerWatts, d.PowerLimitWatts, watts, "W")).
		right(t, 10, show(d.SMClockHertz, gigahertz)).
		right(t, 7, show(d.TemperatureCelsius, func(c float64) string { return digits(c) + " °C" })).
		add(faint, "  mem").right(t, 6, show(usedRatio(d), percent))
	if isOld {
		return r.add(old, lastSeen(d.At, age))
	}
	if held := throttles(d.ThrottleBits.Or(0)); held != "" {
		r = r.add(bad, "  ⚠ "+held)
	}
	return r
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

// throttles names what holds the clocks down. Idle and application clocks are
// settings, not troubles.
func throttles(bits uint64) string {
	var names []string
	for _, b := range [...]struct {
		bit  uint64
		name string
	}{
		{probes.ThrottlePowerCap, "power cap"},
		{probes.ThrottleHWSlowdown, "slowdown"},
		{probes.ThrottleSWThermal | probes.ThrottleHWThermal, "heat"},
		{probes.ThrottlePowerBrake, "power brake"},
	} {
		if bits&b.bit != 0 {
			names = append(names, b.name)
		}
	}
	return strings.Join(names, ", ")
}
