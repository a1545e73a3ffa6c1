package rules

import (
	"math"
	"sort"

	"llmtop/probes"
)

// sorted is a multiset of numbers in order, for quantiles of what comes and goes.
type sorted []float64

func (s *sorted) add(v float64) {
	i := sort.SearchFloat64s(*s, v)
	*s = append(*s, 0)
	copy((*s)[i+1:], (*s)[i:])
	(*s)[i] = v
}

func (s *sorted) remove(v float64) {
	if i := sort.SearchFloat64s(*s, v); i < len(*s) && (*s)[i] == v {
		*s = append((*s)[:i], (*s)[i+1:]...)
	}
}

// quantile is the nearest-rank quantile; missing when empty.
func (s sorted) quantile(q float64) probes.Opt[float64] {
	if len(s) == 0 {
		return missing()
	}
	return probes.Some(s[max(0, int(math.Ceil(q*float64(len(s))))-1)])
}
