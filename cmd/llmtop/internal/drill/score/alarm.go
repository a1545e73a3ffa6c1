package score

import (
	"slices"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// apart is how long it must be quiet between two alarms for them to be two.
const apart = time.Minute

// quiet is the time of a run in which nothing is wrong: all of a control, of others the time
// before the onset.
func quiet(t *drill.Truth) (from, to time.Time) {
	if t.Kind == drill.Healthy {
		return t.From, t.To
	}
	return t.From, t.Onset
}

// alarm is what a verdict says is wrong where nothing is; "" when it says nothing of the
// kind, or what the run allows.
func alarm(t *drill.Truth, v *drill.Verdict) string {
	what := ""
	switch {
	case v.State == degraded && len(v.Causes) > 0:
		what = v.Causes[0]
	case v.State == degraded || v.State == Unknown:
		what = Unknown
	}
	if slices.Contains(t.Allows, what) {
		return ""
	}
	return what
}

// falseAlarms are the stretches of a run's quiet time in which something is said to be wrong:
// degraded or unknown for a sample or more, not what the run allows.
func falseAlarms(t *drill.Truth, verdicts []drill.Verdict) []stretch {
	from, to := quiet(t)
	return slices.DeleteFunc(stretches(verdicts, from, to), func(s stretch) bool { return alarm(t, s.verdict) == "" })
}

// episodes is how many alarms that makes: those less than a minute apart are one.
func episodes(alarms []stretch) int {
	n := 0
	for i := range alarms {
		if i == 0 || alarms[i].from.Sub(alarms[i-1].to) >= apart {
			n++
		}
	}
	return n
}

// loudest is the false alarm that stood longest; healthy when there is none.
func loudest(t *drill.Truth, verdicts []drill.Verdict) string {
	all := falseAlarms(t, verdicts)
	if len(all) == 0 {
		return Healthy
	}
	return longest(all, func(s *stretch) string { return alarm(t, s.verdict) })
}
