package score

import (
	"cmp"
	"slices"
	"strings"
)

// Part is how well a part of the runs that are about naming was answered.
type Part struct {
	Name     string   `json:"name"`
	Runs     int      `json:"runs"`
	Top1     *float64 `json:"top1"`
	Top3     *float64 `json:"top3"`
	DelayP50 *float64 `json:"delay_p50_seconds"`
}

func partOf(name string, naming []*outcome) Part {
	return Part{
		Name: name, Runs: len(naming),
		Top1:     share(naming, func(o *outcome) bool { return o.right }),
		Top3:     share(naming, func(o *outcome) bool { return o.three }),
		DelayP50: quantile(delaysOf(naming), 0.5),
	}
}

// parts splits the runs that are about naming by what by says; those of which it says nothing
// are left out. Parts stand in order of their names, or as order has them.
func parts(all []*outcome, by func(*outcome) string, order ...string) []Part {
	groups := map[string][]*outcome{}
	var keys []string
	for _, o := range all {
		key := by(o)
		if !names(o.truth) || key == "" {
			continue
		}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], o)
	}
	rank := func(key string) int { // first those that order has
		if i := slices.Index(order, key); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	var out []Part
	for _, key := range keys {
		out = append(out, partOf(key, groups[key]))
	}
	return out
}

func bySeverity(o *outcome) string    { return string(o.truth.Severity) }
func byPersonality(o *outcome) string { return o.truth.Personality }
func byWorld(o *outcome) string       { return o.truth.World }

// Parts by what is missing.
const (
	nothingMissing = "nothing"
	andHidden      = ", cause hidden" // without that source it cannot be seen
)

// missing splits the runs by the sources that were left out, and of each those whose cause cannot
// be seen without: there the right stage, with what to enable, is right.
func missing(all []*outcome) []Part {
	without := func(o *outcome) string { return cmp.Or(o.left, nothingMissing) }
	out := parts(all, without, nothingMissing)
	out = append(out, parts(all, func(o *outcome) string {
		if len(hidden(o.truth)) == 0 {
			return ""
		}
		return without(o) + andHidden
	})...)
	first := func(p Part) bool { return p.Name == nothingMissing }
	slices.SortStableFunc(out, func(a, b Part) int {
		switch {
		case first(a) != first(b) && first(a):
			return -1
		case first(a) != first(b):
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
