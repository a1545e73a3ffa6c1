package engine

import (
	"errors"
	"math"
)

// errLogits ends a sequence whose next token cannot be picked.
var errLogits = errors.New("the logits have no finite maximum")

// hasMaximum reports whether the largest of the logits is a finite number. NaNs are
// passed over, as the Sampler does.
func hasMaximum(logits []float32) bool {
	most := float32(math.Inf(-1))
	for _, l := range logits {
		if l > most {
			most = l
		}
	}
	return most >= -math.MaxFloat32 && most <= math.MaxFloat32
}
