package score

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Least is what the product must reach: a metric and its worst value that is good enough.
type Least struct {
	Name  string
	Value float64
	most  bool // less is more: it is the largest
}

// evidenceTruth is a metric of the table, not of a judge.
const evidenceTruth = "evidence_truth"

// ParseLeast reads "top1=0.85,false_alarms_per_24h=1".
func ParseLeast(text string) ([]Least, error) {
	var all []Least
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		v, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || v != v {
			return nil, fmt.Errorf("%.60q is no metric=number", part)
		}
		i := slices.IndexFunc(measures, func(m measure) bool { return m.Name == name })
		if i < 0 && name != evidenceTruth {
			return nil, fmt.Errorf("there is no metric %.40q; there are %s", name, strings.Join(metricNames(), ", "))
		}
		all = append(all, Least{Name: name, Value: v, most: i >= 0 && measures[i].lessIsMore})
	}
	return all, nil
}

func metricNames() []string {
	var out []string
	for _, m := range measures {
		out = append(out, m.Name)
	}
	return append(out, evidenceTruth)
}

// Missed says which are not reached by the product, in one line each. What could not be
// computed is not reached.
func (t *Table) Missed(all []Least) []string {
	var out []string
	for _, l := range all {
		v := t.metric(l.Name)
		want := map[bool]string{false: "at least", true: "at most"}[l.most]
		switch {
		case v == nil:
			out = append(out, fmt.Sprintf("%s cannot be told from these runs, wanted %s %g", l.Name, want, l.Value))
		case cmp.Less(*v, l.Value) && !l.most, *v > l.Value && l.most:
			out = append(out, fmt.Sprintf("%s is %.4g, wanted %s %g", l.Name, *v, want, l.Value))
		}
	}
	return out
}

// metric is one of the product's by name.
func (t *Table) metric(name string) *float64 {
	if name == evidenceTruth {
		return t.EvidenceTruth
	}
	for _, m := range measures {
		if m.Name == name {
			return *m.In(&t.Judges[0].Metrics)
		}
	}
	return nil
}
