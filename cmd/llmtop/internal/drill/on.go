package drill

// On are the severities that it can be run with on an engine, the least first; of a control one
// that is empty. None: it is not run there.
func (d *Drill) On(engine string) []Severity {
	if !d.runs(engine) {
		return nil
	}
	return d.severities(engine)
}
