package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Randomised is the same file with other weights: each block of a Q8_0 matrix
// keeps its scale and gets seeded random numbers. A model of it computes as much as
// the original and knows nothing. The file's own bytes stay as they are.
func (f *File) Randomised(seed uint64) (*File, error) {
	rng := rand.New(rand.NewPCG(seed, 0x72616e646f6d))
	r := *f
	r.tensors = maps.Clone(f.tensors)
	for _, name := range slices.Sorted(maps.Keys(f.tensors)) {
		t := f.tensors[name]
		if t.rows == 1 {
			continue // of a norm
		}
		if t.typ != tensorQ8_0 {
			return nil, fmt.Errorf("random weights: tensor %s is not Q8_0", printable(name))
		}
		t.data = slices.Clone(t.data)
		for i := range t.data {
			if i%(2+blockLen) >= 2 {
				t.data[i] = byte(rng.Uint32())
			}
		}
		r.tensors[name] = t
	}
	return &r, nil
}
