package engine

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestGreedy(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		logits []float32
		want   int
	}{
		{[]float32{1, 3, 2}, 1},
		{[]float32{3, 3, 2}, 0},
		{[]float32{-5, -1, -1}, 1},
		{[]float32{nan, nan}, 0},
		{[]float32{1, nan, 2}, 2},
		{[]float32{nan, -3, nan, -4}, 1},
		{[]float32{nan, 1, 2, nan}, 2},
	} {
		if got := NewSampler(0, 1, 0).Sample(c.logits); got != c.want {
			t.Errorf("%v: %d, want %d", c.logits, got, c.want)
		}
	}
}

// Drawn frequencies are those of the softmax, and of its head under top_p.
func TestDraws(t *testing.T) {
	logits := []float32{float32(math.Log(.5)), float32(math.Log(.3)), float32(math.Log(.15)), float32(math.Log(.05))}
	for _, c := range []struct {
		temperature, topP float64
		want              []float64
	}{
		{1, 1, []float64{.5, .3, .15, .05}},
		{1, .75, []float64{.625, .375, 0, 0}},
		{1, .5, []float64{1, 0, 0, 0}},
		{.5, 1, []float64{.25 / .365, .09 / .365, .0225 / .365, .0025 / .365}},
	} {
		const draws = 20000
		s, n := NewSampler(c.temperature, c.topP, 7), make([]float64, len(logits))
		for range draws {
			n[s.Sample(logits)]++
		}
		for i, want := range c.want {
			if got := n[i] / draws; math.Abs(got-want) > .015 || (want == 0 && got > 0) {
				t.Errorf("temperature %g, top_p %g: token %d has share %.3f, want %.3f", c.temperature, c.topP, i, got, want)
			}
		}
	}
}

// A draw is always one of the tokens, within the head that top_p names, and seeded.
func TestDrawsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float32Range(-30, 30), 1, 50).Draw(t, "logits")
		temperature, topP := rapid.Float64Range(.05, 2).Draw(t, "temperature"), rapid.Float64Range(.01, 1).Draw(t, "top_p")
		seed := rapid.Uint64().Draw(t, "seed")
		a, b := NewSampler(temperature, topP, seed), NewSampler(temperature, topP, seed)
		for range 5 {
			x, y := a.Sample(logits), b.Sample(logits)
			if x != y || x < 0 || x >= len(logits) {
				t.Fatalf("%d and %d of %d", x, y, len(logits))
			}
			if above := likelier(logits, x, temperature); topP < 1 && above >= topP+1e-9 {
				t.Fatalf("token %d: the likelier ones have %g already, top_p is %g", x, above, topP)
			}
		}
	})
}

// likelier is the probability of all tokens that are likelier than id, by more than rounding.
func likelier(logits []float32, id int, temperature float64) float64 {
	weight := func(l float32) float64 { return math.Exp((float64(l) - 30) / temperature) }
	sum, above := 0.0, 0.0
	for _, l := range logits {
		p := weight(l)
		sum += p
		if p > weight(logits[id])*(1+1e-9) {
			above += p
		}
	}
	return above / sum
}

// top_k and min_p leave the likeliest tokens, and their shares among each other.
func TestDrawsOfHead(t *testing.T) {
	logits := []float32{float32(math.Log(.05)), float32(math.Log(.5)), float32(math.Log(.3)), float32(math.Log(.15))}
	root := math.Sqrt // what temperature 2 makes of a probability
	three := root(.5) + root(.3) + root(.15)
	for _, c := range []struct {
		name        string
		temperature float64
		topP, minP  float64
		topK        int
		want        []float64
	}{
		{"top_k 1", 1, 1, 0, 1, []float64{0, 1, 0, 0}},
		{"top_k 2", 1, 1, 0, 2, []float64{0, .625, .375, 0}},
		{"top_k beyond", 1, 1, 0, 99, []float64{.05, .5, .3, .15}},
		{"min_p", 1, 1, .5, 0, []float64{0, .625, .375, 0}},
		{"min_p 1", 1, 1, 1, 0, []float64{0, 1, 0, 0}},
		{"min_p after temperature", 2, 1, .5, 0, []float64{0, root(.5) / three, root(.3) / three, root(.15) / three}},
		{"top_p of what top_k leaves", 1, .6, 0, 2, []float64{0, 1, 0, 0}},
	} {
		const draws = 20000
		s, n := NewSampler(c.temperature, c.topP, 11), make([]float64, len(logits))
		s.TopK, s.MinP = c.topK, c.minP
		for range draws {
			n[s.Sample(logits)]++
		}
		for i, want := range c.want {
			if got := n[i] / draws; math.Abs(got-want) > .015 || (want == 0 && got > 0) {
				t.Errorf("%s: token %d has share %.3f, want %.3f", c.name, i, got, want)
			}
		}
	}
}

// The n likeliest are those that a full sort puts in front.
func TestLikeliest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "values")
		n := rapid.IntRange(1, 12).Draw(t, "n")
		var all []candidate
		for id, v := range values {
			all = append(all, candidate{id, float64(v)})
		}
		want := slices.SortedFunc(slices.Values(all), byLikelihood)
		want = want[:min(n, len(want))]
		if got := likeliest(all, n); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
