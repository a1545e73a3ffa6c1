package rules

import "sort"

// candidate is a rule whose needs hold; it is named unless something rules it out.
type candidate struct {
	cause Cause
	rule  *Rule
	named bool
}

func matches(r *Rule, raised map[string]bool) bool {
	for f := range r.Symptom {
		if raised[f] {
			return true
		}
	}
	return false
}

// suppress orders causes by score and takes out those that another one brings
// about: the earliest in a chain is the root, the others are its effects. What
// was ruled out as a cause may still be an effect.
func suppress(found []candidate) []Cause {
	gone := map[string]bool{}
	for i := range found {
		root := &found[i]
		if !root.named || gone[root.cause.ID] {
			continue
		}
		root.cause.Effects = []string{}
		for _, e := range root.rule.Effects {
			for _, f := range found {
				if f.cause.ID == e && !gone[e] && (!f.named || !root.cause.Since.After(f.cause.Since.Add(together))) {
					gone[e] = true
					root.cause.Effects = append(root.cause.Effects, e)
				}
			}
		}
	}
	out := []Cause{}
	for _, f := range found {
		if f.named && !gone[f.cause.ID] {
			out = append(out, f.cause)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Score > out[j].Score })
	return out
}
