package load

import "math"

// distribution holds any number of positive values in buckets that each span 1 %,
// so a quantile is within half a percent of the exact one and memory stays at
// 20 KB. Count, mean and maximum are exact.
type distribution struct {
	counts   [buckets]uint64
	n        uint64
	sum      float64
	min, max float64
}

// The buckets span 10⁻⁶ to 10⁵: a microsecond to a day in seconds, or any count
// of tokens. Values beyond either end fall into the last bucket there.
const (
	smallest = 1e-6
	largest  = 1e5
	growth   = 1.01
	buckets  = 2547 // ceil(ln(largest/smallest) / ln(growth)) + 1
)

var logGrowth = math.Log(growth)

func (d *distribution) add(v float64) {
	i := 0
	if v > smallest {
		i = min(buckets-1, int(math.Log(v/smallest)/logGrowth))
	}
	d.counts[i]++
	if d.n == 0 || v < d.min {
		d.min = v
	}
	d.max = max(d.max, v)
	d.n++
	d.sum += v
}

// quantile returns the value that a share q of the values does not exceed
// (nearest rank), 0 without values.
func (d *distribution) quantile(q float64) float64 {
	rank := max(1, uint64(math.Ceil(q*float64(d.n))))
	var seen uint64
	for i, c := range d.counts {
		seen += c
		if seen >= rank && c > 0 {
			mid := smallest * math.Exp((float64(i)+0.5)*logGrowth)
			return min(max(mid, d.min), d.max)
		}
	}
	return 0
}

// summary is nil without values.
func (d *distribution) summary() *Summary {
	if d.n == 0 {
		return nil
	}
	return &Summary{
		Count: d.n, Mean: d.sum / float64(d.n), Max: d.max,
		P50: d.quantile(.50), P90: d.quantile(.90), P95: d.quantile(.95), P99: d.quantile(.99),
	}
}
