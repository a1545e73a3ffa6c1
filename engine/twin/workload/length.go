package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Shape is a family of distributions of lengths.
type Shape string

// The shapes, with what their numbers are.
const (
	Constant    Shape = "constant"    // the length
	Uniform     Shape = "uniform"     // the smallest and the largest
	Lognormal   Shape = "lognormal"   // the median and the 95th percentile
	Exponential Shape = "exponential" // the mean
	Bimodal     Shape = "bimodal"     // one length, another, and the share of the other
)

// shapes are all of them, with how many numbers each has and an example.
var shapes = []struct {
	shape   Shape
	numbers int
	example string
}{
	{Constant, 1, "constant:800"}, {Uniform, 2, "uniform:100,2000"}, {Lognormal, 2, "lognormal:800,2000"},
	{Exponential, 1, "exponential:200"}, {Bimodal, 3, "bimodal:100,4000,0.03"},
}

// Length is a distribution of lengths in tokens. The zero value says nothing.
type Length struct {
	Shape   Shape
	Numbers [3]float64
}

// z95 is the 95th percentile of the standard normal distribution.
const z95 = 1.6448536269514722

// ParseLength reads "800", "constant:800", "lognormal:800,2000" and the like.
func ParseLength(text string) (Length, error) {
	name, list, ok := strings.Cut(text, ":")
	if !ok {
		name, list = string(Constant), text
	}
	for _, s := range shapes {
		if string(s.shape) != name {
			continue
		}
		l := Length{Shape: s.shape}
		parts := strings.Split(list, ",")
		if len(parts) != s.numbers {
			return l, fmt.Errorf("%q: %s has %d numbers, as in %s", text, name, s.numbers, s.example)
		}
		for i, p := range parts {
			v, err := strconv.ParseFloat(p, 64)
			if err != nil {
				return l, fmt.Errorf("%q: %q is no number; write for example %s", text, p, s.example)
			}
			l.Numbers[i] = v
		}
		return l, l.check(text)
	}
	return Length{}, fmt.Errorf("%q is no distribution of lengths: write 800, uniform:100,2000, lognormal:MEDIAN,P95, exponential:MEAN or bimodal:ONE,OTHER,SHARE", text)
}

// check says what cannot be.
func (l Length) check(text string) error {
	n := l.Numbers
	lengths := n[:1]
	if l.Shape != Constant && l.Shape != Exponential {
		lengths = n[:2]
	}
	for _, v := range lengths {
		if !(v >= 1 && v <= MaxTokens) {
			return fmt.Errorf("%q: a length is 1 to %d tokens, not %g", text, MaxTokens, v)
		}
	}
	switch {
	case l.Shape == Uniform && n[1] < n[0]:
		return fmt.Errorf("%q: the smallest is larger than the largest", text)
	case l.Shape == Lognormal && n[1] < n[0]:
		return fmt.Errorf("%q: the 95th percentile is below the median", text)
	case l.Shape == Bimodal && !(n[2] >= 0 && n[2] <= 1):
		return fmt.Errorf("%q: the share of the other length is 0 to 1, not %g", text, n[2])
	}
	return nil
}

// String writes it as ParseLength reads it.
func (l Length) String() string {
	for _, s := range shapes {
		if s.shape == l.Shape {
			var b []byte
			for i, v := range l.Numbers[:s.numbers] {
				if i > 0 {
					b = append(b, ',')
				}
				b = strconv.AppendFloat(b, v, 'g', -1, 64)
			}
			return string(l.Shape) + ":" + string(b)
		}
	}
	return "none"
}

// times is the same distribution of lengths that are f times as long.
func (l Length) times(f float64) Length {
	if l.Shape == "" {
		return l
	}
	l.Numbers[0] *= f
	if l.Shape != Constant && l.Shape != Exponential {
		l.Numbers[1] *= f
	}
	return l
}

// drawn is a Length ready to draw from.
type drawn struct {
	shape Shape
	a, b  float64
	share float64
}

func (l Length) drawn() drawn {
	d := drawn{shape: l.Shape, a: l.Numbers[0], b: l.Numbers[1], share: l.Numbers[2]}
	if l.Shape == Lognormal {
		d.a, d.b = math.Log(l.Numbers[0]), math.Log(l.Numbers[1]/l.Numbers[0])/z95
	}
	return d
}

// draw is a length, not rounded, above 0; 0 from what says nothing.
func (d *drawn) draw(r *rand.Rand) float64 {
	switch d.shape {
	case Constant:
		return d.a
	case Uniform:
		return d.a + (d.b-d.a)*r.Float64()
	case Lognormal:
		return math.Exp(d.a + d.b*r.NormFloat64())
	case Exponential:
		return d.a * r.ExpFloat64()
	case Bimodal:
		if r.Float64() < d.share {
			return d.b
		}
		return d.a
	}
	return 0
}

// tokens rounds a length; every prompt and every answer has one token at least.
func tokens(v float64) int { return int(math.Round(min(max(v, 1), MaxTokens))) }

// mean is the expected length.
func (l Length) mean() float64 {
	n := l.Numbers
	switch l.Shape {
	case Uniform:
		return (n[0] + n[1]) / 2
	case Lognormal:
		sigma := math.Log(n[1]/n[0]) / z95
		return n[0] * math.Exp(sigma*sigma/2)
	case Bimodal:
		return n[0]*(1-n[2]) + n[1]*n[2]
	}
	return n[0]
}
