package score

import (
	"math"
	"slices"
	"time"
)

// Metrics are a judge's. What has nothing to be computed from is nil.
type Metrics struct {
	// Top1 is the share of runs that are about naming (faults, limits, notes, compounds) whose
	// answer is right; see Answer. Top3: or whose right cause was among the three for most of
	// the time in which the answer is taken.
	Top1 *float64 `json:"top1"`
	Top3 *float64 `json:"top3"`
	// MacroF1 is the mean over all answers that are right of some run (ids, unknown, healthy) of
	// 2·TP/(2·TP+FP+FN): rare causes count as much as common ones.
	MacroF1 *float64 `json:"macro_f1"`
	// PairAccuracy is the share of pairs of look-alike runs of which both were answered right.
	PairAccuracy *float64 `json:"pair_accuracy"`
	// DelayP50 and DelayP95 are quantiles (linear between ranks) of Delay, over runs answered right.
	DelayP50 *float64 `json:"delay_p50_seconds"`
	DelayP95 *float64 `json:"delay_p95_seconds"`
	// Within10 and Within30 are shares of all runs that are about naming: answered right, and
	// with a delay of at most so many seconds.
	Within10 *float64 `json:"named_within_10s"`
	Within30 *float64 `json:"named_within_30s"`
	// FalseAlarms are those in healthy time, for 24 hours of it.
	FalseAlarms *float64 `json:"false_alarms_per_24h"`
	// AbstentionPrecision is the share of the runs with harm answered with unknown whose cause is
	// outside the book; AbstentionRecall is the share of the latter answered with unknown.
	AbstentionPrecision *float64 `json:"abstention_precision"`
	AbstentionRecall    *float64 `json:"abstention_recall"`
}

// measure is a metric's name, how the text calls it, and where it stands.
type measure struct {
	Name, Label string
	In          func(*Metrics) **float64
	lessIsMore  bool
}

// measures are all, in the order of the text.
var measures = []measure{
	{"top1", "top1", func(m *Metrics) **float64 { return &m.Top1 }, false},
	{"top3", "top3", func(m *Metrics) **float64 { return &m.Top3 }, false},
	{"macro_f1", "macro F1", func(m *Metrics) **float64 { return &m.MacroF1 }, false},
	{"pair_accuracy", "pairs", func(m *Metrics) **float64 { return &m.PairAccuracy }, false},
	{"delay_p50_seconds", "delay p50, s", func(m *Metrics) **float64 { return &m.DelayP50 }, true},
	{"delay_p95_seconds", "delay p95, s", func(m *Metrics) **float64 { return &m.DelayP95 }, true},
	{"named_within_10s", "named in 10 s", func(m *Metrics) **float64 { return &m.Within10 }, false},
	{"named_within_30s", "named in 30 s", func(m *Metrics) **float64 { return &m.Within30 }, false},
	{"false_alarms_per_24h", "false alarms/24 h", func(m *Metrics) **float64 { return &m.FalseAlarms }, true},
	{"abstention_precision", "unknown precision", func(m *Metrics) **float64 { return &m.AbstentionPrecision }, false},
	{"abstention_recall", "unknown recall", func(m *Metrics) **float64 { return &m.AbstentionRecall }, false},
}

// metricsOf computes all from outcomes and instances of pairs.
func metricsOf(all []*outcome, pairs []bool) Metrics {
	var m Metrics
	naming := slices.DeleteFunc(slices.Clone(all), func(o *outcome) bool { return !names(o.truth) })
	m.Top1 = share(naming, func(o *outcome) bool { return o.right })
	m.Top3 = share(naming, func(o *outcome) bool { return o.three })
	m.MacroF1 = macroF1(all)
	m.PairAccuracy = share(pairs, func(right bool) bool { return right })
	delays := delaysOf(naming)
	m.DelayP50, m.DelayP95 = quantile(delays, 0.5), quantile(delays, 0.95)
	within := func(d time.Duration) func(*outcome) bool {
		return func(o *outcome) bool { return o.right && o.delay <= d }
	}
	m.Within10, m.Within30 = share(naming, within(10*time.Second)), share(naming, within(30*time.Second))
	if n, hours := alarmsOf(all); hours > 0 {
		m.FalseAlarms = some(float64(n) / hours * 24)
	}
	m.AbstentionPrecision, m.AbstentionRecall = abstention(all)
	return m
}

// delaysOf are the delays in seconds of those answered right, ascending.
func delaysOf(naming []*outcome) []float64 {
	var all []float64
	for _, o := range naming {
		if o.right {
			all = append(all, o.delay.Seconds())
		}
	}
	slices.Sort(all)
	return all
}

// alarmsOf are the false alarms, and the hours in which they were.
func alarmsOf(all []*outcome) (n int, hours float64) {
	for _, o := range all {
		n += o.alarms
		hours += o.quiet.Hours()
	}
	return n, hours
}

func abstention(all []*outcome) (precision, recall *float64) {
	var said, outside []*outcome
	for _, o := range all {
		if o.label == Healthy {
			continue
		}
		if o.answer == Unknown {
			said = append(said, o)
		}
		if o.label == Unknown {
			outside = append(outside, o)
		}
	}
	right := func(o *outcome) bool { return o.right }
	return share(said, right), share(outside, right)
}

// macroF1 is the mean F1 over the labels of these runs.
func macroF1(all []*outcome) *float64 {
	type counts struct{ hit, said, is float64 }
	by := map[string]*counts{}
	for _, o := range all {
		if by[o.label] == nil {
			by[o.label] = &counts{}
		}
		by[o.label].is++
		if o.right {
			by[o.label].hit++
		}
	}
	for _, o := range all {
		if c := by[o.answer]; c != nil {
			c.said++
		}
	}
	labels := make([]string, 0, len(by))
	for label := range by {
		labels = append(labels, label)
	}
	slices.Sort(labels) // a sum of floats depends on its order
	sum := 0.0
	for _, label := range labels {
		c := by[label]
		sum += 2 * c.hit / (c.said + c.is)
	}
	if len(labels) == 0 {
		return nil
	}
	return some(sum / float64(len(labels)))
}

func some(v float64) *float64 { return &v }

// share of those that are so; nil of none.
func share[T any](all []T, is func(T) bool) *float64 {
	if len(all) == 0 {
		return nil
	}
	n := 0
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return some(float64(n) / float64(len(all)))
}

// quantile of ascending values, linear between the ranks; nil of none.
func quantile(sorted []float64, q float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return some(sorted[low] + (at-float64(low))*(sorted[high]-sorted[low]))
}
