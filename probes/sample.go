// Package probes holds the one value that flows through llmtop, the Sample, and
// what every part needs to make one or to look back over many: Opt (a reading
// that may be missing), Collector (asks the probes once a tick, waits for none),
// Window (the last samples, and the arithmetic over them) and, for probes that
// read over HTTP, Endpoint and Fetcher (bounded in time and bytes).
//
// Its children either fill sections (scrape, host, nvml, dcgm, amdgpu, cpuprofile, enginelog),
// interpret them (dialect, frames: pure functions) or keep them (record). They
// never import each other. A published Sample is never changed.
package probes

import "time"

// Sample is everything known at one tick, raw. A section that was not seen is
// nil; a section that a slow probe did not renew is the previous pointer, so its
// At, not the tick, dates it.
type Sample struct {
	Seq       uint64        `json:"seq"`      // 1, 2, 3 … within one collection
	At        time.Time     `json:"at"`       // wall clock of the tick, UTC
	Mono      time.Duration `json:"mono"`     // monotonic time since the collection began, ns
	Interval  time.Duration `json:"interval"` // planned time between ticks, ns
	Simulated bool          `json:"simulated,omitempty"`

	SimulatedEngines []string `json:"simulated_engines,omitempty"` // endpoints of those that are, where others may be real; none: all are, if Simulated

	Scrapes    []*Scrape       `json:"-"` // engine endpoints, raw series; recorded in their own encoding
	Requests   []*Requests     `json:"requests,omitempty"`
	Host       *Host           `json:"host,omitempty"`
	Process    *Process        `json:"process,omitempty"`    // the engines' processes
	Neighbours *Neighbours     `json:"neighbours,omitempty"` // the other processes
	Sockets    *Sockets        `json:"sockets,omitempty"`    // the engines' connections
	GPU        *GPU            `json:"gpu,omitempty"`
	Profile    *Profile        `json:"profile,omitempty"`
	Configs    []*EngineConfig `json:"configs,omitempty"`  // how the engines are set up
	Logs       []*EngineLog    `json:"logs,omitempty"`     // what their logs count
	Canaries   []*Canary       `json:"canaries,omitempty"` // how requests of our own fared
	Self       *Self           `json:"self,omitempty"`
	Events     []Event         `json:"events,omitempty"` // since the previous sample
	Probes     []ProbeStatus   `json:"probes,omitempty"` // how each probe is doing
}

// Event is something that happened at a moment: an engine restart, a clock jump.
type Event struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // stable word: engine-restart, counter-reset, clock-jump, probe-error, gpu-lost, mark …
	Text string    `json:"text"` // for people; already stripped of control bytes
}

// Self is llmtop's own cost, so that nobody has to wonder whether the watcher is the load.
type Self struct {
	At              time.Time    `json:"at"`
	PID             int          `json:"pid"`
	CPUSecondsTotal Opt[float64] `json:"cpu_seconds_total,omitzero"`
	RSSBytes        Opt[float64] `json:"rss_bytes,omitzero"`
}

// ProbeStatus says how a probe is doing at a tick.
type ProbeStatus struct {
	Name           string       `json:"name"`
	At             time.Time    `json:"at,omitzero"`              // when its section was last renewed
	LatencySeconds Opt[float64] `json:"latency_seconds,omitzero"` // of the last finished read
	PendingSeconds Opt[float64] `json:"pending_seconds,omitzero"` // how long the read now running has been out
	Err            string       `json:"err,omitempty"`            // of the last finished read; empty when it went well
	Lacks          bool         `json:"lacks,omitempty"`          // Err only says that this engine does not have what the probe reads: no trouble
	EverySeconds   float64      `json:"every_seconds"`
}

// Section is what one probe read. AddTo places it in a sample under assembly.
type Section interface{ AddTo(*Sample) }

func (s *Scrape) AddTo(to *Sample)   { to.Scrapes = append(to.Scrapes, s) }
func (r *Requests) AddTo(to *Sample) { to.Requests = append(to.Requests, r) }
func (h *Host) AddTo(to *Sample)     { to.Host = h }
func (p *Profile) AddTo(to *Sample)  { to.Profile = p }
