package model

import "math"

// norm writes x / rms(x) * weight.
func norm(out, x, weight []float32, eps float32) {
	var sum float32
	for _, v := range x {
		sum += v * v
	}
	scale := float32(1 / math.Sqrt(float64(sum/float32(len(x))+eps)))
	out, weight = out[:len(x)], weight[:len(x)]
	for i, v := range x {
		out[i] = v * scale * weight[i]
	}
}

// swiglu writes silu(gate) * up over gate.
func swiglu(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + exp(-g)) * up[i]
	}
}

// softmax turns scores into weights that sum to 1.
func softmax(s []float32) {
	most := s[0]
	for _, v := range s {
		if v > most { // the builtin max is slow: it orders NaN and -0 too
			most = v
		}
	}
	var sum float32
	for i, v := range s {
		e := exp(v - most)
		s[i] = e
		sum += e
	}
	scale := 1 / sum
	for i := range s {
		s[i] *= scale
	}
}

// exp is e^x within 2 units in the last place, 0 below -87 and +Inf above 88.7.
// x = n ln 2 + r with |r| <= ln(2)/2, and e^r by its Taylor series to the 7th power.
func exp(x float32) float32 {
	const (
		log2e = 1.44269504088896341
		ln2Hi = 0.693359375 // few enough bits that n * ln2Hi is exact
		ln2Lo = -2.12194440e-4
		magic = 3 << 22
	)
	switch {
	case x < -87:
		return 0
	case x > 88.7:
		return float32(math.Inf(1))
	case x != x:
		return x
	}
	shifted := x*log2e + magic
	n := int32(math.Float32bits(shifted)) - 0x4B400000
	f := shifted - magic
	r := x - f*ln2Hi - f*ln2Lo
	p := float32(1.0 / 5040)
	p = p*r + 1.0/720
	p = p*r + 1.0/120
	p = p*r + 1.0/24
	p = p*r + 1.0/6
	p = p*r + 0.5
	p = p*r + 1
	p = p*r + 1
	return p * math.Float32frombits(uint32(n+127)<<23)
}
