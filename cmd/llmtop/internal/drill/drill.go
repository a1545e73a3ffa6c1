// Package drill makes incidents on demand whose cause is known, and scores what the
// diagnosis makes of them. A drill is text: a fault, how strong it is to be, what it must
// be called, and what proves that it happened. It is run on the twin in virtual time or on
// the real engine on this machine, and leaves a recording. What the truth is stays here:
// whoever diagnoses reads the recording alone.
package drill

import (
	"slices"
	"time"
)

// Kind is what a drill is of.
type Kind string

const (
	Fault    Kind = "fault"    // one cause of the book, which must stand first
	Limit    Kind = "limit"    // the system does what the hardware allows, and is to be told so
	Note     Kind = "note"     // no fault, said as a note or a risk: it must not be called a fault
	Compound Kind = "compound" // two faults: the root must stand first
	Outside  Kind = "outside"  // harm whose cause no rule knows: unknown is right
	Healthy  Kind = "healthy"  // a control: any verdict but healthy is a false alarm
)

// Severity is how much the main symptom is to grow.
type Severity string

const (
	Mild   Severity = "mild"   // 1.3 to 1.6 times
	Medium Severity = "medium" // to 3 times
	Severe Severity = "severe" // more
)

// Severities are all, the least first.
var Severities = []Severity{Mild, Medium, Severe}

// Band is what the ratio of the main symptom must lie in: Low included, High not.
func (s Severity) Band() (low, high float64) {
	switch s {
	case Mild:
		return 1.3, 1.6
	case Medium:
		return 1.6, 3
	}
	return 3, 1e9
}

// Drill is one file.
type Drill struct {
	ID      string   `yaml:"-"` // the file's name: the id of the cause, or that and "_" and a word where there are several
	Story   string   `yaml:"story"`
	Kind    Kind     `yaml:"kind"`    // fault when absent
	Expects []string `yaml:"expects"` // the causes any of which is right; the file's id when absent. Of a compound the root
	Effects []string `yaml:"effects"` // causes that may stand after it without being wrong
	Allows  []string `yaml:"allows"`  // of a control: verdicts that are true at times and no false alarm
	Symptom string   `yaml:"symptom"` // what users feel most: a Symptoms name
	SeenBy  []string `yaml:"seen_by"` // sources (gpu, host, stages, profile) each of which the cause cannot be seen without: there the stage, and what to enable, is right
	Stage   string   `yaml:"stage"`   // that stage
	Twin    *OnTwin  `yaml:"twin"`
	CPU     *OnCPU   `yaml:"cpu"`
}

// Symptoms are the measures of harm, all from what clients or the engine's own stamps tell,
// never from the diagnosis. The quantile is of the requests that end in the stretch.
var Symptoms = []string{
	"ttft.p50", "ttft.p95", "tpot.p50", "tpot.p95", "e2e.p50", "e2e.p95", // the engine's stamps, seconds
	"itl.p95",                   // longest gap between two tokens of a request
	"client.ttft", "client.e2e", // means, as the clients saw it
	"failed", // 1 + 20 × share of requests that failed or were refused
}

// OnTwin is how a drill is run on the twin. Texts are statements of scenarios, in which {x}
// is the strength; see package engine/twin.
type OnTwin struct {
	Needs    []string  `yaml:"needs"`    // tags a world must have
	Worlds   []string  `yaml:"worlds"`   // or these worlds alone
	Workload string    `yaml:"workload"` // in place of the world's: "rag adapters=64", without its rate
	Load     float64   `yaml:"load"`     // in place of the world's: of what the deployment can serve
	Lines    []string  `yaml:"lines"`    // more statements; "engine a=b" adds to the world's engine
	Turns    []string  `yaml:"turns"`    // what happens, "KNOB VALUE" at the onset or "+20s KNOB VALUE" after it; "gpu0 KNOB VALUE" for one
	Dial     *Dial     `yaml:"dial"`
	Lasts    Duration  `yaml:"lasts"`   // from the onset to the end; 100s when 0; of a control the whole run
	Confirm  []Confirm `yaml:"confirm"` // what must have moved, or the run does not count
	Skip     string    `yaml:"skip"`    // why it cannot be run there
}

// OnCPU is how a drill is run on the real engine.
type OnCPU struct {
	Symptom string            `yaml:"symptom"` // in place of the drill's: a small engine may be hurt elsewhere
	Inject  string            `yaml:"inject"`  // name of the injector
	With    map[string]string `yaml:"with"`    // its settings, in which {x} is the strength
	Serve   []string          `yaml:"serve"`   // flags of serve
	Load    []string          `yaml:"load"`    // flags of load, in place of the usual
	Dial    *Dial             `yaml:"dial"`
	Lasts   Duration          `yaml:"lasts"` // 60s when 0
	Confirm []Confirm         `yaml:"confirm"`
	Skip    string            `yaml:"skip"`
}

// Dial is the strength of a fault. Start values are tried first; when the symptom does not
// come to lie in its band, others between From and To are.
type Dial struct {
	From   float64 `yaml:"from"` // no harm
	To     float64 `yaml:"to"`   // the most
	Mild   float64 `yaml:"mild"`
	Medium float64 `yaml:"medium"`
	Severe float64 `yaml:"severe"`
	Whole  bool    `yaml:"whole"` // only whole numbers make sense
	Fixed  bool    `yaml:"fixed"` // it is on or off: no other values are tried
}

// Start is the strength to begin with; 0 means that the drill cannot be that severe. What has no
// dial is severe, and has no strength but that it is there.
func (d *Dial) Start(s Severity) float64 {
	if d == nil {
		d = &Dial{Severe: 1}
	}
	switch s {
	case Mild:
		return d.Mild
	case Medium:
		return d.Medium
	}
	return d.Severe
}

// Severities are those that the drill can have: all that its dial names, the severe one
// without a dial.
func (d *Dial) Severities() []Severity {
	return slices.DeleteFunc(slices.Clone(Severities), func(s Severity) bool { return d.Start(s) == 0 })
}

// Confirm is a movement of a signal of the table that proves the injection: its median from
// the onset's settling to the end, against that before the onset.
type Confirm struct {
	Signal string  `yaml:"signal"`
	Rises  float64 `yaml:"rises"` // at least so many times what it was
	Falls  float64 `yaml:"falls"` // at most so many times
	Least  float64 `yaml:"least"` // at least this
	Most   float64 `yaml:"most"`  // at most this
	Ever   bool    `yaml:"ever"`  // once is enough: the largest (rises, least) or smallest value counts, not the median
}

// World is a deployment under load on which drills are run.
type World struct {
	Name     string   `yaml:"name"`
	Suite    string   `yaml:"suite"` // train or test: no hardware with the same model, no seed, no load shape is in both
	Tags     []string `yaml:"tags"`  // what drills may need: multi-gpu, replicas, disaggregated, hopper, nvlink, pcie, speculative …
	Lines    []string `yaml:"lines"` // statements of a scenario but for the workload
	Workload string   `yaml:"workload"`
	Load     float64  `yaml:"load"`
}

// Instance is one run that is planned.
type Instance struct {
	Drill    *Drill
	World    *World // nil on the real engine
	Engine   string // twin or cpu
	Severity Severity
	Seed     uint64
}

// Truth is what is known of a run. It is never written into the recording.
type Truth struct {
	Drill       string         `json:"drill"`
	Kind        Kind           `json:"kind"`
	Engine      string         `json:"engine"`
	World       string         `json:"world,omitempty"`
	Personality string         `json:"personality,omitempty"`
	Severity    Severity       `json:"severity,omitempty"`
	Seed        uint64         `json:"seed"`
	Missing     []string       `json:"missing,omitempty"` // sources that were left out of the recording
	Expects     []string       `json:"expects,omitempty"`
	Effects     []string       `json:"effects,omitempty"`
	Allows      []string       `json:"allows,omitempty"`
	SeenBy      []string       `json:"seen_by,omitempty"`
	Stage       string         `json:"stage,omitempty"`
	Onset       time.Time      `json:"onset,omitzero"` // of the fault
	From        time.Time      `json:"from"`
	To          time.Time      `json:"to"`
	Symptom     string         `json:"symptom,omitempty"`
	Before      float64        `json:"before,omitempty"`
	During      float64        `json:"during,omitempty"`
	Ratio       float64        `json:"ratio,omitempty"`
	Strength    float64        `json:"strength,omitempty"`
	Tries       int            `json:"tries,omitempty"` // runs until the symptom lay in its band
	Confirmed   []Confirmation `json:"confirmed,omitempty"`
	Discard     string         `json:"discard,omitempty"` // why the run does not count; empty: it does
}

// Confirmation is a Confirm with what was seen.
type Confirmation struct {
	Signal string  `json:"signal"`
	Before float64 `json:"before,omitempty"`
	During float64 `json:"during,omitempty"`
	Holds  bool    `json:"holds"`
	Unseen bool    `json:"unseen,omitempty"` // no engine or host of this run tells of it
}

// Counts reports whether the run passed the validity gate.
func (t *Truth) Counts() bool { return t.Discard == "" }

// Duration is a time in YAML as people write it: 90s.
type Duration time.Duration
