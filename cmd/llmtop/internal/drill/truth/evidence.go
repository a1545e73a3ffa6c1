package truth

import (
	"strings"
	"time"

	"llmtop/rules"
)

// linger is for how long a cause keeps standing, with the numbers it was named by, while its
// clauses waver; ends is for how long one does while its incident ends (package rules).
const (
	linger = 5 * time.Second
	ends   = time.Minute
)

// recalls is how far back it is looked for when something was true.
const recalls = 5 * time.Minute

// wasTrue comes behind what is not true any more.
const wasTrue = "; it was true at "

// checkCause holds the evidence of a cause against the samples. One that wavers is shown
// with the numbers of one of the last seconds: all of them must have been true at one moment.
// Numbers that were true longer ago are not true now; when they were is said.
func (c *Checker) checkCause(k int, d *rules.Diagnosis, cause *rules.Cause) {
	lies := c.causeAt(k, cause)
	if len(lies) == 0 {
		return
	}
	back, when := linger, ""
	if d.Ending() {
		back = ends
	}
	shown := c.shown
	for i := k - 1; i >= 0 && d.Time.Sub(c.past.moments[i].At) <= recalls; i-- {
		if len(c.causeAt(i, cause)) > 0 {
			continue
		}
		at := c.past.moments[i].At
		if d.Time.Sub(at) <= back {
			lies = nil
		}
		when = wasTrue + clock(at)
		break
	}
	c.shown = shown
	for _, lie := range lies {
		c.lie(d.Time, cause.ID, lie+when)
	}
}

// causeAt is what of a cause's evidence was not true at a moment.
func (c *Checker) causeAt(k int, cause *rules.Cause) (lies []string) {
	for _, list := range [][]rules.Evidence{cause.Evidence, cause.Against} {
		for i := range list {
			lies = append(lies, c.evidence(k, &list[i])...)
		}
	}
	return lies
}

func (c *Checker) evidence(k int, e *rules.Evidence) (lies []string) {
	v := view(c.past.moments[:k+1])
	hold := func(name, unit string, shown, truth float64, ok bool) {
		if c.shown++; !ok || !same(shown, truth, digit(shown, unit)) {
			lies = append(lies, mismatch(name, rules.Format(shown, unit), truth, ok, unit))
		}
	}
	for _, x := range e.Values {
		if strings.HasPrefix(x.Signal, "added(") {
			if share, ok, known := c.addedShare(k, x.Signal); known {
				hold(x.Signal, x.Unit, x.Value, share, ok)
			}
			continue
		}
		truth, ok := v.value(x.Signal)
		hold(x.Signal, x.Unit, x.Value, truth, ok)
		if x.Baseline != nil {
			if base, ok, known := c.baseline(k, x.Signal); known {
				hold(x.Signal+" before", x.Unit, *x.Baseline, base, ok)
			}
		}
	}
	says := e.Says
	if _, after, found := strings.Cut(says, "does not fit: "); found {
		says = after
	}
	for _, result := range []string{" not ruled out: ", " ruled out: "} {
		if _, after, found := strings.Cut(says, result); found {
			says = after
			break
		}
	}
	return append(lies, c.words(k, says, e.Clause)...)
}

// addedShare is the share of an added latency that some stages hold, as a clause writes it:
// added("ttft", "queue", "batch").
func (c *Checker) addedShare(k int, call string) (share float64, ok, known bool) {
	quoted := strings.Split(call, `"`)
	if len(quoted) < 5 {
		return 0, false, true
	}
	parts, known := c.addedAt(k, quoted[1])
	for i := 3; i < len(quoted); i += 2 {
		share += parts[quoted[i]].share
	}
	return share, parts != nil, known
}
