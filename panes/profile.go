package panes

import (
	"sort"
)

// profileRows is the CPU profile by purpose, and its heaviest functions. Nothing
// without a profile.
func profileRows(v *view, w int) []row {
	facts := v.tick.Point.Facts
	if facts == nil || facts.Samples == 0 {
		return nil
	}
	names := make([]string, 0, len(facts.Share))
	for name := range facts.Share {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := facts.Share[names[i]], facts.Share[names[j]]
		return a > b || a == b && names[i] < names[j]
	})
	head := row{}.add(plain, " ")
	for _, name := range names[:min(6, len(names))] {
		head = head.add(strong, clean(name)).add(plain, " "+percent(facts.Share[name])+"   ")
	}
	age, _ := v.age(facts.At)
	rows := []row{ends(w, head, row{}.add(faint, ago(age)+" ago "))}
	for _, f := range facts.Top {
		rows = append(rows, row{}.right(plain, 6, percent(f.Flat)).add(plain, "  ").
			left(faint, 11, clean(f.Stage)).add(plain, " "+clean(f.Function)))
	}
	return rows
}
