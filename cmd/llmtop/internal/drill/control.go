package drill

import (
	"context"
	"fmt"
	"time"

	"llmtop/engine/twin"
	"llmtop/probes"
)

// runControl runs what is healthy, however long, once: samples are written as they come. A
// control that does harm which it does not allow is none.
func (i *Instance) runControl(ctx context.Context, to []Recording) (Truth, error) {
	s, err := i.stage(0)
	if err != nil {
		return Truth{}, err
	}
	// Its changes may come at any time, so that what it confirms is of the whole run.
	confirmer, err := NewConfirmer(i.Drill.Twin.Confirm, s.Start, s.Start)
	if err != nil {
		return Truth{}, err
	}
	w, err := newWriters(&s, to)
	if err != nil {
		return Truth{}, err
	}
	with := newCalm(i.Drill, &s)
	err = s.run(ctx, func(run *twin.Run, sample *probes.Sample) error {
		confirmer.Observe(sample)
		with.observe(sample, run.Tally())
		return w.add(ctx, sample)
	})
	if err != nil {
		w.discard()
		return Truth{}, err
	}
	without, err := i.unturned(ctx, &s, with)
	if err != nil {
		w.discard()
		return Truth{}, err
	}
	if err := w.close(ctx); err != nil {
		return Truth{}, err
	}
	truth := i.truth(&s)
	truth.Tries = 1
	if truth.Confirmed, err = confirmer.Result(); err != nil {
		truth.Discard = err.Error()
	}
	if err := with.against(without, &truth); err != nil {
		truth.Discard = err.Error()
	}
	return truth, nil
}

// unturned is the same run with the same luck in which nothing is turned; nil if that is of no
// interest. Whether the changes of a control do harm cannot be told from their own run: users'
// waits go up and down by themselves, and whoever takes that for trouble raises a false alarm.
func (i *Instance) unturned(ctx context.Context, s *staged, with *calm) (*calm, error) {
	if len(i.Drill.Twin.Turns) == 0 || len(with.symptoms) == 0 {
		return nil, nil
	}
	still := *s
	still.Timeline = nil
	c := newCalm(i.Drill, s)
	return c, still.run(ctx, func(run *twin.Run, sample *probes.Sample) error {
		c.observe(sample, run.Tally())
		return nil
	})
}

// A control is looked at in stretches of this length at least, of which there are so many at most.
const (
	leastStretch = 2 * time.Minute
	stretches    = 30
	enough       = 20   // requests that a stretch needs, to tell anything
	failing      = 0.01 // share of failed requests that is harm
)

// calm watches a control for harm: a stretch in which a symptom is as much above that of the run
// in which nothing is turned as a mild fault makes it, or requests that fail. A control that allows
// verdicts says itself that there is harm at times; then only the symptom that its file names counts.
type calm struct {
	symptoms []string
	prefills int
	length   time.Duration
	until    time.Time
	strict   bool

	values [][][]float64 // by symptom, by stretch
	first  *twin.Tally
	last   twin.Tally
}

func newCalm(d *Drill, s *staged) *calm {
	c := &calm{prefills: s.Prefills, length: max(leastStretch, s.Duration/stretches), strict: len(d.Allows) == 0}
	c.until = s.Start.Add(c.length)
	switch {
	case d.Symptom != "":
		c.symptoms = []string{d.Symptom}
	case c.strict:
		c.symptoms = []string{"ttft.p50", "tpot.p50"}
	}
	c.values = make([][][]float64, len(c.symptoms))
	for i := range c.values {
		c.values[i] = make([][]float64, 1)
	}
	return c
}

func (c *calm) observe(s *probes.Sample, t twin.Tally) {
	if c.first == nil {
		c.first = &t
	}
	c.last = t
	for s.At.After(c.until) {
		c.until = c.until.Add(c.length)
		for i := range c.values {
			c.values[i] = append(c.values[i], nil)
		}
	}
	for i, symptom := range c.symptoms {
		value := requestValue(symptom)
		if value == nil {
			continue
		}
		now := &c.values[i][len(c.values[i])-1]
		for n, r := range s.Requests {
			if n < c.prefills {
				continue
			}
			for _, q := range r.Finished {
				if v, ok := value(q); ok && (q.Finish == "stop" || q.Finish == "length") {
					*now = keepValue(*now, v)
				}
			}
		}
	}
}

// against notes the worst stretch in the truth; the error says that there was harm.
func (c *calm) against(without *calm, t *Truth) error {
	low, _ := Mild.Band()
	var harm error
	for i, symptom := range c.symptoms {
		if without == nil {
			break
		}
		for n, v := range c.values[i] {
			usual := without.values[i][n]
			if len(v) < enough || len(usual) < enough {
				continue
			}
			p := quantileOf(symptom)
			before, during := quantile(usual, p), quantile(v, p)
			if ratio := during / before; ratio > t.Ratio {
				t.Symptom, t.Before, t.During, t.Ratio = symptom, before, during, ratio
			}
		}
	}
	if t.Ratio >= low {
		harm = fmt.Errorf("a control that does harm: %s grew ×%.3g", t.Symptom, t.Ratio)
	}
	if c.first == nil || !c.strict {
		return harm
	}
	failed := c.last.Failed + c.last.Rejected - c.first.Failed - c.first.Rejected
	if came := c.last.Arrived - c.first.Arrived; float64(failed) > failing*float64(came) {
		return fmt.Errorf("a control that does harm: %d of %d requests failed", failed, came)
	}
	return harm
}
