package panes

import "llmtop/rules"

// signalUnit is the unit of the signal table.
func signalUnit(name string) string {
	s, _ := rules.Lookup(name)
	return s.Unit
}

// signalLabel is a signal's name as people say it: TTFT p95. A signal that is not
// in the table, as a newer llmtop's recording may name, keeps its own name.
func signalLabel(name string) string {
	if s, ok := rules.Lookup(name); ok {
		return s.Title
	}
	return clean(name)
}
