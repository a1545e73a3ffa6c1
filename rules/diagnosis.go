// Package rules turns a window of samples into a Diagnosis: signals (documented
// numbers computed from the window), a baseline to hold them against, the
// attribution of added latency to stages, and the rule book, whose clauses are
// text over signals. Everything is a pure function of samples; time is theirs.
package rules

import "time"

// State is the verdict in one word; it decides the exit code of diagnose.
type State string

const (
	Healthy      State = "healthy"      // measured, and no symptom
	Degraded     State = "degraded"     // a symptom, and a cause by name
	Unknown      State = "unknown"      // a symptom that no rule explains
	Unmeasurable State = "unmeasurable" // nothing to judge by (no engine, no traffic yet)
)

// Diagnosis is what one tick says. It is JSON as `llmtop diagnose --json` prints it.
type Diagnosis struct {
	Time        time.Time     `json:"time"`
	State       State         `json:"state"`
	Reason      string        `json:"reason,omitempty"` // one line: why unmeasurable, what is being waited for
	Baseline    string        `json:"baseline"`         // which source and how sure, e.g. "window 03:06:10–03:08:00 (healthy part, 41 requests)"
	Symptoms    []Symptom     `json:"symptoms"`
	Attribution []Attribution `json:"attribution"`
	Causes      []Cause       `json:"causes"` // ranked, best first, at most 3
	Risks       []Finding     `json:"risks"`  // saturation without harm yet
	Notes       []Finding     `json:"notes"`  // worth knowing, not a fault
}

// Worst is the symptom that grew most against its baseline; ok is false without one.
// One that has nothing to grow from (refused requests) is the worst only alone.
func (d *Diagnosis) Worst() (worst Symptom, ok bool) {
	for _, s := range d.Symptoms {
		if !ok || worst.From <= 0 || (s.From > 0 && s.To/s.From > worst.To/worst.From) {
			worst, ok = s, true
		}
	}
	return worst, ok
}

// Refused is the share of requests turned away, when that is a symptom.
func (d *Diagnosis) Refused() (share float64, ok bool) {
	for _, s := range d.Symptoms {
		if s.Signal == "refused.share" {
			return s.To, true
		}
	}
	return 0, false
}

// Ending reports an incident whose newest requests are fast again, while the
// statistics over the last seconds still stand; Reason says so.
func (d *Diagnosis) Ending() bool { return d.State == Degraded && d.Reason != "" }

// Symptom is a user-visible signal that left its baseline.
type Symptom struct {
	Signal string    `json:"signal"` // e.g. ttft.p95
	From   float64   `json:"from"`
	To     float64   `json:"to"`
	Unit   string    `json:"unit"`
	Since  time.Time `json:"since,omitzero"` // onset
}

// Attribution is where added latency went: one stage's part, summing to the whole.
type Attribution struct {
	Of           string  `json:"of"` // ttft, tpot or e2e
	Stage        string  `json:"stage"`
	DeltaSeconds float64 `json:"delta_seconds"` // mean per request (ttft, e2e) or per token (tpot)
	Share        float64 `json:"share"`         // of the whole increase
}

// Cause is a rule that holds.
type Cause struct {
	ID         string     `json:"id"`
	Title      string     `json:"title"`
	Score      float64    `json:"score"`      // 0–1, orders causes
	Confidence string     `json:"confidence"` // high, medium, low
	Since      time.Time  `json:"since,omitzero"`
	Evidence   []Evidence `json:"evidence"` // supporting clauses that hold, with live values
	Against    []Evidence `json:"against"`  // what was checked to rule look-alikes out, and held or did not
	Unseen     []string   `json:"unseen"`   // clauses that could not be evaluated, and why
	Effects    []string   `json:"effects"`  // ids of rules this cause explains
	Next       []Next     `json:"next"`
	Limit      bool       `json:"limit,omitempty"` // the system does what the hardware allows
}

// Evidence is one clause with the values it was evaluated on.
type Evidence struct {
	Clause string  `json:"clause"` // as written in the rule
	Says   string  `json:"says"`   // for people: "queue is 91 % of the added TTFT"
	Kind   string  `json:"kind"`   // latency, stage, engine, host, gpu, process, profile, load: independent kinds count
	Values []Value `json:"values"`
	Holds  bool    `json:"holds"`
}

// Value is a signal's number in an evaluated clause; Baseline is absent when there is none.
type Value struct {
	Signal   string   `json:"signal"`
	Value    float64  `json:"value"`
	Baseline *float64 `json:"baseline,omitempty"`
	Unit     string   `json:"unit"`
}

// Next is one thing to do, with its price.
type Next struct {
	Step      string `json:"step"`
	Command   string `json:"command,omitempty"` // for the engine at hand
	Price     string `json:"price"`
	CostClass int    `json:"cost_class"` // 1 free or cheap, 2 medium, 3 expensive
}

// Finding is a risk or a note.
type Finding struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}
