package panes

import (
	"fmt"
	"time"
)

func hostAt(v *view) time.Time {
	if h := v.tick.Point.Host; h != nil {
		return h.At
	}
	return time.Time{}
}

func processAt(v *view) time.Time {
	if p := v.tick.Point.Process; p != nil {
		return p.At
	}
	return time.Time{}
}

// hostRows are the machine and the engine's process: who has the cores, who waits.
func hostRows(v *view, w int) []row {
	return []row{machineRow(v, w), processRow(v, w)}
}

func machineRow(v *view, w int) row {
	r := row{}.add(strong, " host   ")
	h := v.tick.Point.Host
	if h == nil {
		return r.add(faint, missing+" not read")
	}
	t := v.fresh(h.At, plain)
	r = r.add(faint, "CPU").right(v.fresh(h.At, busyTone(v.sig("host.cpu_busy").Or(0))), 6, show(v.sig("host.cpu_busy"), percent)).
		add(faint, fmt.Sprintf(" of %-3d", h.CPUs)).
		add(faint, " pressure").right(v.fresh(h.At, pressureTone(v.sig("host.cpu_pressure").Or(0))), 6, show(v.sig("host.cpu_pressure"), percent)).
		add(faint, "  others").right(t, 5, show(v.sig("host.other_cpu"), digits)).
		add(faint, "  free").right(t, 8, show(v.sig("host.memory_available"), byteSize)).
		add(faint, "  stall").right(t, 5, show(v.sig("host.memory_pressure"), percent))
	return r.add(old, ageNote(v, h.At))
}

func processRow(v *view, w int) row {
	r := row{}.add(strong, " engine ")
	p := v.tick.Point.Process
	if p == nil {
		return r.add(faint, missing+" process not on this host, or not found")
	}
	t := v.fresh(p.At, plain)
	r = r.add(faint, "CPU").right(t, 6, show(v.sig("process.cpu_cores"), digits)).
		add(faint, " cores ").
		add(faint, " run-wait").right(v.fresh(p.At, pressureTone(v.sig("process.run_wait").Or(0))), 6, show(v.sig("process.run_wait"), percent)).
		add(faint, " quota").right(t, 6, show(v.sig("process.throttled"), percent)).
		add(faint, "   rss").right(t, 8, show(v.sig("process.rss"), byteSize)).
		add(faint, fmt.Sprintf("  %d %s", p.PID, clean(p.Name)))
	return r.add(old, ageNote(v, p.At))
}

// ageNote tells the age of a reading too old to stand for now.
func ageNote(v *view, at time.Time) string {
	if age, isOld := v.age(at); isOld {
		return "  " + ago(age) + " old"
	}
	return ""
}

func busyTone(ratio float64) tone {
	if ratio >= 0.95 {
		return warn
	}
	return plain
}

// pressureTone warns from 10 % and alarms from 20 % of time spent waiting.
func pressureTone(ratio float64) tone {
	switch {
	case ratio >= 0.2:
		return bad
	case ratio >= 0.1:
		return warn
	}
	return plain
}
