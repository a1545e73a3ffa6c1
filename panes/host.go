package panes

import (
	"fmt"
	"strings"
	"time"

	"llmtop/probes"
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
	rows := []row{machineRow(v, w), processRow(v, w)}
	if beside := neighbourRow(v); beside != nil {
		rows = append(rows, beside)
	}
	return rows
}

// neighbourCores is what a process beside the engine takes at least to be named.
const neighbourCores = 0.3

// neighbourRow names those beside the engine that take most of the cores, nil when nobody
// takes much.
func neighbourRow(v *view) row {
	n := v.tick.Point.Neighbours
	if n == nil {
		return nil
	}
	var names []string
	for i := range n.List {
		if cores := n.List[i].CPUCores.Or(0); cores >= neighbourCores && len(names) < 3 {
			names = append(names, fmt.Sprintf("%d %s %s", n.List[i].PID, clean(n.List[i].Name), digits(cores)))
		}
	}
	if names == nil {
		return nil
	}
	r := row{}.add(strong, " beside ").add(v.fresh(n.At, plain), strings.Join(names, ", ")+" cores")
	return r.add(old, ageNote(v, n.At))
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
		add(bad, processTroubles(v, p)).
		add(faint, fmt.Sprintf("  %d %s", p.PID, clean(p.Name)))
	return r.add(old, ageNote(v, p.At))
}

// processTroubles are what holds the engine's processes up beside the cores.
func processTroubles(v *view, p *probes.Process) string {
	var out []string
	if n := p.BlockedThreads.Or(0); n > 0 {
		out = append(out, count(n)+" blocked")
	}
	if s := v.tick.Point.Sockets; s != nil {
		slow := 0
		for i := range s.Full {
			if s.Full[i].StuckSeconds.Or(0) > slowReader {
				slow++
			}
		}
		if slow > 0 {
			out = append(out, plural(probes.Some(float64(slow)), "slow reader"))
		}
	}
	if out == nil {
		return ""
	}
	return "  ⚠ " + strings.Join(out, ", ")
}

// slowReader is for how long a client may leave a send queue with something in it, s.
const slowReader = 5

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
