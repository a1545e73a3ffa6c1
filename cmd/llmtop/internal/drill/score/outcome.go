package score

import (
	"strings"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// outcome is what a judge has achieved in one run.
type outcome struct {
	truth  *drill.Truth
	left   string // sources left out of the recording
	label  string
	answer string
	right  bool          // the answer is the label
	three  bool          // the label is among the three
	delay  time.Duration // of a run that is about naming and answered right
	alarms int           // false ones
	quiet  time.Duration // in which they could be
}

// outcomeOf judges a run. One that is answered right, but in which the right cause never stays,
// has the length of its fault as its delay: that is not soon.
func outcomeOf(t *drill.Truth, verdicts []drill.Verdict) *outcome {
	o := &outcome{truth: t, label: Label(t), answer: Answer(t, verdicts)}
	o.right = o.answer == o.label
	o.alarms = episodes(falseAlarms(t, verdicts))
	if from, to := quiet(t); to.After(from) {
		o.quiet = to.Sub(from)
	}
	if !names(t) {
		return o
	}
	o.three = o.right || amongThree(t, verdicts)
	if o.right {
		var ok bool
		if o.delay, ok = Delay(t, verdicts); !ok {
			o.delay = t.To.Sub(t.Onset)
		}
	}
	return o
}

// outcomesOf are a judge's, of the runs that count.
func outcomesOf(runs []Run, judge string) []*outcome {
	var all []*outcome
	for i := range runs {
		if t := &runs[i].Truth; t.Counts() {
			o := outcomeOf(t, runs[i].Judged.Verdicts[judge])
			o.left = strings.Join(runs[i].LeftOut, "+")
			all = append(all, o)
		}
	}
	return all
}

// whole are those of recordings without a source left out.
func whole(all []*outcome) []*outcome {
	var out []*outcome
	for _, o := range all {
		if o.left == "" {
			out = append(out, o)
		}
	}
	return out
}
