package main

import (
	"math"
	"slices"
	"time"

	"llmtop/engine/twin/cost"
)

// fit finds the four numbers of cost.Linear that describe the steps best: least squares of the
// relative error, so that short steps count as much as long ones, without the slowest one in
// twenty of like steps (the host took the core away). Negative numbers are set to 0 and the rest
// fitted again.
func fit(steps []step) *cost.Linear {
	free := [4]bool{true, true, true, true}
	for {
		x := solve(steps, free)
		worst := -1
		for i, v := range x {
			if free[i] && v < 0 && (worst < 0 || v < x[worst]) {
				worst = i
			}
		}
		if worst < 0 {
			return &cost.Linear{Base: time.Duration(x[0]), Prefill: time.Duration(x[1]), Decode: time.Duration(x[2]), Context: time.Duration(x[3])}
		}
		free[worst] = false
	}
}

// terms are what the four numbers are multiplied with.
func terms(w *cost.Work) [4]float64 {
	return [4]float64{1, float64(w.PrefillTokens), float64(w.DecodeTokens), (w.PrefillPairs + float64(w.Context)) / 1000}
}

// solve is weighted least squares by the normal equations.
func solve(steps []step, free [4]bool) (x [4]float64) {
	var a [4][5]float64
	for _, s := range steps {
		t, y := terms(&s.work), float64(s.took)
		weight := 1 / (y * y)
		for i := range t {
			if !free[i] {
				continue
			}
			for j := range t {
				if free[j] {
					a[i][j] += weight * t[i] * t[j]
				}
			}
			a[i][4] += weight * t[i] * y
		}
	}
	for i := range a {
		if a[i][i] == 0 {
			a[i][i] = 1 // not free, or never seen: 0
		}
	}
	return gauss(a)
}

// gauss solves four equations.
func gauss(a [4][5]float64) (x [4]float64) {
	for c := range a {
		pivot := c
		for r := c + 1; r < len(a); r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		a[c], a[pivot] = a[pivot], a[c]
		for r := range a {
			if r == c || a[c][c] == 0 {
				continue
			}
			f := a[r][c] / a[c][c]
			for k := c; k < 5; k++ {
				a[r][k] -= f * a[c][k]
			}
		}
	}
	for i := range x {
		if a[i][i] != 0 {
			x[i] = a[i][4] / a[i][i]
		}
	}
	return x
}

// ordinary leaves out the slowest twentieth of the steps of each size: those in which the host
// was busy elsewhere.
func ordinary(steps []step) []step {
	groups := map[[2]int][]step{}
	for _, s := range steps {
		size := [2]int{int(math.Log2(float64(s.work.PrefillTokens + 1))), s.work.Decodes}
		groups[size] = append(groups[size], s)
	}
	var out []step
	for _, g := range groups {
		slices.SortFunc(g, func(a, b step) int { return int(a.took - b.took) })
		out = append(out, g[:len(g)-len(g)/20]...)
	}
	return out
}
