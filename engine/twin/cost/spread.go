package cost

import (
	"math"
	"math/rand/v2"
)

// Words that keep the draws of the parts apart, under one seed.
const (
	modelWord = 0x726f6f66
	frontWord = 0x66726f6e
)

// spread draws the factors by which one deployment differs from the tables.
type spread struct {
	width float64
	rand  *rand.Rand
}

func newSpread(width float64, seed, word uint64) *spread {
	return &spread{width: width, rand: rand.New(rand.NewPCG(seed, word))}
}

// factor is lognormal with the width as its sigma, cut at two of them; 1 with no width.
func (s *spread) factor() float64 {
	return math.Exp(s.width * min(2, max(-2, s.rand.NormFloat64())))
}

// share is a share of a maximum, varied and below it.
func (s *spread) share(of float64) float64 { return min(0.97, of*s.factor()) }
