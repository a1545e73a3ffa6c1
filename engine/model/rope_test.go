package model

import (
	"math"
	"testing"
)

// TestRope turns neighbouring elements, of both heads alike, and leaves those past
// the rotated ones.
func TestRope(t *testing.T) {
	x := []float32{1, 0, 0, 1, 7, 8, 1, 0, 0, 1, 7, 8}
	rope(x, []float32{0, 0.6}, []float32{1, 0.8}, 6)
	want := []float32{0, 1, -0.8, 0.6, 7, 8, 0, 1, -0.8, 0.6, 7, 8}
	for i := range x {
		if x[i] != want[i] {
			t.Fatalf("got %v, want %v", x, want)
		}
	}
}

// TestRopeHalves turns elements half of the rotated ones apart.
func TestRopeHalves(t *testing.T) {
	x := []float32{1, 0, 0, 1, 7, 8, 1, 0, 0, 1, 7, 8}
	ropeHalves(x, []float32{0, 0.6}, []float32{1, 0.8}, 6)
	want := []float32{0, -0.8, 1, 0.6, 7, 8, 0, -0.8, 1, 0.6, 7, 8}
	for i := range x {
		if x[i] != want[i] {
			t.Fatalf("got %v, want %v", x, want)
		}
	}
}

// TestFrequencies divides them by the factor of linear scaling and by each one's own.
func TestFrequencies(t *testing.T) {
	f := frequencies(&Config{RopeDim: 4, RopeBase: 100, RopeFactor: 2})
	if err := slow(f, []float32{1, 4}); err != nil {
		t.Fatal(err)
	}
	if math.Abs(f[0]-0.5) > 1e-12 || math.Abs(f[1]-0.1/8) > 1e-12 {
		t.Errorf("got %v", f)
	}
}
