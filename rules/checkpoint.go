package rules

import (
	"maps"
	"slices"

	"llmtop/probes"
)

// Checkpoint is a Diagnoser set aside after some sample, so that a recording can be
// folded on from there without folding what came before. It does not hold on to the
// samples in the window (a few KB each, half a minute of them), which its reader can
// give again: 1 to 2 MB at one sample a second.
type Checkpoint struct {
	state  *Diagnoser // without a window and what is worked out from it
	window probes.Emptied
}

// Checkpoint sets aside what the Diagnoser knows now; it goes on unaffected.
func (d *Diagnoser) Checkpoint() *Checkpoint {
	return &Checkpoint{state: d.clone(), window: d.window.Emptied()}
}

// Samples is how many of the samples before the checkpoint Resume needs.
func (c *Checkpoint) Samples() int { return c.window.Samples }

// Resume returns a Diagnoser that goes on as the first one did: given the newest
// Samples samples up to the checkpoint, oldest first, it makes of all that follow the
// same ticks. It may be called again.
func (c *Checkpoint) Resume(samples []*probes.Sample) *Diagnoser {
	d := c.state.clone()
	d.window, d.ledger = c.window.Refill(NewDecoder(), samples), newLedger()
	return d
}

// clone is a Diagnoser without a window and what is worked out from it that shares only what never changes: signals,
// causes, rules.
func (d *Diagnoser) clone() *Diagnoser {
	c := *d
	c.window, c.ledger = nil, nil
	c.past = &history{keep: d.past.keep, at: slices.Clone(d.past.at), ticks: slices.Clone(d.past.ticks)}
	c.base = d.base.clone()
	c.watched = slices.Clone(d.watched)
	c.onset, c.away = slices.Clone(d.onset), slices.Clone(d.away)
	c.held = maps.Clone(d.held)
	c.cases = slices.Clone(d.cases)
	return &c
}

func (b *baseline) clone() *baseline {
	c := *b
	c.pending, c.admitted = slices.Clone(b.pending), slices.Clone(b.admitted)
	c.spread = make([]sorted, len(b.spread))
	for i, s := range b.spread {
		c.spread[i] = slices.Clone(s)
	}
	for i, s := range b.newest {
		c.newest[i] = slices.Clone(s)
	}
	return &c
}
