package judge

import (
	"slices"

	"llmtop/rules"
)

// table is that of the signals.
var table = rules.Table()

// rowOf is the row of a signal that is written in this package.
func rowOf(signal string) int {
	i := slices.IndexFunc(table, func(r rules.Signal) bool { return r.Name == signal })
	if i < 0 {
		panic("no signal " + signal)
	}
	return i
}
