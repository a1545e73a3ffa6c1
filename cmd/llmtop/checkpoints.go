package main

import (
	"slices"

	"llmtop/probes"
	"llmtop/rules"
)

// Checkpoints of a fold: one every ten minutes at 1 Hz; with too many every second one
// goes and they stand twice as far apart. 1 to 2 MB each.
const (
	checkpointEvery = 600
	mostCheckpoints = 16
)

// checkpoint is a fold set aside after the first at samples.
type checkpoint struct {
	at    int
	state *rules.Checkpoint
}

// checkpoints of one recording, in order.
type checkpoints struct {
	all   []checkpoint
	every int // samples; 0 is checkpointEvery
}

// due reports whether a fold that has taken in the first at samples should be set aside.
func (c *checkpoints) due(at int) bool {
	if c.every == 0 {
		c.every = checkpointEvery
	}
	last := 0
	if n := len(c.all); n > 0 {
		last = c.all[n-1].at
	}
	return at >= last+c.every
}

func (c *checkpoints) add(at int, state *rules.Checkpoint) {
	if len(c.all) == mostCheckpoints {
		kept := c.all[:0]
		for i, x := range c.all {
			if i%2 == 1 {
				kept = append(kept, x)
			}
		}
		clear(c.all[len(kept):])
		c.all, c.every = kept, 2*c.every
	}
	if c.due(at) {
		c.all = append(c.all, checkpoint{at, state})
	}
}

// before is the last checkpoint that stands before sample i.
func (c *checkpoints) before(i int) (checkpoint, bool) {
	n, _ := slices.BinarySearchFunc(c.all, i+1, func(x checkpoint, i int) int { return x.at - i })
	if n == 0 {
		return checkpoint{}, false
	}
	return c.all[n-1], true
}

// setAside keeps a checkpoint where one is due.
func (t *recorded) setAside() {
	if at := t.reader.Position(); !t.lean && t.aside.due(at) && t.done.last() == at-1 {
		t.aside.add(at, t.session.diagnoser.Checkpoint())
	}
}

// resume goes on from a checkpoint as the fold did that was set aside there.
func (t *recorded) resume(c checkpoint) {
	var window []*probes.Sample
	for i := c.at - 1; i >= 0 && len(window) < c.state.Samples(); i-- {
		if s := t.sample(i); s != nil {
			window = append(window, s)
		}
	}
	slices.Reverse(window)
	t.session.diagnoser = c.state.Resume(window)
	t.reader.Seek(c.at)
	t.done = history{dropped: c.at}
}
