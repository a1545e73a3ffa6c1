package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/probes/cpuprofile"
	"llmtop/probes/dialect"
	"llmtop/probes/nvml"
	"llmtop/probes/simulated"
)

// doctorReport is everything a doctor saw, as --json prints it. Names are kept.
type doctorReport struct {
	Llmtop   string         `json:"llmtop"`
	At       time.Time      `json:"at"`      // when it began
	Seconds  float64        `json:"seconds"` // that it took
	Frame    frameReport    `json:"frame"`
	Probes   []probeReport  `json:"probes"`
	Engines  []foundEngine  `json:"engines"` // as llmtop find tells
	Sections doctorSections `json:"sections"`
	Before   doctorSections `json:"before"` // the same from the first read, about a second earlier
	Calls    []callReport   `json:"calls"`  // to the NVIDIA driver
	Missing  []missing      `json:"missing"`
	Broken   []string       `json:"broken"` // why the exit status is not 0
	Odd      []string       `json:"odd"`    // what is not broken but not as it should be
}

// doctorSections are sections of a sample, as a recording has them. A reading that is
// not there is one that nobody made.
type doctorSections struct {
	Simulated  bool               `json:"simulated,omitempty"` // by an engine: what is here is no reading of this host
	GPU        *probes.GPU        `json:"gpu,omitempty"`
	Host       *probes.Host       `json:"host,omitempty"`
	Process    *probes.Process    `json:"process,omitempty"`
	Neighbours *probes.Neighbours `json:"neighbours,omitempty"`
	Sockets    *probes.Sockets    `json:"sockets,omitempty"`
}

// The states of a probe.
const (
	probeOK     = "ok"
	probeLacks  = "lacks" // there is nothing for it to read here, which is no trouble
	probeBusy   = "busy"  // somebody else reads what only one may read, which is none either
	probeFailed = "error"
	probeHung   = "no answer"
)

// probeReport is how one probe fared.
type probeReport struct {
	Name    string    `json:"name"`
	State   string    `json:"state"`            // ok, lacks, busy, error, no answer
	Error   string    `json:"error,omitempty"`  // of the last read
	Seconds []float64 `json:"seconds"`          // that each read took
	Read    string    `json:"read,omitempty"`   // what was read, in short
	Before  string    `json:"before,omitempty"` // the first read's error, where it is another
}

// newDoctorReport takes down how the probes fared, and ends them.
func newDoctorReport(exams []*exam, frame frameReport) *doctorReport {
	r := &doctorReport{Llmtop: version(), Frame: frame, Calls: []callReport{}, Missing: []missing{}, Broken: []string{}, Odd: []string{}}
	r.Before, r.Sections = sectionsOf(exams, first), sectionsOf(exams, newest)
	for _, e := range exams {
		r.Probes = append(r.Probes, e.report())
		if c, ok := e.probe.(interface{ Calls() []nvml.Call }); ok {
			r.Calls = append(r.Calls, callsOf(c.Calls())...)
		}
	}
	endExams(exams)
	return r
}

// sectionsOf puts together what probes read, as a collector does.
func sectionsOf(exams []*exam, of func(*exam) probes.Section) doctorSections {
	var s probes.Sample
	for _, e := range exams {
		if section := of(e); section != nil {
			section.AddTo(&s)
		}
	}
	return doctorSections{Simulated: s.Simulated, GPU: s.GPU, Host: s.Host, Process: s.Process, Neighbours: s.Neighbours, Sockets: s.Sockets}
}

func first(e *exam) probes.Section { return e.reads[0].section }

// newest is the last section there was.
func newest(e *exam) probes.Section {
	if s := e.last().section; s != nil {
		return s
	}
	return first(e)
}

func (e *exam) report() probeReport {
	p := probeReport{Name: e.name, State: probeOK, Read: inShort(newest(e))}
	for _, r := range e.reads {
		p.Seconds = append(p.Seconds, probes.Seconds(r.took))
	}
	last := e.last()
	if last.err != nil {
		p.Error, p.State = probes.Printable(last.err.Error(), 300), probeFailed
	}
	switch {
	case probes.IsLacking(last.err):
		p.State = probeLacks
	case errors.Is(last.err, cpuprofile.ErrBusy):
		p.State = probeBusy
	case last.hung:
		p.State = probeHung
	}
	if err := e.reads[0].err; err != nil && len(e.reads) > 1 {
		if text := probes.Printable(err.Error(), 300); text != p.Error {
			p.Before = text
		}
	}
	return p
}

// inShort says how much a section holds.
func inShort(s probes.Section) string {
	switch s := s.(type) {
	case nil:
		return "nothing"
	case *probes.Scrape:
		text := fmt.Sprintf("%d series", len(s.Values))
		if e := dialect.Decode(s); e != nil {
			text += ", " + e.Dialect
		}
		if s.Dropped > 0 {
			text += fmt.Sprintf(", %d lines left out", s.Dropped)
		}
		return text
	case *simulated.Section:
		return s.Simulated
	case *probes.Requests:
		return fmt.Sprintf("%d in flight, %d finished", s.InFlight, len(s.Finished))
	case *probes.Profile:
		return fmt.Sprintf("%.0f s, %d bytes", s.Seconds, len(s.Raw))
	case *probes.EngineConfig:
		return strings.TrimSpace(fmt.Sprintf("%s %s, %d settings", s.Dialect, s.Version, len(s.Facts)))
	case *probes.EngineLog:
		return fmt.Sprintf("%.0f lines", s.Lines.Or(0))
	case *probes.Canary:
		return fmt.Sprintf("HTTP %d, %.0f tokens", s.Status, s.Tokens.Or(0))
	case *probes.GPU:
		if len(s.Devices) == 0 {
			return probes.Printable(s.Note, 300)
		}
		return fmt.Sprintf("%d devices, %d processes", len(s.Devices), len(s.Processes))
	case *probes.Process:
		return fmt.Sprintf("pid %d %s, %d processes", s.PID, s.Name, max(1, len(s.Members)))
	case *probes.Host:
		return fmt.Sprintf("%d CPUs", s.CPUs)
	case *probes.Neighbours:
		return fmt.Sprintf("%d other processes", s.Processes)
	case *probes.Sockets:
		return fmt.Sprintf("%.0f connections", s.Connections.Or(0))
	}
	return ""
}
