package frames

import (
	"cmp"
	"slices"

	"llmtop/probes"
)

// leaf is what was sampled with one function running.
type leaf struct {
	weight   float64
	purposes map[string]float64 // a function that copies memory serves many
}

func add(leaves map[string]*leaf, name, what string, weight float64) {
	l := leaves[name]
	if l == nil {
		l = &leaf{purposes: map[string]float64{}}
		leaves[name] = l
	}
	l.weight += weight
	l.purposes[what] += weight
}

// purpose is what the function mostly ran for.
func (l *leaf) purpose() (what string) {
	for name, weight := range l.purposes {
		if best := l.purposes[what]; weight > best || weight == best && name < what {
			what = name
		}
	}
	return what
}

// top lists the heaviest leaf functions, equal ones by name.
func top(leaves map[string]*leaf, total float64) []probes.FrameShare {
	var out []probes.FrameShare
	for name, l := range leaves {
		out = append(out, probes.FrameShare{Function: probes.Printable(name, maxName), Flat: l.weight / total, Stage: l.purpose()})
	}
	slices.SortFunc(out, func(a, b probes.FrameShare) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(a.Function, b.Function))
	})
	return slices.Clip(out[:min(len(out), maxTop)])
}
