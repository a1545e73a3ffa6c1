package rules

import (
	"slices"
	"time"
)

// refuteHold is how long the look-alikes of a root must hold before it is given
// up: a signal that crosses its threshold once refutes nothing [proposal].
const refuteHold = 4 * time.Second

// episode is one incident: from the first symptom until none stands. Its root is
// the cause that was on top first. It is not displaced by what it brings about or by
// what came later: a queue that long prefills filled may outgrow them in every
// number. It goes when its own look-alikes hold, or when suppress finds a cause
// that brings it about and was there as early.
type episode struct {
	root    *Rule
	refuted time.Time // since when the root's look-alikes hold
}

// keeps reports whether the rule is the root and stands.
func (e *episode) keeps(r *Rule) bool { return e.root == r }

// observe gives the root up when it has been refuted for long enough.
func (e *episode) observe(r *Rule, v verdict, at time.Time) {
	switch {
	case !e.keeps(r):
	case v.unless != yes:
		e.refuted = time.Time{}
	case e.refuted.IsZero():
		e.refuted = at
	case at.Sub(e.refuted) >= refuteHold:
		*e = episode{}
	}
}

// order puts the root on top and what it brings about under its effects. The
// first cause of an episode, and one that displaced the root, becomes the root.
func (e *episode) order(causes []Cause, rules []*Rule) []Cause {
	if len(causes) == 0 {
		return causes
	}
	top := max(0, slices.IndexFunc(causes, func(c Cause) bool { return e.root != nil && c.ID == e.root.ID }))
	root := causes[top]
	if e.root == nil || e.root.ID != root.ID {
		i := slices.IndexFunc(rules, func(r *Rule) bool { return r.ID == root.ID })
		*e = episode{root: rules[i]}
	}
	out := []Cause{root}
	for _, c := range slices.Delete(slices.Clone(causes), top, top+1) {
		if !slices.Contains(e.root.Effects, c.ID) {
			out = append(out, c)
			continue
		}
		for _, id := range append([]string{c.ID}, c.Effects...) {
			if id != root.ID && !slices.Contains(out[0].Effects, id) {
				out[0].Effects = append(out[0].Effects, id)
			}
		}
	}
	return out[:min(len(out), maxNamed)]
}
