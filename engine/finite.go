package engine

import (
	"errors"
	"math"
)

// errLogits ends a sequence whose next token cannot be picked.
var errLogits = errors.New("the logits are broken")

// sound reports whether a token can be picked from the logits: none is NaN, and the
// largest is a finite number. One NaN is a sign that the others are wrong as well.
func sound(logits []float32) bool {
	most := float32(math.Inf(-1))
	for _, l := range logits {
		if l > most {
			most = l
		}
		if l != l {
			return false
		}
	}
	return most >= -math.MaxFloat32 && most <= math.MaxFloat32
}
