package play

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// usualSpread is the standard deviation of the logarithm when a directive says none:
// nine in ten observations lie within 0.56 and 1.8 times their median.
const usualSpread = 0.35

// pattern is a stream of observations.
type pattern struct {
	rate   float64 // per second
	mean   float64
	spread float64
	whole  bool
}

// cycle is how many observations make up the pattern; their mean is exact.
const cycle = 20

// values are the observations of one cycle, in an order that mixes low and high.
func (p pattern) values() [cycle]float64 {
	var out [cycle]float64
	total := 0.0
	for i := range out {
		q := (float64(i*7%cycle) + 0.5) / cycle
		out[i] = math.Exp(p.spread * math.Sqrt2 * math.Erfinv(2*q-1))
		total += out[i]
	}
	for i := range out {
		out[i] *= p.mean * cycle / total
		if p.whole {
			out[i] = math.Round(out[i])
		}
	}
	return out
}

// observed is how many times each value of the cycle came within the seconds.
func (p pattern) observed(seconds float64) (times [cycle]float64) {
	n := whole(p.rate * seconds)
	for i := range times {
		times[i] = math.Floor(n / cycle)
		if float64(i) < math.Mod(n, cycle) {
			times[i]++
		}
	}
	return times
}

// whole cuts to a whole number, and forgives what floats lose.
func whole(v float64) float64 { return math.Floor(v + 1e-9*max(1, v)) }

// part says which number of a histogram a line is.
type part struct {
	kind  partKind
	bound float64 // of a bucket
}

type partKind uint8

const (
	bucket partKind = iota + 1
	count
	sum
)

// histogram is the lines of one label set of a histogram family.
type histogram struct {
	lines   []*line
	pattern [2]pattern
}

// growth is by how much the part of the histogram grew.
func (h *histogram) growth(p part, grew [2]float64) float64 {
	total := 0.0
	for i, pattern := range h.pattern {
		values, times := pattern.values(), pattern.observed(grew[i])
		for k, v := range values {
			switch {
			case p.kind == sum:
				total += v * times[k]
			case p.kind == count || v <= p.bound:
				total += times[k]
			}
		}
	}
	return total
}

// check makes sure that what the fixture says is a histogram.
func (h *histogram) check() error {
	var buckets []*line
	counted := math.NaN()
	for _, l := range h.lines {
		switch l.part.kind {
		case bucket:
			buckets = append(buckets, l)
		case count:
			counted = l.v
		}
	}
	if len(buckets) == 0 {
		return fmt.Errorf("%s has no buckets: it is no histogram", h.lines[0].name)
	}
	slices.SortStableFunc(buckets, func(a, b *line) int {
		switch {
		case a.part.bound < b.part.bound:
			return -1
		case a.part.bound > b.part.bound:
			return 1
		}
		return 0
	})
	for i, b := range buckets {
		if i > 0 && b.v < buckets[i-1].v {
			return fmt.Errorf("line %d: bucket %v has %v observations, the one below it %v", b.number, b.part.bound, b.v, buckets[i-1].v)
		}
	}
	last := buckets[len(buckets)-1]
	if math.IsInf(last.part.bound, 1) && last.v != counted && !math.IsNaN(counted) {
		return fmt.Errorf("line %d: bucket +Inf has %v observations, _count says %v", last.number, last.v, counted)
	}
	return nil
}

// partOf tells which part of a histogram a series is; base is the family's name.
func partOf(l *line) (base string, p part, ok bool) {
	for _, s := range []struct {
		end  string
		kind partKind
	}{{"_bucket", bucket}, {"_count", count}, {"_sum", sum}} {
		stem, found := cut(l.name, s.end)
		if !found {
			continue
		}
		p := part{kind: s.kind}
		if s.kind == bucket {
			le, _ := l.label("le")
			bound, err := strconv.ParseFloat(le, 64)
			if err != nil {
				return "", p, false
			}
			p.bound = bound
		}
		return stem, p, true
	}
	return "", part{}, false
}
