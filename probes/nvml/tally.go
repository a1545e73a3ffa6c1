//go:build linux && cgo

package nvml

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// tallies say how each driver function has answered for each device. Noting a call
// allocates nothing but the first time.
type tallies struct {
	now func() time.Time

	mu sync.Mutex
	of map[tallied]*tally
}

type tallied struct {
	symbol string
	gpu    int
}

// newest calls have their times kept.
const newest = 15

type tally struct {
	calls, failed int
	last          nvml.Return
	refused       bool      // the driver has no such function
	out           int       // calls that are out; of what is asked for the host there may be several
	since         time.Time // when the first of them began
	took          [newest]time.Duration
	longest       time.Duration
}

// panicked stands for what NVML does not have a number for: go-nvml could not take the answer.
const panicked nvml.Return = -1

func newTallies(now func() time.Time) *tallies {
	return &tallies{now: now, of: map[tallied]*tally{}}
}

// entry is called with the lock held.
func (s *tallies) entry(symbol string, gpu int) *tally {
	key := tallied{symbol, gpu}
	t := s.of[key]
	if t == nil {
		t = &tally{}
		s.of[key] = t
	}
	return t
}

func (s *tallies) refuse(symbol string, gpu int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry(symbol, gpu).refused = true
}

func (s *tallies) begin(symbol string, gpu int) (t *tally, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, at = s.entry(symbol, gpu), s.now()
	t.refused = false
	if t.out++; t.out == 1 {
		t.since = at
	}
	return t, at
}

func (s *tallies) end(t *tally, began time.Time, ret nvml.Return) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := s.now().Sub(began)
	t.took[t.calls%newest] = took
	t.longest = max(t.longest, took)
	t.calls++
	if t.last = ret; !expected(ret) {
		t.failed++
	}
	t.out--
}

// list is by device, the host first, then by symbol.
func (s *tallies) list() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Call, 0, len(s.of))
	for key, t := range s.of {
		c := Call{Symbol: key.symbol, GPU: key.gpu, Calls: t.calls, Failed: t.failed, Result: t.result(), Median: t.median(), Longest: t.longest}
		if t.out > 0 {
			c.Out = s.now().Sub(t.since)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Symbol, b.Symbol))
	})
	return out
}

func (t *tally) median() time.Duration {
	n := min(t.calls, newest)
	if n == 0 {
		return 0
	}
	times := slices.Clone(t.took[:n])
	slices.Sort(times)
	return times[n/2]
}

// expected answers are no failure: there may be nothing to tell.
func expected(ret nvml.Return) bool {
	return ret == nvml.SUCCESS || ret == nvml.ERROR_TIMEOUT || ret == nvml.ERROR_NOT_FOUND
}

func (t *tally) result() string {
	switch {
	case t.refused:
		return "the driver has no such function"
	case t.calls == 0:
		return "no answer yet"
	}
	switch t.last {
	case nvml.SUCCESS:
		return "ok"
	case nvml.ERROR_TIMEOUT, nvml.ERROR_NOT_FOUND:
		return "ok: nothing to tell"
	case panicked:
		return "go-nvml could not take the answer"
	}
	return inWords(t.last)
}
