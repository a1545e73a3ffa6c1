// Package score makes a table of what is known of runs and what was made of them: how
// often the right cause is named, how soon, how often something is named where nothing
// is wrong, each with an interval, for the product and for its baselines alike. It
// reads truths and verdicts and nothing else; who ran, who judged is left to others.
package score

import (
	"slices"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// Run is one recording: what is known of it, and what was made of it by somebody who
// knew nothing. A run of which further recordings were made with sources left out is there
// once more for each, with LeftOut.
type Run struct {
	Truth   drill.Truth  `json:"truth"`
	LeftOut []string     `json:"left_out,omitempty"`
	Judged  drill.Judged `json:"judged"`
}

// Pair are two drills that look alike.
type Pair struct{ A, B string }

// What a run can be answered with besides ids of causes. States as rules.State has them.
const (
	Healthy      = "healthy"      // no alarm
	Unknown      = "unknown"      // harm, and no cause is named: "none of the rules fits", or a stage alone
	Unmeasurable = "unmeasurable" // nothing to judge by, also: nothing said yet
	degraded     = "degraded"
)

// Label is what a run is to be answered with: the first id that it expects, which stands
// for all that it expects; unknown for harm from outside the book; healthy for a control.
func Label(t *drill.Truth) string {
	switch {
	case t.Kind == drill.Outside:
		return Unknown
	case t.Kind == drill.Healthy:
		return Healthy
	case len(t.Expects) > 0:
		return t.Expects[0]
	}
	return t.Drill
}

// names reports whether the run is about naming: harm, limit or note with an id of its own.
func names(t *drill.Truth) bool { return t.Kind != drill.Outside && t.Kind != drill.Healthy }

// stretch is a verdict with the time for which it stood.
type stretch struct {
	verdict  *drill.Verdict
	from, to time.Time
}

func (s *stretch) length() time.Duration { return s.to.Sub(s.from) }

// stretches are the verdicts that stood between two times, cut there. A verdict stands until
// the next; before the first nothing was said, which is a verdict without a state.
func stretches(verdicts []drill.Verdict, from, to time.Time) []stretch {
	var all []stretch
	add := func(v *drill.Verdict, begin, end time.Time) {
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if end.After(begin) {
			all = append(all, stretch{v, begin, end})
		}
	}
	before := &drill.Verdict{}
	begin := from
	for i := range verdicts {
		add(before, begin, verdicts[i].At)
		before, begin = &verdicts[i], verdicts[i].At
	}
	add(before, begin, to)
	return all
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
