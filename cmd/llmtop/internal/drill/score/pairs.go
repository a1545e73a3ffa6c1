package score

import (
	"cmp"
	"slices"

	"llmtop/cmd/llmtop/internal/drill"
)

// instances match the runs of the two drills of each pair: those of one severity in the order
// of their seeds, the first with the first. Drills that have no severity in common are matched
// by seed alone. An instance is right when both are answered right. The second result are the
// pairs of which there is none.
func instances(pairs []Pair, all []*outcome) (right []bool, without []Pair) {
	by := map[string][]*outcome{}
	for _, o := range all {
		by[o.truth.Drill] = append(by[o.truth.Drill], o)
	}
	for _, p := range pairs {
		found := matched(by[p.A], by[p.B])
		if len(found) == 0 {
			without = append(without, p)
		}
		right = append(right, found...)
	}
	return right, without
}

func matched(a, b []*outcome) []bool {
	var right []bool
	for _, s := range drill.Severities {
		right = append(right, zipped(of(a, s), of(b, s))...)
	}
	if len(right) == 0 {
		return zipped(a, b)
	}
	return right
}

func of(all []*outcome, s drill.Severity) []*outcome {
	return slices.DeleteFunc(slices.Clone(all), func(o *outcome) bool { return o.truth.Severity != s })
}

func zipped(a, b []*outcome) []bool {
	bySeed := func(x, y *outcome) int { return cmp.Compare(x.truth.Seed, y.truth.Seed) }
	a, b = slices.SortedStableFunc(slices.Values(a), bySeed), slices.SortedStableFunc(slices.Values(b), bySeed)
	var right []bool
	for i := range min(len(a), len(b)) {
		right = append(right, a[i].right && b[i].right)
	}
	return right
}
