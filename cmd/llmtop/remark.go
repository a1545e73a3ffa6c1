package main

import (
	"fmt"
	"time"
)

// remark is what a replay has to say about the place shown, and about those it passed
// since the last one: a damaged sample, a mark, a gap.
func (v *viewer) remark() string {
	from := v.at
	if v.running && v.remarked < v.at && v.at-v.remarked <= mostAtOnce {
		from = v.remarked + 1
	}
	v.remarked = v.at
	if _, ok := v.line.when(v.at); !ok {
		return "a damaged sample: shown is the one nearest to it"
	}
	for i := from; i <= v.at; i++ {
		if said := v.remarkOn(i); said != "" {
			return said
		}
	}
	return ""
}

// remarkOn is what there is to say about tick i: a mark set since the one before, a gap.
func (v *viewer) remarkOn(i int) string {
	at, ok := v.line.when(i)
	if !ok {
		return ""
	}
	before, _ := v.line.when(i - 1)
	for _, m := range v.marks {
		if m.At.After(before) && !m.At.After(at) {
			return oneLine("mark: " + m.Text)
		}
	}
	if gap := gapBefore(v.line, i); gap > 0 {
		return "gap of " + gap.String() + " before this" + v.whyGap(before, at)
	}
	return ""
}

// whyGap is what the recording says about a gap, as an addition to a sentence.
func (v *viewer) whyGap(from, to time.Time) string {
	for _, g := range v.gaps {
		if g.Reason != "" && g.To.After(from) && g.From.Before(to) {
			return oneLine(": " + g.Reason)
		}
	}
	return ""
}

// gapBefore is the time without a sample before tick i beyond the planned interval, 0
// for none: as the screen's title and sparklines have it.
func gapBefore(line timeline, i int) time.Duration {
	s := line.sample(i)
	before, ok := line.when(i - 1)
	if s == nil || !ok || s.Interval <= 0 {
		return 0
	}
	if d := s.At.Sub(before); d > s.Interval*5/2 {
		return (d - s.Interval).Round(time.Second)
	}
	return 0
}

// behindText says at which speed a replay really runs.
func behindText(wanted, got float64) string {
	return fmt.Sprintf("cannot keep ×%g: ×%.2g now", wanted, got)
}
