package record

import (
	"encoding/json"
	"time"
)

// Manifest says where a recording comes from. The caller gives the facts; text
// is stored without credentials.
type Manifest struct {
	Format   string            `json:"format"`  // version of the format, set by Create
	Version  string            `json:"version"` // of llmtop
	Created  time.Time         `json:"created"`
	Interval time.Duration     `json:"interval"` // planned time between samples, ns
	PID      int               `json:"pid"`      // of the writer, set by Create
	Host     string            `json:"host,omitempty"`
	OS       string            `json:"os,omitempty"` // system, kernel
	CPU      string            `json:"cpu,omitempty"`
	CPUs     int               `json:"cpus,omitempty"`
	Memory   float64           `json:"memory_bytes,omitempty"`
	Command  []string          `json:"command,omitempty"`
	Facts    map[string]string `json:"facts,omitempty"` // anything else worth knowing: driver, engine, model

	Simulated bool `json:"simulated,omitempty"` // all of it; nothing in the file then depends on who made it and when
}

// Finding is what was said of a sample when it was live. It stands after its sample.
type Finding struct {
	At     time.Time       `json:"at"`
	State  string          `json:"state"`           // healthy, degraded, unknown, unmeasurable
	Cause  string          `json:"cause,omitempty"` // id of the first cause
	Line   string          `json:"line,omitempty"`  // the verdict in one line
	Detail json.RawMessage `json:"detail,omitempty"`
}

// Mark is a note an operator set at a moment.
type Mark struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Gap says that samples are missing, and why. They were never written, or were left out
// of a repaired copy: a gap is not damage.
type Gap struct {
	From    time.Time `json:"from"` // time of the first missing sample
	To      time.Time `json:"to"`   // of the last
	Dropped int       `json:"dropped"`
	Reason  string    `json:"reason"`
}

// marshal returns v as JSON without credentials.
func marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return cleanJSON(b), nil
}

// printableManifest makes what a file says safe to show.
func (m *Manifest) printable() {
	for _, s := range []*string{&m.Format, &m.Version, &m.Host, &m.OS, &m.CPU} {
		*s = printable(*s)
	}
	for i := range m.Command {
		m.Command[i] = printable(m.Command[i])
	}
	facts := make(map[string]string, len(m.Facts))
	for k, v := range m.Facts {
		facts[printable(k)] = printable(v)
	}
	if m.Facts != nil {
		m.Facts = facts
	}
}
