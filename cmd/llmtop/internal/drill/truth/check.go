package truth

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// Checker holds numbers that are shown against the samples. It is shown every sample with
// what was said of it, and asked when it is to check. It holds the samples of 15 minutes.
type Checker struct {
	past  *past
	ills  []stretch // incidents so far
	seen  map[symptomKey]float64
	usual *usual // the last one asked for
	shown int
	lies  []string
}

// symptomKey names a symptom from its onset to its end.
type symptomKey struct {
	signal string
	since  time.Time
}

// New returns a Checker that has seen nothing.
func New() *Checker { return &Checker{past: newPast(), seen: map[symptomKey]float64{}} }

// Observe takes a sample in and the diagnosis that was made of it.
func (c *Checker) Observe(s *probes.Sample, d *rules.Diagnosis) {
	trimmed := c.past.trimmed
	m := c.past.add(s)
	if !c.past.trimmed.Equal(trimmed) {
		c.usual = nil // its ticks have other numbers now
	}
	for _, x := range d.Symptoms {
		if m.said.began.IsZero() || x.Since.Before(m.said.began) {
			m.said.began = x.Since
		}
	}
	m.said.baseline = d.Baseline
	c.noteIll(m)
	c.noteSymptoms(d)
}

// noteIll keeps when there was an incident: ticks of one are no part of what is usual.
func (c *Checker) noteIll(m *moment) {
	if m.said.began.IsZero() {
		return
	}
	n := len(c.past.moments)
	if n > 1 && !c.past.moments[n-2].said.began.IsZero() && len(c.ills) > 0 {
		c.ills[len(c.ills)-1].to = m.At
		return
	}
	c.ills = append(c.ills, stretch{m.said.began.Add(-onsetLag), m.At})
	c.ills = slices.DeleteFunc(c.ills, func(s stretch) bool { return m.At.Sub(s.to) > keep })
}

// noteSymptoms keeps what each symptom was held against when it was raised: the baseline of
// the sample before.
func (c *Checker) noteSymptoms(d *rules.Diagnosis) {
	stand := map[symptomKey]float64{}
	for _, x := range d.Symptoms {
		key := symptomKey{x.Signal, x.Since}
		from, known := c.seen[key]
		if !known {
			from = c.heldAgainst(x.Signal)
		}
		stand[key] = from
	}
	c.seen = stand
}

// Thresholds of service that stand in for a baseline (package rules, symptom), seconds.
var floors = map[string]float64{"ttft.p95": 2, "ttft.mean": 2, "tpot.p50": 0.1, "tpot.mean": 0.1}

// heldAgainst is a signal's baseline at the sample before the newest, NaN where it is not to be had.
func (c *Checker) heldAgainst(signal string) float64 {
	if signal == "refused.share" {
		return 0
	}
	k := max(0, len(c.past.moments)-2)
	from, ok, known := c.baseline(k, signal)
	switch u := c.usualAt(k); {
	case !known:
		return math.NaN()
	case ok:
		return from
	case !u.window && !u.life:
		return floors[signal]
	}
	return math.NaN()
}

// Check holds everything that a diagnosis of the newest sample shows against the samples. It
// returns how many numbers it looked at, and of them those that are not true, in words.
func (c *Checker) Check(d *rules.Diagnosis) (shown int, untrue []string) {
	c.shown, c.lies = 0, nil
	k := len(c.past.moments) - 1
	if k < 0 || !c.past.moments[k].At.Equal(d.Time) {
		return 1, []string{"no sample of " + clock(d.Time)}
	}
	c.checkBaseline(k, d)
	c.checkSymptoms(k, d)
	c.checkAttribution(k, d)
	for i := range d.Causes {
		c.checkCause(k, d, &d.Causes[i])
	}
	for _, f := range slices.Concat(d.Risks, d.Notes) {
		if _, says, found := strings.Cut(f.Text, ": "); found && f.ID != silentEngines {
			for _, lie := range c.words(k, says, "") {
				c.lie(d.Time, f.ID, lie)
			}
		}
	}
	return c.shown, c.lies
}

// silentEngines is a note made of what a probe says; its numbers are no signals.
const silentEngines = "engine-silent"

// Check is Checker.Check for who has all samples at hand, the newest last, and one diagnosis.
// What was said at the samples before is not known to it: they count as healthy where no
// standing symptom says otherwise, and what a symptom was held against when it was raised is
// not looked at.
func Check(window []*probes.Sample, d *rules.Diagnosis) (shown int, untrue []string) {
	c := New()
	for _, s := range window {
		said := &rules.Diagnosis{Time: s.At, Baseline: d.Baseline}
		for _, x := range d.Symptoms {
			if !s.At.Before(x.Since) {
				said.Symptoms = append(said.Symptoms, x)
			}
		}
		c.Observe(s, said)
	}
	for key := range c.seen {
		c.seen[key] = math.NaN()
	}
	return c.Check(d)
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05") }

func (c *Checker) lie(at time.Time, of, what string) {
	c.lies = append(c.lies, clock(at)+" "+of+": "+what)
}

// number holds one number against what the samples say.
func (c *Checker) number(d *rules.Diagnosis, of, name string, shown, truth float64, ok bool, unit string) {
	c.shown++
	if !ok || !same(shown, truth, digit(shown, unit)) {
		c.lie(d.Time, of, mismatch(name, rules.Format(shown, unit), truth, ok, unit))
	}
}

func mismatch(name, shown string, truth float64, ok bool, unit string) string {
	if !ok {
		return fmt.Sprintf("%s %s, the samples do not tell it", name, shown)
	}
	return fmt.Sprintf("%s %s, the samples say %s", name, shown, rules.Format(truth, unit))
}

// same allows for 1 %, or a tenth of the digit that would be displayed.
func same(shown, truth, digit float64) bool {
	return math.Abs(shown-truth) <= math.Max(tolerance*math.Abs(truth), digit/10)
}

func (c *Checker) checkBaseline(k int, d *rules.Diagnosis) {
	if u := c.usualAt(k); (u.window || u.life) && !u.unknown {
		c.number(d, "baseline", "requests", u.told, u.count, true, "count")
	}
}

func (c *Checker) checkSymptoms(k int, d *rules.Diagnosis) {
	for _, x := range d.Symptoms {
		from := c.seen[symptomKey{x.Signal, x.Since}]
		if !math.IsNaN(from) {
			c.number(d, "symptom", x.Signal+" from", x.From, from, true, x.Unit)
		}
		to, ok := view(c.past.moments[:k+1]).value(x.Signal)
		if !ok {
			to = from // what is not told now is shown as it was
		}
		if !math.IsNaN(to) {
			c.number(d, "symptom", x.Signal+" to", x.To, to, true, x.Unit)
		}
	}
}

func (c *Checker) checkAttribution(k int, d *rules.Diagnosis) {
	for _, a := range d.Attribution {
		parts, known := c.addedAt(k, a.Of)
		if !known {
			continue
		}
		is, ok := parts[a.Stage]
		c.number(d, "added "+a.Of, a.Stage, a.DeltaSeconds, is.seconds, ok, "s")
		c.number(d, "added "+a.Of, a.Stage+" share", a.Share, is.share, ok, "ratio")
	}
}

// addedAt splits what was added to a latency at a moment; known is false where what it was
// before is not held any more.
func (c *Checker) addedAt(k int, of string) (parts map[string]added, known bool) {
	u := c.usualAt(k)
	if u.unknown {
		return nil, false
	}
	now := view(c.past.moments[:k+1]).measure().parts
	switch of {
	case "ttft":
		return addedTo(now.ttft, u.parts.ttft), true
	case "tpot":
		return addedTo(now.tpot, u.parts.tpot), true
	}
	return addedTo(now.e2e, u.parts.e2e), true
}
