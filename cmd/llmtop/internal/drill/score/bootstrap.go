package score

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// resamples is how often the runs are drawn anew for the intervals.
const resamples = 1000

// intervals are 95 % bootstrap intervals (percentile method; Efron 1979) of each metric: runs, and
// instances of pairs, are drawn with replacement, as many as there are. The judge's name
// seeds the draws: the same runs, the same intervals. A metric has none when there is
// nothing to compute it from in most of the draws.
func intervals(all []*outcome, pairs []bool, judge string) map[string][2]float64 {
	h := fnv.New64a()
	h.Write([]byte(judge))
	draw := rand.New(rand.NewPCG(h.Sum64(), 0x5c0e)) // a word of its own
	values := make([][]float64, len(measures))
	drawn, drawnPairs := make([]*outcome, len(all)), make([]bool, len(pairs))
	for range resamples {
		for i := range drawn {
			drawn[i] = all[draw.IntN(len(all))]
		}
		for i := range drawnPairs {
			drawnPairs[i] = pairs[draw.IntN(len(pairs))]
		}
		m := metricsOf(drawn, drawnPairs)
		for i := range measures {
			if v := *measures[i].In(&m); v != nil {
				values[i] = append(values[i], *v)
			}
		}
	}
	out := map[string][2]float64{}
	for i := range measures {
		if v := values[i]; 2*len(v) > resamples {
			slices.Sort(v)
			out[measures[i].Name] = [2]float64{*quantile(v, 0.025), *quantile(v, 0.975)}
		}
	}
	return out
}
