package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Bounds of a tree.
const (
	treeDepth = 12
	leafLeast = 5 // samples
)

// Labelled is a sample of a run whose truth is known: its features (Judged.Features) and its
// class, the id of the cause or HealthyClass.
type Labelled struct {
	Values map[string]float64
	Class  string
}

// Fit grows a decision tree (CART): at each node the question whose two answers are purest by
// Gini impurity, at most 12 deep, 5 samples a leaf. That a feature is missing is an answer of
// its own. The same samples in the same order give the same tree. Without samples it is a
// leaf that says healthy.
func Fit(samples []Labelled) *TreeModel {
	f := newFitting(samples)
	all := make([]int, len(samples))
	for i := range all {
		all[i] = i
	}
	f.grow(all, 0)
	return &TreeModel{Samples: len(samples), Nodes: f.nodes}
}

// fitting is a tree being grown over samples as a matrix.
type fitting struct {
	features []string
	classes  []string
	values   [][]float64 // by feature and sample; NaN is missing
	class    []int
	nodes    []TreeNode
}

func newFitting(samples []Labelled) *fitting {
	f := &fitting{class: make([]int, len(samples))}
	names, classes := map[string]bool{}, map[string]bool{HealthyClass: true}
	for _, s := range samples {
		classes[s.Class] = true
		for name := range s.Values {
			names[name] = true
		}
	}
	f.features, f.classes = slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(classes))
	for _, name := range f.features {
		row := make([]float64, len(samples))
		for i := range samples {
			x, ok := samples[i].Values[name]
			if row[i] = x; !ok {
				row[i] = math.NaN()
			}
		}
		f.values = append(f.values, row)
	}
	for i := range samples {
		f.class[i], _ = slices.BinarySearch(f.classes, samples[i].Class)
	}
	return f
}

// question is a way to part samples, and how impure the two parts are together.
type question struct {
	feature     int
	below       float64 // +Inf: by being seen alone
	missingLeft bool
	impurity    float64
}

// grow appends the node of some samples and all below it, and returns its number.
func (f *fitting) grow(of []int, depth int) int {
	at := len(f.nodes)
	f.nodes = append(f.nodes, TreeNode{})
	q, ok := f.best(of)
	if depth == treeDepth || !ok {
		f.nodes[at].Classes = f.ranked(of)
		return at
	}
	var left, right []int
	for _, i := range of {
		if q.goesLeft(f.values[q.feature][i]) {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	n := TreeNode{Feature: f.features[q.feature], Missing: "right"}
	if q.missingLeft {
		n.Missing = "left"
	}
	if !math.IsInf(q.below, 0) {
		n.Below = &q.below
	}
	n.Left = f.grow(left, depth+1)
	n.Right = f.grow(right, depth+1)
	f.nodes[at] = n
	return at
}

func (q *question) goesLeft(x float64) bool {
	if math.IsNaN(x) {
		return q.missingLeft
	}
	return x <= q.below
}

// ranked are the classes of a leaf's samples, the most frequent first.
func (f *fitting) ranked(of []int) (out []string) {
	count := make([]int, len(f.classes))
	for _, i := range of {
		count[f.class[i]]++
	}
	for c, n := range count {
		if n > 0 {
			out = append(out, f.classes[c])
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		i, _ := slices.BinarySearch(f.classes, a)
		j, _ := slices.BinarySearch(f.classes, b)
		return cmp.Compare(count[j], count[i])
	})
	if len(out) == 0 {
		return []string{HealthyClass}
	}
	return out[:min(len(out), mostCauses+1)]
}

// best is the question that leaves least impurity; ok is false where none leaves less than
// there is.
func (f *fitting) best(of []int) (best question, ok bool) {
	whole := newTally(len(f.classes))
	for _, i := range of {
		whole.move(f.class[i], 1)
	}
	best.impurity = whole.impurity() - 1e-9
	order := make([]pair, 0, len(of))
	for feature, values := range f.values {
		order = order[:0]
		missing := newTally(len(f.classes))
		for _, i := range of {
			if x := values[i]; math.IsNaN(x) {
				missing.move(f.class[i], 1)
			} else {
				order = append(order, pair{x, f.class[i]})
			}
		}
		slices.SortFunc(order, func(a, b pair) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.class, b.class)) })
		for _, missingLeft := range []bool{false, true} {
			if missingLeft && missing.n == 0 {
				break
			}
			if q, found := scan(order, missing, whole, missingLeft); found && q.impurity < best.impurity {
				q.feature = feature
				best, ok = q, true
			}
		}
	}
	return best, ok
}

// pair is one sample's value of a feature, and its class.
type pair struct {
	x     float64
	class int
}

// scan tries every threshold of a feature, and that it is seen at all.
func scan(order []pair, missing, whole *tally, missingLeft bool) (best question, found bool) {
	left, right := newTally(len(whole.count)), whole.clone()
	take := func(class int) {
		left.move(class, 1)
		right.move(class, -1)
	}
	if missingLeft {
		for class, n := range missing.count {
			for range int(n) {
				take(class)
			}
		}
	}
	best.impurity = math.Inf(1)
	try := func(below float64) {
		if left.n < leafLeast || right.n < leafLeast {
			return
		}
		if impurity := left.impurity() + right.impurity(); impurity < best.impurity {
			best, found = question{below: below, missingLeft: missingLeft, impurity: impurity}, true
		}
	}
	for i, p := range order {
		take(p.class)
		switch {
		case i+1 == len(order):
			try(math.Inf(1)) // what is missing goes the other way
		case order[i+1].x > p.x:
			try(p.x + (order[i+1].x-p.x)/2)
		}
	}
	return best, found
}

// tally counts samples by class.
type tally struct {
	count      []float64
	n, squares float64
}

func newTally(classes int) *tally { return &tally{count: make([]float64, classes)} }

func (t *tally) clone() *tally { return &tally{slices.Clone(t.count), t.n, t.squares} }

func (t *tally) move(class int, by float64) {
	before := t.count[class]
	t.count[class] += by
	t.n += by
	t.squares += t.count[class]*t.count[class] - before*before
}

// impurity is Gini's, times the samples: 0 when all are of one class.
func (t *tally) impurity() float64 {
	if t.n <= 0 {
		return 0
	}
	return t.n - t.squares/t.n
}
