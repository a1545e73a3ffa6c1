package rules

import (
	"time"

	"llmtop/probes"
)

// Stretch sums up the samples between two moments, to hold them against those of
// another stretch: every signal of the table at every sample, computed from samples of
// the stretch alone, and the parts of the requests that ended in it. Memory is bounded
// (about 1.5 MB) however long it is. Not safe for concurrent use.
type Stretch struct {
	window   *probes.Window
	ledger   *ledger
	from, to time.Time
	samples  int
	values   []thinned
	parts    stageMeans
	requests float64
	verdicts []VerdictShare // Share counts samples until it is read
}

// NewStretch returns one without samples.
func NewStretch() *Stretch {
	return &Stretch{window: probes.NewWindow(lookSpan, NewDecoder()), ledger: newLedger(), values: make([]thinned, len(table))}
}

// Observe takes the next sample in.
func (s *Stretch) Observe(x *probes.Sample) {
	previous := s.window.Last()
	p := s.window.Push(x)
	if s.window.All().Len() == 1 {
		previous = nil // the first, or the clock jumped
	}
	n := s.ledger.look(s.window, p)
	for i, v := range compute(n) {
		if f, ok := v.Get(); ok {
			s.values[i].add(f)
		}
	}
	fresh, requests := freshStages(n, previous)
	s.parts.plus(fresh, 1)
	s.requests += requests
	if s.samples++; s.samples == 1 || x.At.Before(s.from) {
		s.from = x.At
	}
	if x.At.After(s.to) {
		s.to = x.At
	}
}

// Judge notes the verdict on a sample of the stretch, and its first cause, "" for none.
func (s *Stretch) Judge(state State, cause string) {
	for i := range s.verdicts {
		if v := &s.verdicts[i]; v.State == state && v.Cause == cause {
			v.Share++
			return
		}
	}
	s.verdicts = append(s.verdicts, VerdictShare{State: state, Cause: cause, Share: 1})
}

// Len is how many samples it took in.
func (s *Stretch) Len() int { return s.samples }

// thinnedMost is how many values of a signal are kept, evenly over the stretch.
const thinnedMost = 2048

// thinned keeps every value, then every second, every fourth … so that no more than
// thinnedMost are held.
type thinned struct {
	kept   []float64
	stride int
	count  int
}

func (t *thinned) add(v float64) {
	t.stride = max(t.stride, 1)
	if t.count%t.stride == 0 {
		if len(t.kept) == thinnedMost {
			for i := range thinnedMost / 2 {
				t.kept[i] = t.kept[2*i]
			}
			t.kept, t.stride = t.kept[:thinnedMost/2], 2*t.stride
		}
		if t.count%t.stride == 0 {
			t.kept = append(t.kept, v)
		}
	}
	t.count++
}
