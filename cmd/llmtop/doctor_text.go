package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is the report for people, at most doctorWidth wide: first what fails, then what was
// read, last what would help.
func (r *doctorReport) text() string {
	p := &page{}
	p.line("llmtop doctor %s, %s, %.1f s", r.Llmtop, r.At.Format("2006-01-02T15:04:05Z"), r.Seconds)
	for _, b := range r.Broken {
		p.prose("BROKEN ", b)
	}
	if len(r.Broken) == 0 {
		p.line("nothing is broken")
	}
	for _, o := range r.Odd {
		p.prose("but ", o)
	}
	r.frameText(p)
	r.probesText(p)
	r.gpuText(p)
	r.callsText(p)
	r.enginesText(p)
	r.processText(p)
	r.hostText(p)
	r.missingText(p)
	return strings.Map(printable, p.String())
}

// printable leaves out what could do something to a terminal: text from outside is in here.
func printable(r rune) rune {
	if r == '\n' || unicode.IsPrint(r) {
		return r
	}
	return -1
}

func (r *doctorReport) frameText(p *page) {
	f := &r.Frame
	p.section("where llmtop runs")
	p.prose("  system     ", fmt.Sprintf("%s, %s, libc %s", f.Kernel, f.Go, f.Libc))
	driver := dash(f.Driver)
	if g := r.Sections.GPU; g != nil && g.Driver != "" {
		driver += ", library of " + g.Driver
		if g.CUDA != "" {
			driver += ", CUDA " + g.CUDA
		}
	}
	p.prose("  driver     ", driver)
	p.prose("  user       ", fmt.Sprintf("%s (uid %d), capabilities %s (%s)", f.User, f.UID, dash(strings.Join(f.Capabilities, " ")), f.CapEff))
	p.prose("  container  ", dash(strings.Join(f.Container, ", ")))
	var set []string
	for _, s := range f.Settings {
		set = append(set, s.Name+" "+dash(s.Value))
	}
	p.wrapped("  settings   ", ",", set...)
	p.wrapped("  GPUs (PCI) ", ",", orDash(f.PCI)...)
	var files []string
	for _, d := range f.Devices {
		may := d.May
		if may == "" {
			may = "no access"
		}
		files = append(files, fmt.Sprintf("%s %s %d:%d %s", d.Path, d.Mode, d.UID, d.GID, may))
	}
	p.wrapped("  devices    ", ",", orDash(files)...)
	p.wrapped("  variables  ", ",", orDash(f.EnvSet)...)
	p.line("  terminal   %s, TERM %s, LANG %s", dash(f.Terminal), dash(f.TERM), dash(f.LANG))
}

func orDash(words []string) []string {
	if len(words) == 0 {
		return []string{dash("")}
	}
	return words
}

func (r *doctorReport) probesText(p *page) {
	p.section("probes: how long both reads took, and what they gave")
	for _, s := range r.Probes {
		times := [2]string{"", ""}
		for i, t := range s.Seconds[:min(len(s.Seconds), 2)] {
			times[i] = shortTime(t)
		}
		label := fmt.Sprintf("  %-9s %8s %8s  ", s.State, times[0], times[1])
		told := []string{s.Name + ":", s.Read}
		if s.Error != "" {
			told = []string{s.Name + ":", s.Error}
		}
		if s.Before != "" {
			told = append(told, "(first "+s.Before+")")
		}
		p.prose(label, strings.Join(told, " "))
	}
}

func (r *doctorReport) enginesText(p *page) {
	p.section("engines on this host")
	if len(r.Engines) == 0 {
		p.line("  none found")
	}
	for _, e := range r.Engines {
		readable := "readable"
		if !e.Readable {
			readable = "not readable"
		}
		p.prose("  ", fmt.Sprintf("%s %s on %s, %s, pid %s of %s", e.Engine, e.Dialect, dash(e.Address), readable, dash(number(e.PID)), dash(e.User)))
	}
}

func (r *doctorReport) processText(p *page) {
	now, was := r.Sections.Process, or(r.Before.Process)
	if now == nil {
		p.section("engine processes: not read")
	} else {
		p.section("engine processes")
		p.readings(grown(now, was))
		rows(p, "processes", now.Members, was.Members)
		rows(p, "busiest threads", now.BusyThreads, was.BusyThreads)
	}
	if s := r.Sections.Sockets; s != nil {
		p.section("connections of the engines")
		p.readings(readingsOf(s))
		rows(p, "fullest send queues", s.Full, nil)
	}
	if n := r.Sections.Neighbours; n != nil {
		p.section("other processes")
		p.readings(readingsOf(n))
		rows(p, "those that take most", n.List, nil)
	}
}

func (r *doctorReport) hostText(p *page) {
	h := r.Sections.Host
	if h == nil {
		return
	}
	p.section("machine")
	was := or(r.Before.Host)
	p.readings(grown(h, was))
	rows(p, "memory nodes", h.NUMANodes, nil)
	rows(p, "disks", h.Disks, was.Disks)
	rows(p, "file systems", h.Filesystems, nil)
	rows(p, "network", h.NICs, was.NICs)
}

// or is what a pointer points to; nil, something of which nothing is known.
func or[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

// grown are the readings of a section, with what counters grew by since the first read.
func grown[T any](now, before *T) []shown { return withGrowth(readingsOf(now), readingsOf(before)) }

func (r *doctorReport) missingText(p *page) {
	p.section("what is missing, and what would give it")
	if len(r.Missing) == 0 {
		p.line("  nothing")
	}
	for _, m := range r.Missing {
		p.prose("  - ", m.What)
		if m.Gives != "" {
			p.prose("      → ", m.Gives)
		}
	}
}

// cell is a text of at least some columns.
func cell(s string, w int) string {
	return s + strings.Repeat(" ", max(0, w-utf8.RuneCountInString(s)))
}
