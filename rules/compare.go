package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Comparison holds one stretch of time, After, against another, Before. It is JSON as
// `llmtop compare --json` prints it. Which of the two was earlier does not matter.
type Comparison struct {
	Before Side `json:"before"`
	After  Side `json:"after"`
	// Added is how the mean latencies moved, and which stages hold the difference.
	Added []Added `json:"added"`
	// Changes are the signals seen in either stretch: those that moved first, the one
	// that moved most for its noise on top; then the others in the table's order.
	Changes []Change `json:"changes"`
	Unseen  int      `json:"unseen"` // signals of the table seen in neither
}

// Side says what was compared.
type Side struct {
	Name     string         `json:"name"` // the caller's
	From     time.Time      `json:"from"` // of the first sample
	To       time.Time      `json:"to"`   // of the last
	Samples  int            `json:"samples"`
	Requests float64        `json:"requests"` // that ended in it, as far as their stages are known
	Verdicts []VerdictShare `json:"verdicts"` // the one that stood longest first
}

// VerdictShare is a verdict, its first cause, and the share of samples it stood for.
type VerdictShare struct {
	State State   `json:"state"`
	Cause string  `json:"cause,omitempty"`
	Share float64 `json:"share"`
}

// Added is how much a mean latency differs: seconds per request (ttft, e2e) or per token
// (tpot), negative when it fell. The shares of the parts add up to 1.
type Added struct {
	Of           string        `json:"of"`
	DeltaSeconds float64       `json:"delta_seconds"`
	Parts        []Attribution `json:"parts"`
}

// Change is a signal in both stretches: the median of its values at the samples of each.
// Absent is what was not seen.
type Change struct {
	Signal     string   `json:"signal"`
	Unit       string   `json:"unit"`
	Before     *float64 `json:"before,omitempty"`
	After      *float64 `json:"after,omitempty"`
	Difference *float64 `json:"difference,omitempty"`
	Ratio      *float64 `json:"ratio,omitempty"` // After / Before, where both are more than 0
	Noise      float64  `json:"noise"`           // what it swings by in the quieter stretch, and at least its Step
	Moved      bool     `json:"moved"`
}

// movedBy is how many times its noise a signal must differ by to count as moved: of two
// stretches of the same traffic one signal in some hundred would [proposal].
const movedBy = 3

// least is how many values tell how much a signal swings.
const leastValues = 5

// Compare holds after against before.
func Compare(before, after *Stretch) Comparison {
	c := Comparison{Before: before.side(), After: after.side(), Changes: []Change{}}
	for i := range table {
		change, seen := changeOf(i, before.values[i].kept, after.values[i].kept)
		if !seen {
			c.Unseen++
			continue
		}
		c.Changes = append(c.Changes, change)
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(b.rank(), a.rank()) })
	c.Added = slices.DeleteFunc(addedBetween(before.parts, after.parts), func(a Added) bool { return !c.anyMoved(a.Of) })
	return c
}

// anyMoved reports whether a signal of the family moved: a mean that differs by no more
// than its noise is not worth splitting.
func (c *Comparison) anyMoved(family string) bool {
	return slices.ContainsFunc(c.Changes[:c.Moved()], func(x Change) bool { return strings.HasPrefix(x.Signal, family+".") })
}

// rank orders changes: by times their noise; those seen on one side only after them;
// those that did not move last.
func (c *Change) rank() float64 {
	switch {
	case !c.Moved:
		return -2
	case c.Difference == nil:
		return -1
	}
	return math.Abs(*c.Difference) / c.Noise
}

// Moved is how many of the changes are more than noise; they come first.
func (c *Comparison) Moved() int {
	n := slices.IndexFunc(c.Changes, func(x Change) bool { return !x.Moved })
	if n < 0 {
		return len(c.Changes)
	}
	return n
}

func changeOf(sig int, before, after []float64) (Change, bool) {
	c := Change{Signal: table[sig].Name, Unit: table[sig].Unit, Noise: table[sig].Step}
	b, a := ordered(before), ordered(after)
	if v, ok := b.quantile(0.5).Get(); ok {
		c.Before = &v
	}
	if v, ok := a.quantile(0.5).Get(); ok {
		c.After = &v
	}
	switch {
	case c.Before == nil && c.After == nil:
		return c, false
	case c.Before == nil || c.After == nil:
		c.Moved = len(b)+len(a) >= leastValues
		return c, true
	}
	difference := *c.After - *c.Before
	c.Difference = &difference
	if *c.Before > 0 && *c.After > 0 {
		ratio := *c.After / *c.Before
		c.Ratio = &ratio
	}
	c.Noise = math.Max(c.Noise, math.Min(swing(b), swing(a)))
	step := table[sig].Step
	c.Moved = math.Abs(difference) >= math.Max(step, movedBy*math.Min(swing(b), swing(a))) && difference != 0
	if c.Noise <= 0 {
		c.Noise = math.Abs(difference) / movedBy // nothing to measure it by
	}
	return c, true
}

func ordered(values []float64) sorted {
	s := sorted(slices.Clone(values))
	slices.Sort(s)
	return s
}

// swing is half of the range that the middle two thirds of the values lie in: the standard
// deviation, were they normal. With too few values it is not known: 0.
func swing(s sorted) float64 {
	if len(s) < leastValues {
		return 0
	}
	return (s.quantile(0.84).Or(0) - s.quantile(0.16).Or(0)) / 2
}

// side is what the stretch was.
func (s *Stretch) side() Side {
	out := Side{From: s.from, To: s.to, Samples: s.samples, Requests: s.requests, Verdicts: slices.Clone(s.verdicts)}
	if out.Verdicts == nil {
		out.Verdicts = []VerdictShare{}
	}
	total := 0.0
	for _, v := range out.Verdicts {
		total += v.Share
	}
	for i := range out.Verdicts {
		out.Verdicts[i].Share /= total
	}
	slices.SortStableFunc(out.Verdicts, func(a, b VerdictShare) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// addedBetween splits the differences of the mean latencies by stage; one that fell is
// split the other way round, so that each part says which way it went. Less than half a
// step of the signal is no difference.
func addedBetween(before, after stageMeans) []Added {
	out := []Added{}
	for _, f := range []struct {
		of            string
		before, after parts
	}{{"ttft", before.ttft, after.ttft}, {"tpot", before.tpot, after.tpot}, {"e2e", before.e2e, after.e2e}} {
		if f.before.n <= 0 || f.after.n <= 0 {
			continue
		}
		sign, rise := 1.0, attribute(f.of, f.after, f.before)
		if rise == nil {
			sign, rise = -1, attribute(f.of, f.before, f.after)
		}
		a := Added{Of: f.of, Parts: rise}
		for i := range a.Parts {
			a.Parts[i].DeltaSeconds *= sign
			a.DeltaSeconds += a.Parts[i].DeltaSeconds
		}
		if row, _ := Lookup(f.of + ".mean"); math.Abs(a.DeltaSeconds) >= row.Step/2 && len(a.Parts) > 0 {
			out = append(out, a)
		}
	}
	return out
}
