package rules

import (
	"math"

	"llmtop/probes"
)

// Bucket is what is really known of a quantile that a histogram tells: it lies between
// the bounds of one bucket. The zero Bucket says that the value is exact.
type Bucket struct{ Low, High float64 }

// Known reports whether a value is known no better than its bucket.
func (b Bucket) Known() bool { return b.High > b.Low }

// Below reports that a value lies in the lowest bucket: only that it is less than High is known.
func (b Bucket) Below() bool { return b.Known() && b.Low <= 0 }

// Beyond reports that a value lies beyond the last bound: only that it is more than Low is known.
func (b Bucket) Beyond() bool { return b.Known() && math.IsInf(b.High, 1) }

// Format writes a value as Format does; where only a bound of it is known, that: "< 300 ms".
func (b Bucket) Format(v float64, unit string) string {
	switch {
	case b.Beyond():
		return "> " + Format(b.Low, unit)
	case b.Below():
		return "< " + Format(b.High, unit)
	}
	return Format(v, unit)
}

// Bucket is what a histogram really says of a signal at a tick.
func (t *Tick) Bucket(name string) Bucket {
	i, ok := tableIndex[name]
	if !ok || i >= len(t.Buckets) {
		return Bucket{}
	}
	return t.Buckets[i]
}

// bucketOf is the bucket that holds a quantile; zero for exact values.
func (l latency) bucketOf(q float64) Bucket { return histogramBucket(l.hist, q) }

func histogramBucket(h *probes.Histogram, q float64) Bucket {
	if h == nil {
		return Bucket{}
	}
	if v, low, high := h.Quantile(q); v.Seen() {
		return Bucket{low, high}
	}
	return Bucket{}
}

// buckets evaluates them for the whole table; nil when all is exact.
func buckets(n *now) []Bucket {
	if n.exact && n.step == nil {
		return nil
	}
	out := make([]Bucket, len(table))
	for i := range table {
		if table[i].bucket != nil {
			out[i] = table[i].bucket(n)
		}
	}
	return out
}
