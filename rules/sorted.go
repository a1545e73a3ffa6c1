package rules

import (
	"math"

	"llmtop/probes"
)

// sorted is a multiset of numbers in order, for quantiles of what comes and goes.
type sorted []float64

func (s *sorted) add(v float64) {
	i := s.place(v)
	*s = append(*s, 0)
	copy((*s)[i+1:], (*s)[i:])
	(*s)[i] = v
}

func (s *sorted) remove(v float64) {
	if i := s.place(v); i < len(*s) && (*s)[i] == v {
		*s = append((*s)[:i], (*s)[i+1:]...)
	}
}

// exchange takes a reading out and puts another in; either may be missing.
func (s *sorted) exchange(old, new probes.Opt[float64]) {
	v, had := old.Get()
	w, has := new.Get()
	switch {
	case had && has:
		s.swap(v, w)
	case had:
		s.remove(v)
	case has:
		s.add(w)
	}
}

// swap is remove(old) and add(new) in one: only what lies between the two moves.
func (s *sorted) swap(old, new float64) {
	if old == new {
		return
	}
	from, to, list := s.place(old), s.place(new), *s
	if from == len(list) || list[from] != old {
		s.add(new)
		return
	}
	if from < to {
		to--
		copy(list[from:to], list[from+1:to+1])
	} else {
		copy(list[to+1:from+1], list[to:from])
	}
	list[to] = new
}

// place is the first index whose number is not below v.
func (s *sorted) place(v float64) int {
	low, n := 0, len(*s)
	for n > 0 {
		half := n / 2
		if (*s)[low+half] < v {
			low += n - half
		}
		n = half
	}
	return low
}

// quantile is the nearest-rank quantile; missing when empty.
func (s sorted) quantile(q float64) probes.Opt[float64] {
	if len(s) == 0 {
		return missing()
	}
	return probes.Some(s[max(0, int(math.Ceil(q*float64(len(s))))-1)])
}
