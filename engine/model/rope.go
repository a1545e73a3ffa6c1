package model

import (
	"fmt"
	"math"
)

// frequencies is by how much each pair of a head turns from a position to the next:
// base^(-2i/dim), slowed down by linear scaling.
func frequencies(c *Config) []float64 {
	f := make([]float64, c.RopeDim/2)
	for i := range f {
		f[i] = math.Pow(c.RopeBase, -2*float64(i)/float64(c.RopeDim)) / c.RopeFactor
	}
	return f
}

// slow divides each frequency by a factor of its own, as the RoPE scaling of Llama 3
// is stored.
func slow(frequencies []float64, factors []float32) error {
	for i := range min(len(frequencies), len(factors)) {
		if factors[i] <= 0 {
			return fmt.Errorf("tensor rope_freqs.weight has a factor of %g", factors[i])
		}
		frequencies[i] /= float64(factors[i])
	}
	return nil
}

// rope turns the pairs (2i, 2i+1) of every head of x by the angles of a position,
// given as cosine and sine of each pair.
func rope(x, cos, sin []float32, headDim int) {
	sin = sin[:len(cos)]
	for ; len(x) >= headDim; x = x[headDim:] {
		for i, c := range cos {
			a, b, s := x[2*i], x[2*i+1], sin[i]
			x[2*i], x[2*i+1] = a*c-b*s, a*s+b*c
		}
	}
}

// ropeHalves does the same with the pairs (i, i + half of the rotated elements), the
// order of GPT-NeoX.
func ropeHalves(x, cos, sin []float32, headDim int) {
	n := len(cos)
	sin = sin[:n]
	for ; len(x) >= headDim; x = x[headDim:] {
		lower, upper := x[:n], x[n:2*n]
		for i, c := range cos {
			a, b, s := lower[i], upper[i], sin[i]
			lower[i], upper[i] = a*c-b*s, a*s+b*c
		}
	}
}
