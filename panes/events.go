package panes

import "llmtop/probes"

// eventRows are the last things that happened, newest first: restarts, resets,
// clock jumps, marks.
func eventRows(v *view, w int) []row {
	var rows []row
	for i := len(v.Ticks) - 1; i >= 0 && len(rows) < 6; i-- {
		events := v.Ticks[i].Point.Events
		for j := len(events) - 1; j >= 0 && len(rows) < 6; j-- {
			rows = append(rows, eventRow(v, &events[j]))
		}
	}
	return rows
}

func eventRow(v *view, e *probes.Event) row {
	t := warn
	if e.Kind == "mark" {
		t = strong
	}
	return row{}.add(faint, " "+clock(e.At)+" ").left(t, 14, clean(e.Kind)).add(plain, " "+clean(e.Text))
}
