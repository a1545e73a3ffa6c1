package main

import (
	"fmt"
	"strings"

	"llmtop/probes"
)

func (r *doctorReport) gpuText(p *page) {
	g := r.Sections.GPU
	switch {
	case g == nil:
		p.section("GPUs: not read")
		return
	case len(g.Devices) == 0:
		p.section("GPUs: none")
		p.prose("  ", probes.Printable(g.Note, 400))
		return
	}
	said := map[string]int{} // what devices lack, and the first that lacks it
	for i := range g.Devices {
		gpuDeviceText(p, g, r.Before.GPU, i, said)
	}
	for _, s := range readingsOf(g) {
		switch s.name {
		case "driver", "cuda", "processes_at":
		default:
			p.prose("  "+shortName(s.name)+": ", s.text)
		}
	}
	r.gpuLinksText(p, g)
}

func gpuDeviceText(p *page, g, before *probes.GPU, i int, said map[string]int) {
	d := &g.Devices[i]
	p.section("GPU %d %s", d.Index, probes.Printable(d.Name, 40))
	p.wrapped("  ", ",", identity(g, d)...)
	if d.Err != "" {
		p.prose("  BROKEN ", d.Err)
	}
	list := withGrowth(gpuReadings(d), gpuReadings(asBefore(before, d)))
	p.values(list)
	if lacks := absentText(" ", list); lacks != "" {
		if as, ok := said[lacks]; ok {
			lacks = fmt.Sprintf(" not there: what is not there of GPU %d\n", as)
		} else {
			said[lacks] = d.Index
		}
		p.WriteString(lacks)
	}
	p.prose(" clocks held down by: ", throttleWords(d.ThrottleBits))
	p.line(" critical errors (Xid) since llmtop began to listen: %s", xidWords(d))
	if action, ok := d.RecoveryAction.Get(); ok && action > 0 {
		p.prose(" the driver asks to: ", recoveryWords(action))
	}
	gpuProcessesText(p, g, d)
}

// identity says which device it is: all that is text or a flag.
func identity(g *probes.GPU, d *probes.GPUDevice) (words []string) {
	labels := map[string]string{"instance": "instance ", "parent": "part of ", "virtual": "virtual: ", "cpus": "near CPUs ", "source": "read by ", "activity_from": "activity by "}
	for _, s := range readingsOf(d) {
		switch {
		case s.is || s.absent != "" || s.name == "index" || s.name == "name" || s.name == "err":
		case s.name == "mig":
			words = append(words, "divided (MIG)")
		default:
			words = append(words, labels[s.name]+plainWords(s))
		}
	}
	if age := g.At.Sub(d.At); !d.At.IsZero() && age.Seconds() >= 1 {
		words = append(words, fmt.Sprintf("last read %.0f s before", age.Seconds()))
	}
	return orDash(words)
}

// asBefore is a device as it was before; without one, the zero device, of which nothing is known.
func asBefore(before *probes.GPU, d *probes.GPUDevice) *probes.GPUDevice {
	if before != nil {
		for i := range before.Devices {
			if b := &before.Devices[i]; b.UUID == d.UUID && b.Index == d.Index {
				return b
			}
		}
	}
	return &probes.GPUDevice{}
}

// gpuReadings are all numbers of a device, in the table's order and units.
func gpuReadings(d *probes.GPUDevice) (list []shown) {
	for _, r := range probes.GPUReadings {
		s := optional(r.Name, *r.Of(d), func(v float64) float64 { return v })
		if s.is {
			s.text = quantity(s.number, r.Unit)
		}
		list = append(list, s)
	}
	return list
}

// throttleBits are the reasons for which clocks may be held down, in words (nvml.h,
// nvmlClocksEventReason*).
var throttleBits = [...]struct {
	bit  uint64
	name string
}{
	{probes.ThrottleIdle, "idle"}, {probes.ThrottleAppClocks, "application clocks"}, {probes.ThrottlePowerCap, "power cap"},
	{probes.ThrottleHWSlowdown, "hardware slowdown"}, {probes.ThrottleSyncBoost, "sync boost"}, {probes.ThrottleSWThermal, "heat (software)"},
	{probes.ThrottleHWThermal, "heat (hardware)"}, {probes.ThrottlePowerBrake, "power brake"}, {probes.ThrottleDisplayClock, "display clocks"},
}

func throttleWords(bits probes.Opt[uint64]) string {
	v, ok := bits.Get()
	if !ok {
		return "not known, " + whyAbsent(bits.Why())
	}
	var names []string
	for _, b := range throttleBits {
		if v&b.bit != 0 {
			names, v = append(names, b.name), v&^b.bit
		}
	}
	if v != 0 {
		names = append(names, fmt.Sprintf("other reasons (0x%x)", v))
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func xidWords(d *probes.GPUDevice) string {
	n, ok := d.XidTotal.Get()
	if !ok {
		return whyAbsent(d.XidTotal.Why())
	}
	text := fmt.Sprint(n)
	if last, ok := d.LastXid.Get(); ok && n > 0 {
		text += fmt.Sprintf(", the last Xid %d", last)
	}
	return text
}

func recoveryWords(action float64) string {
	if i := int(action); i >= 0 && i < len(probes.RecoveryActions) {
		return probes.RecoveryActions[i]
	}
	return fmt.Sprintf("action %.0f", action)
}

// gpuProcessesText prints who holds memory of a device.
func gpuProcessesText(p *page, g *probes.GPU, d *probes.GPUDevice) {
	var list []probes.GPUProcess
	for _, q := range g.Processes {
		if q.GPU == d.UUID {
			q.GPU = ""
			list = append(list, q)
		}
	}
	if len(list) == 0 && !g.ProcessesAt.IsZero() && d.Err == "" { // one that does not answer lists none
		p.line(" no process holds memory of it")
	}
	rows(p, "processes that hold memory of it", list, nil)
}

// gpuLinksText prints how the devices are connected, pairs of one kind together.
func (r *doctorReport) gpuLinksText(p *page, g *probes.GPU) {
	var kinds []string
	pairs := map[string][]string{}
	for _, l := range g.Links {
		kind := probes.Printable(l.Kind, 20)
		if pairs[kind] == nil {
			kinds = append(kinds, kind)
		}
		pairs[kind] = append(pairs[kind], fmt.Sprintf("%d–%d", l.From, l.To))
	}
	if len(kinds) > 0 {
		p.section("links between GPUs")
	}
	for _, kind := range kinds {
		p.wrapped("  "+cell(kind, 6), "", pairs[kind]...)
	}
}
