package panes

import "strings"

// waitingScreen is shown before the first tick: what was tried and what to do.
func waitingScreen(v *view, w, h int) []row {
	rows := append(verdictRows(v, w, 3), titleRow(v, w), row{})
	_, tried, _ := strings.Cut(v.Waiting, "\n")
	for _, line := range strings.Split(tried, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if width(clean(line)) < w-1 {
			rows = append(rows, row{}.add(plain, " "+line)) // as it was set, columns and all
			continue
		}
		indent := 1 + len(line) - len(strings.TrimLeft(line, " "))
		for _, part := range wrap(line, max(8, w-indent-1)) {
			rows = append(rows, row{}.add(plain, spaces(indent)+part))
		}
	}
	rows = rows[:min(len(rows), max(0, h-1))]
	for len(rows) < h-1 {
		rows = append(rows, row{})
	}
	return append(rows, statusRow(v, w))
}
