package panes

import (
	"fmt"

	"github.com/gdamore/tcell/v2"
)

// list is the list of marks; chosen is the one that Enter goes to.
type list struct{ chosen int }

// openList begins at the newest mark not after the moment shown.
func (a *App) openList() {
	l := &list{}
	if n := len(a.frame.Ticks); n > 0 {
		for i, m := range a.frame.Marks {
			if !m.At.After(a.frame.Ticks[n-1].Point.At) {
				l.chosen = i
			}
		}
	}
	a.list, a.help = l, false
}

// choose handles a key while the list is open. Any key that is not the list's closes
// it and does what it does elsewhere (false), but Esc and M do no more than that.
func (a *App) choose(e *tcell.EventKey) bool {
	last := len(a.frame.Marks) - 1
	move := func(n int) bool {
		a.list.chosen = max(0, min(a.list.chosen+n, last))
		return true
	}
	switch e.Key() {
	case tcell.KeyUp:
		return move(-1)
	case tcell.KeyDown:
		return move(1)
	case tcell.KeyPgUp:
		return move(-8)
	case tcell.KeyPgDn:
		return move(8)
	case tcell.KeyCtrlL:
		return false
	case tcell.KeyEnter:
		if i := min(a.list.chosen, last); i >= 0 {
			a.controls.JumpTo(a.frame.Marks[i].At)
		}
	}
	a.list = nil
	return e.Key() == tcell.KeyEnter || e.Key() == tcell.KeyEscape || e.Rune() == 'M'
}

// marksScreen lists the marks under the verdict, the chosen one always in sight.
func marksScreen(v *view, w, h int) []row {
	verdict := verdictRows(v, w, 1)
	room := max(0, h-len(verdict)-2)
	chosen := max(0, min(v.list.chosen, len(v.Marks)-1))
	start := max(0, min(chosen-room/2, len(v.Marks)-room))
	var rows []row
	for i := start; i < min(len(v.Marks), start+room); i++ {
		t, sign := plain, "   "
		if i == chosen {
			t, sign = invert, " → "
		}
		text := sign + clock(v.Marks[i].At) + "  " + firstLine(clean(v.Marks[i].Text), "mark")
		rows = append(rows, row{}.add(t, cut(text+spaces(w-width(text)), w)))
	}
	note := "Enter goes  Esc closes"
	if len(v.Marks) == 0 {
		rows, note = []row{row{}.add(plain, " No mark: m sets one while recording.")}, "Esc closes"
	} else if w >= 60 {
		note = fmt.Sprintf("%d of %d  ↑↓  ", chosen+1, len(v.Marks)) + note
	}
	rows = append([]row{rule(w, "marks", note)}, rows...)
	return above(statusRow(v, w), w, h, append(verdict, rows...))
}
