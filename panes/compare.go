package panes

import (
	"fmt"
	"math"
	"strings"

	"llmtop/rules"
)

// compareScreen lies over the panes: two stretches of time, where the difference in
// latency went, and the signals that moved, the biggest movers first.
func compareScreen(v *view, w, h int) []row {
	c := v.Comparing.Result
	if c == nil {
		text := fmt.Sprintf(" comparing … %.0f %%", 100*v.Comparing.Done)
		return above(statusRow(v, w), w, h, []row{titleRow(v, w), row{}.add(plain, text)})
	}
	head := []row{sideRow("1", c.Before, w), sideRow("2", c.After, w)}
	added := addedRows(c, w)
	if most := max(1, (h-7)/3); len(added) > most {
		added = added[:most]
	}
	head = append(head, added...)
	if h >= 18 {
		head = append([]row{titleRow(v, w)}, head...)
	}
	columns := compareWidths(w)
	if h >= 14 {
		head = append(head, columns.head())
	}
	rows := scrolled(v, w, movedTitle(c, w), "c closes", columns.rows(c), h-len(head)-2)
	// the rule stands above the column names
	if h >= 14 {
		n := len(head) - 1
		head[n], rows[0] = rows[0], head[n]
	}
	return above(statusRow(v, w), w, h, append(head, rows...))
}

func movedTitle(c *rules.Comparison, w int) string {
	title := fmt.Sprintf("%d moved", c.Moved())
	if w >= 66 {
		title = fmt.Sprintf("%d signals moved, most for its noise first", c.Moved())
	}
	return title
}

// sideRow is a stretch: its name, when, how long, and the verdict that stood longest.
func sideRow(number string, s rules.Side, w int) row {
	span := s.From.UTC().Format("15:04:05")
	if w >= 60 {
		span += "–" + clock(s.To)
	}
	r := row{}.add(strong, " "+number+" ").left(strong, 9, clean(s.Name)).add(plain, span+" ").add(faint, rules.Format(math.Round(s.To.Sub(s.From).Seconds()), "s")+" ")
	if w >= 100 {
		r = r.add(faint, fmt.Sprintf(" %d samples, %s requests ", s.Samples, count(s.Requests)))
	}
	for i, verdict := range s.Verdicts {
		t := warn
		switch verdict.State {
		case rules.Healthy:
			t = good
		case rules.Degraded, rules.Unknown:
			t = bad
		}
		text := string(verdict.State)
		if verdict.Cause != "" && w < 60 {
			text = verdict.Cause
		} else if verdict.Cause != "" {
			text += " " + verdict.Cause
		}
		if len(s.Verdicts) > 1 {
			text += " " + percent(verdict.Share)
		}
		if i > 0 {
			text = "· " + text
		}
		r = r.add(t, clean(text)).add(plain, " ")
	}
	return r
}

// addedRows split the difference of each mean latency by stage.
func addedRows(c *rules.Comparison, w int) []row {
	var rows []row
	for _, a := range c.Added {
		var parts []part
		for _, p := range a.Parts {
			look := drawn[p.Stage]
			if look.sign == 0 {
				look.sign, look.tone = '░', inOther
			}
			look.name, look.share = clean(p.Stage), p.Share
			parts = append(parts, look)
		}
		r := row{}.left(strong, 15, " "+fmt.Sprintf("%-4s %s ", strings.ToUpper(clean(a.Of)), signed(c.Felt(a))))
		r = append(r, stacked(parts, max(8, w/4))...)
		rows = append(rows, append(r, legend(parts, w-r.width())...))
	}
	return rows
}

// columns are the widths of a comparison's columns; 0 is left out.
type columns struct{ name, value, difference, times, noise, formula int }

func compareWidths(w int) columns {
	switch {
	case w < 60:
		return columns{name: max(10, w-1-8-8-7), value: 8, times: 7}
	case w < 110:
		return columns{name: 22, value: 11, difference: 13, times: 9, noise: 11}
	}
	c := columns{name: 22, value: 11, difference: 13, times: 9, noise: 11}
	c.formula = w - 1 - 22 - 2*11 - 13 - 9 - 11 - 2
	return c
}

func (c columns) head() row {
	r := row{}.left(faint, 1+c.name, " signal").right(faint, c.value, "1").right(faint, c.value, "2")
	r = r.right(faint, c.difference, "change").right(faint, c.times, "").right(faint, c.noise, "noise")
	if c.formula > 0 {
		r = r.add(plain, "  ").left(faint, c.formula, "what it is")
	}
	return r
}

// rows are the signals that moved, and in one line those that did not.
func (c columns) rows(x *rules.Comparison) []row {
	var rows []row
	moved := x.Moved()
	for i := range x.Changes[:moved] {
		rows = append(rows, c.row(&x.Changes[i]))
	}
	if moved == 0 {
		rows = append(rows, row{}.add(plain, " Nothing moved by more than its noise."))
	}
	rest := fmt.Sprintf(" %d more within noise", len(x.Changes)-moved)
	if x.Unseen > 0 {
		rest += fmt.Sprintf(", %d not seen", x.Unseen)
	}
	return append(rows, row{}.add(faint, rest))
}

func (c columns) row(x *rules.Change) row {
	value := func(v *float64) string {
		if v == nil {
			return missing
		}
		return compared(*v, x.Unit)
	}
	r := row{}.left(strong, 1+c.name, " "+cut(clean(x.Signal), c.name-1)).right(plain, c.value, value(x.Before)).right(plain, c.value, value(x.After))
	moves, times := x.Moves(), x.Times()
	if c.difference == 0 && times == "" {
		times = strings.TrimSuffix(moves, "oints") // +87 p
		if x.Difference == nil {
			times = "new"
			if x.After == nil {
				times = "gone"
			}
		}
	}
	if x.Difference != nil && x.Unit == "s/token" {
		moves = signed(*x.Difference)
	}
	r = r.right(plain, c.difference, moves).right(strong, c.times, times)
	r = r.right(faint, c.noise, "±"+compared(x.Noise, x.Unit))
	if c.formula > 0 {
		if s, ok := rules.Lookup(x.Signal); ok {
			r = r.add(plain, "  ").left(faint, c.formula, s.Formula)
		}
	}
	return r
}

// compared prints a signal's value in a narrow column.
func compared(v float64, unit string) string {
	if unit == "s/token" {
		return seconds(v)
	}
	return amount(v, unit)
}
