package cost

import "time"

// Linear is a model of four numbers, as they are fitted to the steps of a real engine. Of the
// conditions only CPU counts: there is no GPU.
type Linear struct {
	Base    time.Duration // of every step
	Prefill time.Duration // for each prompt token
	Decode  time.Duration // for each sequence that decodes
	Context time.Duration // for each thousand tokens attended to

	cost Cost
}

// Step is the sum of the four.
func (l *Linear) Step(w *Work, c *Conditions) *Cost {
	attended := (w.PrefillPairs + float64(w.Context)) / 1000
	d := float64(l.Base) + float64(l.Prefill)*float64(w.PrefillTokens) + float64(l.Decode)*float64(w.DecodeTokens) + float64(l.Context)*attended
	l.cost = Cost{CPU: time.Duration(d), Host: Host{Schedule: time.Duration(d)}, Step: time.Duration(d * max(1, c.CPU))}
	l.cost.Gap = l.cost.Step
	return &l.cost
}
