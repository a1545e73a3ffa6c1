package score

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// Widths of the text, 80 columns at most.
const (
	labelColumn, judgeColumn = 18, 15
	nameColumn, drillColumn  = 34, 30
	mostConfusions           = 15
	mostUntrue               = 8
)

// Text prints the table for people, in at most 80 columns: the metrics of all judges side by
// side, then of the product (the first judge) the parts, the drills and the confusions.
func (t *Table) Text(w io.Writer) error {
	p := &page{w: bufio.NewWriter(w)}
	t.head(p)
	t.metrics(p)
	if len(t.Judges) > 0 {
		j := &t.Judges[0]
		for _, s := range []struct {
			title string
			parts []Part
		}{{"by severity", j.BySeverity}, {"by personality", j.ByPersonality}, {"by world", j.ByWorld}, {"by what is missing", j.ByMissing}} {
			p.parts(s.title, s.parts)
		}
		p.drills(j.ByDrill)
		p.confusions(j.Confusions)
	}
	t.untrue(p)
	return p.w.Flush()
}

// page prints lines; an error of writing stays until Flush.
type page struct{ w *bufio.Writer }

func (p *page) line(format string, args ...any) {
	fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

func (t *Table) head(p *page) {
	p.line("suite %s on engine %s, llmtop %s", t.Suite, t.Engine, t.Version)
	p.line("%d drills of %d causes; %d runs planned, %d count, %d discarded", t.Drills, t.Causes, t.Runs.Planned, t.Runs.Valid, t.Runs.Discarded)
	for _, r := range t.Runs.Reasons {
		p.line("  %4d  %s", r.Times, fit(r.What, 72))
	}
}

func (t *Table) metrics(p *page) {
	p.line("")
	row := pad("", labelColumn)
	for i := range t.Judges {
		row += pad(t.Judges[i].Judge, judgeColumn)
	}
	p.line("%s", row)
	for _, m := range measures {
		row := pad(m.Label, labelColumn)
		for i := range t.Judges {
			j := &t.Judges[i]
			row += pad(withInterval(*m.In(&j.Metrics), j.Intervals, m.Name), judgeColumn)
		}
		p.line("%s", row)
	}
	p.line("in parentheses 95 %% intervals")
	if len(t.Judges) > 0 {
		j := &t.Judges[0]
		p.line("%d runs to be named, %d pairs of runs, %s healthy hours", j.NamingRuns, j.PairRuns, number(j.HealthyHours))
	}
	if t.EvidenceTruth != nil {
		p.line("evidence truth %.5g: %d of %d numbers are not borne out by raw samples", *t.EvidenceTruth, t.Untrue, t.Shown)
	}
	if len(t.Unpaired) > 0 {
		p.line("%d pairs have no runs of both here: %s", len(t.Unpaired), fit(strings.Join(t.Unpaired, ", "), 40))
	}
}

func (p *page) parts(title string, parts []Part) {
	if len(parts) == 0 {
		return
	}
	p.line("")
	p.line("%s%6s%8s%8s%13s", pad(title, nameColumn), "runs", "top1", "top3", "delay p50, s")
	for _, x := range parts {
		p.line("%s%6d%8s%8s%13s", pad(x.Name, nameColumn), x.Runs, value(x.Top1), value(x.Top3), value(x.DelayP50))
	}
}

func (p *page) drills(all []DrillScore) {
	p.line("")
	p.line("%s%-9s%5s%6s%8s  %s", pad("drill", drillColumn), "kind", "runs", "right", "p50, s", "else mostly")
	for _, d := range all {
		p.line("%s%-9s%5d%6s%8s  %s", pad(d.Drill, drillColumn), d.Kind, d.Runs, value(d.Top1), value(d.DelayP50), fit(d.Instead, 20))
	}
}

func (p *page) confusions(all []Confusion) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.line("%6s  %s%s", "runs", pad("what it was", nameColumn), "what it was said to be")
	for i, c := range all {
		if i == mostConfusions {
			rest := 0
			for _, c := range all[i:] {
				rest += c.Runs
			}
			p.line("%6d  in %d more ways (--json has all)", rest, len(all)-i)
			return
		}
		p.line("%6d  %s%s", c.Runs, pad(c.Label, nameColumn), fit(c.Answer, 38))
	}
}

func (t *Table) untrue(p *page) {
	if len(t.UntrueNumbers) == 0 {
		return
	}
	p.line("")
	p.line("%6s  %s", "times", "number that is not borne out")
	for _, u := range t.UntrueNumbers[:min(mostUntrue, len(t.UntrueNumbers))] {
		p.line("%6d  %s", u.Times, fit(u.What, 72))
	}
}

// withInterval is a metric with its interval, if it has one.
func withInterval(v *float64, intervals map[string][2]float64, name string) string {
	i, ok := intervals[name]
	if v == nil || !ok {
		return value(v)
	}
	return fmt.Sprintf("%s (%s–%s)", number(*v), bound(i[0]), bound(i[1]))
}

func value(v *float64) string {
	if v == nil {
		return "-"
	}
	return number(*v)
}

// bound is an end of an interval, in as few characters as say how wide that is.
func bound(v float64) string {
	switch {
	case v >= 999.5:
		return fmt.Sprintf("%.0fk", v/1000)
	case v >= 9.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 0.995:
		return fmt.Sprintf("%.1f", v)
	}
	return strings.TrimPrefix(fmt.Sprintf("%.2f", v), "0")
}

// number prints shares with two digits after the point, larger numbers with fewer.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 999.5:
		return fmt.Sprintf("%.1fk", v/1000)
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// pad makes a text as wide as a column, with a blank at its end.
func pad(s string, width int) string {
	s = fit(s, width-1)
	return s + strings.Repeat(" ", width-utf8.RuneCountInString(s))
}

// fit cuts a text; lines are never broken by what it holds.
func fit(s string, width int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
