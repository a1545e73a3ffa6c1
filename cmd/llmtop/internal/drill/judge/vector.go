package judge

import (
	"math"
	"slices"
	"strings"
	"time"

	"llmtop/rules"
)

// vectorWarm is how much of a recording is its beginning.
const vectorWarm = 40 * time.Second

// against marks the feature that is a signal against what it was in the beginning.
const against = "~"

// vector makes features of signals: what each is now, and how many times as much as its
// median in the first 40 s of the recording, as a logarithm to the base 2 in steps of 0.05.
// What is missing has no feature.
type vector struct {
	began  time.Time
	early  [][]float64
	median []float64 // NaN: not seen then
}

func newVector() *vector { return &vector{early: make([][]float64, len(table))} }

// observe takes the signals of a tick of the beginning in.
func (v *vector) observe(at time.Time, s rules.Signals) {
	if v.began.IsZero() {
		v.began = at
	}
	switch {
	case v.ready():
	case at.Sub(v.began) >= vectorWarm:
		v.median = make([]float64, len(table))
		for i, xs := range v.early {
			v.median[i] = math.NaN()
			if slices.Sort(xs); len(xs) > 0 {
				v.median[i] = xs[len(xs)/2]
			}
		}
		v.early = nil
	default:
		for i := range s {
			if x, ok := s[i].Get(); ok {
				v.early[i] = append(v.early[i], x)
			}
		}
	}
}

// ready reports that the beginning is over.
func (v *vector) ready() bool { return v.median != nil }

// isFeature leaves out llmtop's own cost, and the age of the engine: a clock would tell when
// in a run faults are wont to begin.
func isFeature(signal string) bool {
	return signal != "engine.age" && !strings.HasPrefix(signal, "self.")
}

// values are all features of a tick that are seen.
func (v *vector) values(s rules.Signals) map[string]float64 {
	out := map[string]float64{}
	for i := range table {
		if !isFeature(table[i].Name) {
			continue
		}
		for _, f := range []feature{{i, false}, {i, true}} {
			if x := v.value(f, s); !math.IsNaN(x) {
				out[f.name()] = x
			}
		}
	}
	return out
}

// feature is a signal's value, or that against the beginning.
type feature struct {
	row   int
	ratio bool
}

func (f feature) name() string {
	if f.ratio {
		return table[f.row].Name + against
	}
	return table[f.row].Name
}

// value is NaN where it is missing.
func (v *vector) value(f feature, s rules.Signals) float64 {
	x, ok := s[f.row].Get()
	if !ok {
		return math.NaN()
	}
	if !f.ratio {
		return roughly(x)
	}
	step := table[f.row].Step // less than it is nothing, so that 0 has a logarithm
	return math.Round(20*math.Log2((math.Abs(x)+step)/(math.Abs(v.median[f.row])+step))) / 20
}

// roughly is a number in two significant digits. A finer one of what only drifts (memory that
// grows, a disk that fills) would tell the time.
func roughly(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-1)
	return math.Round(x/scale) * scale
}
