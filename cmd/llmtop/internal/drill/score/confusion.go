package score

import (
	"cmp"
	"slices"
	"strings"
)

// Confusion is a cell of the confusion matrix off its diagonal.
type Confusion struct {
	Label  string `json:"label"`  // what it was
	Answer string `json:"answer"` // what it was said to be
	Runs   int    `json:"runs"`
}

// confusions are the wrong answers, the most frequent first.
func confusions(all []*outcome) []Confusion {
	counts := map[[2]string]int{}
	for _, o := range all {
		if !o.right {
			counts[[2]string{o.label, o.answer}]++
		}
	}
	out := make([]Confusion, 0, len(counts))
	for cell, n := range counts {
		out = append(out, Confusion{cell[0], cell[1], n})
	}
	slices.SortFunc(out, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Label, b.Label), strings.Compare(a.Answer, b.Answer))
	})
	return out
}

// DrillScore is how one drill was answered.
type DrillScore struct {
	Drill    string   `json:"drill"`
	Kind     string   `json:"kind"`
	Runs     int      `json:"runs"` // that count
	Top1     *float64 `json:"top1"` // share answered right: of a control without a false alarm, of outside with unknown
	DelayP50 *float64 `json:"delay_p50_seconds"`
	Instead  string   `json:"instead,omitempty"` // the most frequent wrong answer
}

// byDrill has a line for each drill, by id.
func byDrill(all []*outcome) []DrillScore {
	groups := map[string][]*outcome{}
	var ids []string
	for _, o := range all {
		id := o.truth.Drill
		if groups[id] == nil {
			ids = append(ids, id)
		}
		groups[id] = append(groups[id], o)
	}
	slices.Sort(ids)
	var out []DrillScore
	for _, id := range ids {
		g := groups[id]
		d := DrillScore{Drill: id, Kind: string(g[0].truth.Kind), Runs: len(g), Top1: share(g, func(o *outcome) bool { return o.right })}
		if names(g[0].truth) {
			d.DelayP50 = quantile(delaysOf(g), 0.5)
		}
		if wrong := confusions(g); len(wrong) > 0 {
			d.Instead = wrong[0].Answer
		}
		out = append(out, d)
	}
	return out
}
