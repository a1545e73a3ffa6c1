package rules

import (
	"math"
	"slices"
	"strings"
)

// verdict counts how a rule's clauses came out.
type verdict struct {
	needs, unless    truth
	yes, unseen, all float64
	truths           []truth // of its needs, then of what supports it
}

func (v verdict) holds() bool { return v.needs == yes && v.unless != yes }

// weigh evaluates every clause of a rule. The verdict's truths stand in room.
func weigh(s *scene, r *Rule, room []truth) verdict {
	v := verdict{needs: yes, unless: no, truths: room[:0]}
	for _, c := range r.Needs {
		v.needs = min(v.needs, v.count(s.cond(c.root)))
	}
	for _, c := range r.Support {
		v.count(s.cond(c.root))
	}
	for _, c := range r.Unless {
		v.unless = max(v.unless, s.cond(c.root))
	}
	return v
}

func (v *verdict) count(t truth) truth {
	v.truths = append(v.truths, t)
	v.all++
	if t == yes {
		v.yes++
	} else if t == unknown {
		v.unseen++
	}
	return t
}

// name makes a cause of a rule that holds, or keeps the one of the last seconds
// while its clauses waver. The root of the episode stays, with what is to be seen of it now.
func (d *Diagnoser) name(s *scene, r *Rule, v verdict, c *ruleCase, raised map[string]bool, engine string) (Cause, bool) {
	share, matched := explained(s, r, raised)
	if matched && v.holds() && share >= explains && kindsOf(r, v) >= kinds {
		cause := d.describe(s, r, v, share, engine)
		cause.Since = c.since
		c.last, c.cause, c.share = s.at, &cause, share
		return cause, true
	}
	kept := d.episode.keeps(r)
	wavers := d.ending() || (v.unless != yes && s.at.Sub(c.last) <= linger)
	switch {
	case c.cause == nil || !(matched || kept) || !(wavers || kept):
		return Cause{}, false
	case wavers || kindsOf(r, v) < kinds:
		return *c.cause, true
	}
	cause := d.describe(s, r, v, c.share, engine)
	cause.Since = c.since
	return cause, true
}

// ending reports that some of what was slow is slow no more in the newest
// requests, though the statistics over the last seconds still are: what was named
// stays named until those have ended too.
func (d *Diagnoser) ending() bool {
	for _, w := range d.watched {
		if w.raised && !w.cool.IsZero() {
			return true
		}
	}
	return false
}

// explained is the largest share of an added latency that the rule's stages
// hold; unsplit where it cannot be split.
func explained(s *scene, r *Rule, raised map[string]bool) (share float64, matched bool) {
	for f, stages := range r.Symptom { // in any order: a maximum
		if !raised[f] {
			continue
		}
		matched = true
		sum, split := 0.0, false
		for _, a := range s.added {
			if a.Of != f {
				continue
			}
			split = true
			for _, stage := range stages {
				if stage == a.Stage || stage == "any" {
					sum += a.Share
				}
			}
		}
		if !split {
			sum = unsplit
		}
		share = math.Max(share, math.Min(sum, 1))
	}
	return share, matched
}

// kindsOf counts the independent kinds of evidence that hold; that it is slow is not evidence.
func kindsOf(r *Rule, v verdict) int {
	var room [8]string
	seen := room[:0]
	for i, t := range v.truths {
		kind := ""
		if i < len(r.Needs) {
			kind = r.Needs[i].Kind
		} else {
			kind = r.Support[i-len(r.Needs)].Kind
		}
		if t == yes && kind != "latency" && !slices.Contains(seen, kind) {
			seen = append(seen, kind)
		}
	}
	return len(seen)
}

// describe writes a cause down with its evidence.
func (d *Diagnoser) describe(s *scene, r *Rule, v verdict, share float64, engine string) Cause {
	c := Cause{ID: r.ID, Title: r.Title, Limit: r.Class == "limit",
		Evidence: []Evidence{}, Against: []Evidence{}, Unseen: []string{}, Effects: []string{}, Next: []Next{}}
	for _, clauses := range [][]RuleClause{r.Needs, r.Support} {
		for _, rc := range clauses {
			c.add(s, rc)
		}
	}
	for _, rc := range r.Unless {
		c.exclude(s, rc)
	}
	c.Score = score(v, share)
	c.Confidence = confidence(c.Score, d.base, len(c.Unseen))
	for _, step := range r.Steps {
		if step.unless != nil && s.cond(step.unless.root) == yes {
			continue
		}
		c.Next = append(c.Next, Next{Step: step.Step, Command: step.command(engine), Price: step.Price, CostClass: step.CostClass})
	}
	return c
}

// add writes down a clause that speaks for the cause, unless its words have been said.
func (c *Cause) add(s *scene, rc RuleClause) {
	e, t, why := s.evidence(rc.Clause, rc.Kind)
	switch t {
	case yes:
		if e.Says = c.unsaid(e.Says); e.Says != "" {
			c.Evidence = append(c.Evidence, e)
		}
	case no:
		e.Says = "does not fit: " + e.Says
		c.Against = append(c.Against, e)
	default:
		c.Unseen = append(c.Unseen, rc.Text+": "+why)
	}
}

// exclude writes down a look-alike.
func (c *Cause) exclude(s *scene, rc RuleClause) {
	if s.blind(rc.Clause) {
		return // a host without a GPU has no GPU look-alike
	}
	e, t, why := s.evidence(rc.Clause, rc.Kind)
	switch t {
	case unknown:
		c.Unseen = append(c.Unseen, rc.named(" not checked")+why)
	case yes:
		e.Says = rc.named(" not ruled out") + e.Says
		c.Against = append(c.Against, e)
	default:
		e.Says = rc.named(" ruled out") + e.Says
		c.Against = append(c.Against, e)
	}
}

// unsaid is a statement without the parts that earlier evidence made.
func (c *Cause) unsaid(says string) string {
	var left []string
	for part := range strings.SplitSeq(says, ", ") {
		if !c.said(bare(part)) {
			left = append(left, part)
		}
	}
	return strings.Join(left, ", ")
}

// said reports whether the evidence so far makes a statement.
func (c *Cause) said(statement string) bool {
	for i := range c.Evidence {
		for part := range strings.SplitSeq(c.Evidence[i].Says, ", ") {
			if bare(part) == statement {
				return true
			}
		}
	}
	return false
}

// bare is a statement without its limit: a number is told once.
func bare(part string) string {
	text, _, _ := strings.Cut(part, " (")
	return text
}

func (rc RuleClause) named(result string) string {
	if rc.Names == "" {
		return ""
	}
	return rc.Names + result + ": "
}

func (s Step) command(engine string) string {
	if c, ok := s.Commands[engine]; ok {
		return c
	}
	return s.Commands["any"]
}

// score is share explained × evidence satisfied, where an unseen clause counts
// half: it lowers confidence, it is not negative (rules reference §0.4).
func score(v verdict, share float64) float64 {
	if v.all == 0 {
		return 0
	}
	return math.Round(share*(v.yes+v.unseen/2)/v.all*1000) / 1000
}

func confidence(score float64, b *baseline, unseen int) string {
	switch {
	case score >= 0.75 && b.source() == fromWindow && unseen <= 2:
		return "high"
	case score >= 0.5:
		return "medium"
	}
	return "low"
}
