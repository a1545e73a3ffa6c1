package panes

import (
	"strings"

	"llmtop/probes"
)

// sheet is what lies over the panes in full, to be scrolled: all there is to know of one kind.
type sheet int

const (
	noSheet sheet = iota
	engineSheet
	gpuSheet
	hostSheet
)

// sheets are their headings, the keys that close them, and what is on them.
var sheets = map[sheet]struct {
	title, key string
	rows       func(v *view, w int) []row
}{
	engineSheet: {"engines", "e", engineSheets},
	gpuSheet:    {"GPUs", "G", gpuSheets},
	hostSheet:   {"host", "H", hostSheets},
}

// sheetScreen lies over the panes; the verdict stays.
func sheetScreen(v *view, w, h int) []row {
	s := sheets[v.sheet]
	head := append(verdictRows(v, w, 1), titleRow(v, w))
	return above(statusRow(v, w), w, h, append(head, scrolled(v, w, s.title, s.key+" closes", s.rows(v, w), h-len(head)-2)...))
}

// labelWidth is that of the labels on a sheet.
const labelWidth = 14

// labelRow is a line on a sheet.
func labelRow(label, text string) row {
	return row{}.add(plain, " ").left(faint, labelWidth, label).add(plain, text)
}

// labelled is a text under a label, broken into lines; no text, no rows.
func labelled(w int, label, text string) []row {
	var rows []row
	for _, line := range wrap(text, w-labelWidth-2) {
		rows = append(rows, labelRow(label, line))
		label = ""
	}
	return rows
}

// facts are what is known of one thing: "PCIe gen 5 ×16", "0 replays".
type facts []string

// add appends label and value; a value that nobody knows is left out.
func (f *facts) add(label, value string) {
	if value == "" || value == missing {
		return
	}
	*f = append(*f, strings.TrimSpace(label+" "+value))
}

// reading appends what is printed of a reading, with words before and after it.
func (f *facts) reading(before string, o probes.Opt[float64], print func(float64) string, after string) {
	if v, ok := o.Get(); ok {
		f.add(before, strings.TrimSpace(print(v)+" "+after))
	}
}

// rows are the facts under a label, as many to a line as fit; no facts, no rows.
func (f facts) rows(w int, label string) []row {
	room := w - labelWidth - 2
	var lines []string
	for _, fact := range f {
		last := len(lines) - 1
		if last >= 0 && width(lines[last])+3+width(fact) <= room {
			lines[last] += " · " + fact
			continue
		}
		lines = append(lines, wrap(fact, room)...)
	}
	var rows []row
	for _, line := range lines {
		rows = append(rows, labelRow(label, line))
		label = ""
	}
	return rows
}

// readingOf is a reading of the one in a list that is the same as one seen later.
func readingOf[T any](list []T, same func(*T) bool, of func(*T) probes.Opt[float64]) probes.Opt[float64] {
	for i := range list {
		if same(&list[i]) {
			return of(&list[i])
		}
	}
	return probes.Opt[float64]{}
}
