package score

import (
	"slices"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// answerTime is the end of a fault in which its answer is taken: somebody who looks then
// has seen the fault for long enough.
const answerTime = 30 * time.Second

// asFault is added to the id of a note that was named as the cause of harm.
const asFault = " (as a fault)"

// said is what a verdict answers a run with: the first cause, any that the run expects as
// its label; or a state. Of a note it is the label when the note stands there and no cause
// is named. Where the cause cannot be seen for lack of a source, the right stage with that
// source to enable is the label, too.
func said(t *drill.Truth, v *drill.Verdict) string {
	switch {
	case v.State == degraded && len(v.Causes) > 0:
		return named(t, v.Causes[0])
	case t.Kind == drill.Note && meet(v.Says, t.Expects):
		return Label(t)
	case v.State == degraded || v.State == Unknown:
		if rightStage(t, v) {
			return Label(t)
		}
		return Unknown
	case v.State == "":
		return Unmeasurable
	}
	return v.State
}

// named is the answer that a named cause is.
func named(t *drill.Truth, cause string) string {
	switch {
	case !names(t) || !slices.Contains(t.Expects, cause):
		return cause
	case t.Kind == drill.Note:
		return cause + asFault
	}
	return Label(t)
}

// hidden are the missing sources without which the cause cannot be seen.
func hidden(t *drill.Truth) []string {
	return slices.DeleteFunc(slices.Clone(t.SeenBy), func(s string) bool { return !slices.Contains(t.Missing, s) })
}

// rightStage reports that the cause cannot be seen, that the verdict has the stage it is in,
// and that it says of all sources that would show it that they are missing.
func rightStage(t *drill.Truth, v *drill.Verdict) bool {
	lacking := hidden(t)
	return len(lacking) > 0 && t.Stage != "" && v.Stage == t.Stage &&
		!slices.ContainsFunc(lacking, func(s string) bool { return !slices.Contains(v.Lacks, s) })
}

// answerFrom is when the time begins in which the answer is taken.
func answerFrom(t *drill.Truth) time.Time {
	if from := t.To.Add(-answerTime); from.After(t.Onset) {
		return from
	}
	return t.Onset
}

// Answer is what a judge makes of a run: of what it said in the last 30 s of the fault that
// which stood longest; of two that stood equally long the later. A control is answered with
// healthy when it has no false alarm, else with the false alarm that stood longest.
func Answer(t *drill.Truth, verdicts []drill.Verdict) string {
	if t.Kind == drill.Healthy {
		return loudest(t, verdicts)
	}
	return longest(stretches(verdicts, answerFrom(t), t.To), func(s *stretch) string { return said(t, s.verdict) })
}

// longest is what stood longest in all; of equals that which began last.
func longest(all []stretch, of func(*stretch) string) string {
	times := map[string]time.Duration{}
	for i := range all {
		times[of(&all[i])] += all[i].length()
	}
	best := ""
	for i := len(all) - 1; i >= 0; i-- {
		if what := of(&all[i]); best == "" || times[what] > times[best] {
			best = what
		}
	}
	if best == "" {
		return Unmeasurable
	}
	return best
}

// amongThree reports whether one of the ids that the run expects was among the causes named,
// three at most, for more than half of the time in which the answer is taken.
func amongThree(t *drill.Truth, verdicts []drill.Verdict) bool {
	var among, all time.Duration
	window := stretches(verdicts, answerFrom(t), t.To)
	for i := range window {
		s := &window[i]
		all += s.length()
		causes := s.verdict.Causes
		isNamed := t.Kind != drill.Note && s.verdict.State == degraded && meet(causes[:min(3, len(causes))], t.Expects)
		if isNamed || said(t, s.verdict) == Label(t) {
			among += s.length()
		}
	}
	return 2*among > all
}
