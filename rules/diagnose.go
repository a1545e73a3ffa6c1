package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"llmtop/probes"
)

const (
	explains = 0.8 // share of the added latency a cause must explain to be named (rules reference §0.2)
	kinds    = 2   // independent kinds of evidence a name needs (§0.3)
	linger   = 5 * time.Second
	together = 5 * time.Second // onsets this close count as one [proposal]
	idle     = 30 * time.Second
	maxNamed = 3
	unsplit  = 0.8 // what a cause is taken to explain when the latency cannot be split
)

// ruleCase is what the fold knows of one rule.
type ruleCase struct {
	since time.Time // since when all its needs hold
	last  time.Time // when they last held
	cause *Cause    // as named then
	share float64   // of the added latency that it explained then

	truths []truth // room for those of its clauses at a tick
}

// diagnose judges one tick.
func (d *Diagnoser) diagnose(n *now, signals, base Signals) Diagnosis {
	out := Diagnosis{Time: n.at, Baseline: d.base.text(n.at), Symptoms: symptoms(d.watched, signals),
		Attribution: []Attribution{}, Causes: []Cause{}, Risks: []Finding{}, Notes: []Finding{}}
	raised := map[string]bool{}
	for _, w := range d.watched {
		raised[w.family] = raised[w.family] || w.raised
	}
	s := &scene{at: n.at, now: signals, buckets: n.buckets, base: base.at, past: d.past, onset: d.onset, held: d.held}
	split := maps.Clone(raised)
	split["ttft"] = split["ttft"] || raised[refusedFamily] // who is refused would have waited
	out.Attribution, s.coarse = attributions(split, n.stages, d.base.stages())
	s.added = out.Attribution
	if len(out.Symptoms) == 0 {
		d.episode = episode{}
	}
	out.Causes = d.episode.order(suppress(d.evaluate(s, raised, &out)), d.book.Rules)
	if len(out.Causes) > 0 {
		out.Notes = []Finding{} // what explains nothing is noise beside a cause
	}
	if note, ok := n.silent(); ok {
		out.Notes = append([]Finding{note}, out.Notes...)
	}
	d.state(n, signals, &out)
	return out
}

// evaluate goes through the book: every clause of every rule at every tick.
func (d *Diagnoser) evaluate(s *scene, raised map[string]bool, out *Diagnosis) []candidate {
	engine := engineName(d.window.Last())
	var found []candidate
	for i, r := range d.book.Rules {
		c := &d.cases[i]
		v := weigh(s, r, c.truths)
		c.truths = v.truths
		d.episode.observe(r, v, s.at)
		if v.needs == yes {
			if c.since.IsZero() {
				c.since = s.at
			}
		} else if s.at.Sub(c.last) > linger && !d.ending() && !d.episode.keeps(r) {
			c.since, c.cause = time.Time{}, nil
		}
		switch {
		case r.Class == "risk" && v.holds() && len(out.Symptoms) == 0:
			out.Risks = append(out.Risks, d.finding(s, r))
		case r.Class == "note" && v.holds():
			out.Notes = append(out.Notes, d.finding(s, r))
		case r.Class != "cause" && r.Class != "limit":
		default:
			if cause, ok := d.name(s, r, v, c, raised, engine); ok {
				found = append(found, candidate{cause: cause, rule: r, named: true})
			} else if v.needs == yes && matches(r, raised) {
				found = append(found, candidate{cause: Cause{ID: r.ID, Since: c.since}, rule: r})
			}
		}
	}
	return found
}

// finding is a risk or note with the numbers behind it.
func (d *Diagnoser) finding(s *scene, r *Rule) Finding {
	var said []string
	for _, c := range r.Needs {
		e, _, _ := s.evidence(c.Clause, c.Kind)
		said = append(said, e.Says)
	}
	return Finding{ID: r.ID, Text: r.Title + ": " + strings.Join(said, ", ")}
}

// state puts the tick in one word.
func (d *Diagnoser) state(n *now, signals Signals, out *Diagnosis) {
	stuck := n.stuck()
	switch {
	case d.sawIt && !n.alive():
		out.State, out.Reason = Unmeasurable, "the engine no longer answers"+n.trouble()
	case len(out.Causes) > 0:
		if out.State = Degraded; d.ending() {
			out.Reason = "ending: the newest requests are fast again"
		}
	case len(out.Symptoms) > 0:
		out.State, out.Reason = Unknown, unattributed(out)
	case stuck != "":
		out.State, out.Reason = Unknown, stuck
	case !d.sawIt:
		out.State, out.Reason = Unmeasurable, "no engine answered"+n.trouble()
	case d.traffic.IsZero():
		out.State, out.Reason = Unmeasurable, "no requests yet"
	case n.at.Sub(d.traffic) > idle:
		out.State, out.Reason = Unmeasurable, fmt.Sprintf("no requests for %s", n.at.Sub(d.traffic).Round(time.Second))
	case d.base.source() == fromSLO && !(d.base.seenEnough() && withinSLO(signals)):
		out.State, out.Reason = Unmeasurable, d.base.gathering(n.at)
		if out.Reason == "" {
			out.Reason = n.untold()
		}
	default:
		out.State, out.Reason = Healthy, brewing(d.watched, n.at, signals, d.base)
	}
}

// untold is why there is no latency to judge by although there is traffic.
func (n *now) untold() string {
	for _, e := range n.point.Engines {
		if e.TTFT != nil || e.E2E != nil {
			return "no requests have finished yet"
		}
	}
	if n.exact {
		return "no requests have finished yet"
	}
	return "this engine tells neither TTFT nor E2E: there is nothing to judge by"
}

// mostlyWaiting reports a TTFT that users feel (a quarter of the floor) and that is
// mostly queue: whatever the cause, nobody should take it for usual.
func (n *now) mostlyWaiting(s Signals) bool {
	ttft, ok := s.Get("ttft.p50").Get()
	queue := n.stages.ttft.mean(int(probes.StageQueue)).Or(0)
	return ok && ttft >= sloTTFT/4 && queue >= waitedShare*n.stages.ttft.total/n.stages.ttft.n
}

// withinSLO reports latencies that users bear: without a history that is all there
// is to say.
func withinSLO(s Signals) bool {
	ttft, ok := s.Get("ttft.p95").Get()
	if !ok { // an engine that tells means alone
		ttft, ok = s.Get("ttft.mean").Get()
	}
	return ok && ttft <= sloTTFT && s.Get("tpot.p50").Or(s.Get("tpot.mean").Or(0)) <= sloTPOT
}

// trouble is what the probe of the engine's metrics says went wrong, after a colon.
func (n *now) trouble() string {
	for _, p := range n.point.Probes {
		if p.Err != "" && strings.HasPrefix(p.Name, "scrape") {
			return ": " + p.Err
		}
	}
	return ""
}

// unattributed says what is slow and where the time goes, when no rule fits.
func unattributed(out *Diagnosis) string {
	s := out.Symptoms[0]
	title, of := s.Signal, strings.SplitN(s.Signal, ".", 2)[0]
	if row, ok := Lookup(s.Signal); ok {
		title = row.Title
	}
	text := fmt.Sprintf("unattributed slowdown: %s %s", title, change(s.From, s.To, s.Unit))
	for _, a := range out.Attribution {
		if a.Of == of && a.Share >= 0.5 {
			text = fmt.Sprintf("unattributed %s slowdown: %s %s, %s of the added %s", a.Stage, title, change(s.From, s.To, s.Unit),
				Format(a.Share, "ratio"), strings.ToUpper(a.Of))
			break
		}
	}
	return text + "; no rule fits"
}

// engineName is the dialect that commands are written in: an engine that tells
// of each request, those in flight included, is our own.
func engineName(p *probes.Point) string {
	if p != nil && slices.ContainsFunc(p.Requests, func(r *probes.Requests) bool { return !r.FinishedOnly }) {
		return "llmtop"
	}
	if p != nil && len(p.Engines) > 0 {
		return p.Engines[0].Dialect
	}
	return ""
}
