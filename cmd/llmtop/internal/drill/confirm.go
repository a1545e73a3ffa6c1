package drill

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// Confirmer reads the signals of a run that prove its injection. It takes nothing of a
// diagnosis but the numbers it begins with.
type Confirmer struct {
	onset, settled time.Time
	diagnoser      *rules.Diagnoser // nil: nothing is to be proved
	all            []Confirm
	seen           []movement
}

// movement is what a signal was before the onset, from then on, and once that had settled.
type movement struct{ before, ever, during []float64 }

// NewConfirmer reads a run whose fault began at onset and which ends then.
func NewConfirmer(all []Confirm, onset, end time.Time) (*Confirmer, error) {
	c := &Confirmer{onset: onset, settled: settledAt(onset, end), all: all, seen: make([]movement, len(all))}
	if len(all) == 0 {
		return c, nil
	}
	book, err := rules.DefaultBook()
	if err != nil {
		return nil, err
	}
	c.diagnoser = rules.NewDiagnoser(book, rules.Options{})
	return c, nil
}

// Observe takes the run's next sample in.
func (c *Confirmer) Observe(s *probes.Sample) {
	if c.diagnoser == nil {
		return
	}
	signals := c.diagnoser.Observe(s).Signals
	for i := range c.all {
		v, ok := signals.Get(c.all[i].Signal).Get()
		if !ok {
			continue
		}
		m := &c.seen[i]
		switch {
		case s.At.Before(c.onset):
			m.before = append(m.before, v)
			continue
		case !s.At.Before(c.settled):
			m.during = append(m.during, v)
		}
		m.ever = append(m.ever, v)
	}
}

// Result says of each movement whether it was there. A signal that nobody told of in the whole
// run proves nothing either way (Unseen); the error says what was not proved.
func (c *Confirmer) Result() ([]Confirmation, error) {
	var out []Confirmation
	var failed []string
	seen := 0
	for i := range c.all {
		r := c.seen[i].against(&c.all[i])
		out = append(out, r)
		switch {
		case r.Unseen:
		case r.Holds:
			seen++
		default:
			failed = append(failed, fmt.Sprintf("%s was %.3g, then %.3g", r.Signal, r.Before, r.During))
		}
	}
	switch {
	case len(failed) > 0:
		return out, fmt.Errorf("not confirmed: %s", strings.Join(failed, "; "))
	case seen == 0 && len(out) > 0:
		return out, fmt.Errorf("not confirmed: nobody tells of %s", out[0].Signal)
	}
	return out, nil
}

// against holds a movement against what it is to be.
func (m *movement) against(c *Confirm) Confirmation {
	r := Confirmation{Signal: c.Signal}
	if len(m.before)+len(m.ever) == 0 {
		r.Unseen = true
		return r
	}
	then := m.during
	if c.Ever {
		then = m.ever
	}
	if len(then) == 0 {
		return r
	}
	if r.During = median(then); c.Ever && (c.Rises > 0 || c.Least > 0) {
		r.During = slices.Max(then)
	} else if c.Ever {
		r.During = slices.Min(then)
	}
	known := len(m.before) > 0
	if known {
		r.Before = median(m.before)
	}
	r.Holds = (c.Rises == 0 || r.During > 0 && r.During >= c.Rises*r.Before) && // what was not there before has risen
		(c.Falls == 0 || known && r.During <= c.Falls*r.Before) &&
		(c.Least == 0 || r.During >= c.Least) && (c.Most == 0 || r.During <= c.Most)
	return r
}

// median is that of at least one value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	m := (sorted[(n-1)/2] + sorted[n/2]) / 2
	if math.IsInf(m, 0) {
		return sorted[n/2]
	}
	return m
}
