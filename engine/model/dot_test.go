package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// block32 is a Q8_0 block of these weights.
func block32(w [blockLen]int8, scale float32) weights32 {
	b := weights32{scale: scale}
	for i, v := range w {
		b.word[i/8] |= uint64(uint8(int(v)+128)) << (i % 8 * 8)
	}
	return b
}

// random32 is weights and activations of a block; kind 0 is the largest values of
// all signs, where an overflow would show.
func random32(rng *rand.Rand, kind int) (w [blockLen]int8, x [blockLen]float32) {
	for i := range w {
		w[i], x[i] = int8(rng.Int()), float32(rng.NormFloat64())
		if kind == 0 {
			w[i], x[i] = [2]int8{-128, 127}[rng.IntN(2)], [2]float32{-1, 1}[rng.IntN(2)]
		}
	}
	return w, x
}

// TestDotQ8 holds every kernel against the sum of integer products, which they must
// meet exactly, and the sum of float64 products, within the rounding of 18 bits.
func TestDotQ8(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 400 {
		n := 1 + rng.IntN(3)
		rows := [2][]weights32{make([]weights32, n), make([]weights32, n)}
		var tokens [group][]block1
		groups := make([]block4, n)
		var exact, bound [2][group]float64
		var want [2][group]float32
		for b := range n {
			w, _ := random32(rng, round%3)
			u, _ := random32(rng, round%3)
			rows[0][b], rows[1][b] = block32(w, 0.5+rng.Float32()), block32(u, rng.Float32())
			for k := range group {
				_, x := random32(rng, round%3)
				var one block1
				one.set(&x)
				tokens[k] = append(tokens[k], one)
				groups[b].setToken(k, &one)
				for r, weights := range [2][blockLen]int8{w, u} {
					var sum int64
					scale := rows[r][b].scale
					for i, v := range weights {
						sum += int64(v) * round18(x[i], one.scale)
						exact[r][k] += float64(v) * float64(x[i]) * float64(scale)
						bound[r][k] += math.Abs(float64(v)) * float64(one.scale*scale)
					}
					want[r][k] += float32(sum) * (scale * one.scale)
				}
			}
		}
		for k := range group {
			var got [2]float32
			var second float32
			got[0], second = dotQ8Rows2(rows[0], rows[1], tokens[k], 0, 0)
			s0, s1, s2, s3 := dotQ8Tokens4(rows[0], groups, 0, 0, 0, 0)
			got[1] = [group]float32{s0, s1, s2, s3}[k]
			for i, g := range got {
				if g != want[0][k] {
					t.Fatalf("kernel %d, %d blocks: %g, want %g", i, n, g, want[0][k])
				}
			}
			if second != want[1][k] {
				t.Fatalf("second row: %g, want %g", second, want[1][k])
			}
			for r := range exact {
				if diff := math.Abs(float64(want[r][k]) - exact[r][k]); diff > bound[r][k]+1e-6*math.Abs(exact[r][k]) {
					t.Fatalf("%g is %g off, more than the rounding of activations allows (%g)", want[r][k], diff, bound[r][k])
				}
			}
		}
	}
}

// round18 is the integer an activation becomes, computed from the definition.
func round18(x, scale float32) int64 {
	if scale == 0 {
		return 0
	}
	// The kernel multiplies by the inverse in float32; so does this, to agree on ties.
	most := scale * maxActivation
	return int64(math.RoundToEven(float64(x * (maxActivation / most))))
}

func TestQuantiseExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, v := range map[string]float32{"zero": 0, "tiny": 1e-45, "huge": math.MaxFloat32, "infinite": inf, "NaN": nan} {
		var x [blockLen]float32
		x[3] = v
		var b block1
		b.set(&x) // must not panic
		w := block32([blockLen]int8{3: 100}, 1)
		got, _ := dotQ8Rows2([]weights32{w}, []weights32{w}, []block1{b}, 0, 0)
		if name == "zero" && got != 0 {
			t.Errorf("zero: %g", got)
		}
		if name == "huge" && !(got > 3e38) {
			t.Errorf("100 times the largest float is %g", got)
		}
	}
}

func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		exp, frac := h>>10&31, float64(h&1023)
		want := math.Ldexp(1024+frac, exp-25)
		switch exp {
		case 0:
			want = math.Ldexp(frac, -24)
		case 31:
			want = math.Inf(1)
			if frac != 0 {
				want = math.NaN()
			}
		}
		if h>>15 == 1 {
			want = -want
		}
		got := float64(half(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || got == 0 && math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("half(%#04x) = %g, want %g", h, got, want)
		}
	}
}

// TestMatrices multiplies with each type, in all numbers of rows and tokens that
// take other paths, and compares with a sum in float64.
func TestMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	work := newWorkers(1)
	for _, typ := range allTypes {
		for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 13} {
			rows, cols := 1+rng.IntN(40), 32*(1+rng.IntN(20))
			if kindOf(typ).weights == span {
				cols = span * (1 + rng.IntN(3))
			}
			m := newMatrix(tensor{typ: typ, rows: rows, cols: cols, data: randomRows(rng, typ, rows, cols)})
			var in activations
			in.resize(n, cols)
			for i := range in.x {
				in.x[i] = float32(rng.NormFloat64())
			}
			if m.quantised() {
				in.quantise(work)
			}
			out := make([]float32, n*rows)
			cut := rng.IntN(rows + 1)
			m.mul(&in, out, 0, cut)
			m.mul(&in, out, cut, rows)
			sameAlone(t, m, &in, out)
			w := make([]float32, cols)
			for r := range rows {
				m.copyRow(r, w)
				for k := range n {
					var want, size float64
					for i, v := range w {
						want += float64(v) * float64(in.row(k)[i])
						size += math.Abs(float64(v) * float64(in.row(k)[i]))
					}
					if got := float64(out[k*rows+r]); math.Abs(got-want) > 1e-5*size {
						t.Fatalf("type %d, %d rows of %d, %d tokens: row %d token %d is %g, want %g", typ, rows, cols, n, r, k, got, want)
					}
				}
			}
		}
	}
}

// sameAlone checks that each token by itself, which takes other kernels, has the very
// same products.
func sameAlone(t *testing.T, m matrix, in *activations, all []float32) {
	t.Helper()
	rows, cols := m.shape()
	for k := range in.n {
		var one activations
		one.resize(1, cols)
		copy(one.x, in.row(k))
		if m.quantised() {
			one.quantise(newWorkers(1))
		}
		out := make([]float32, rows)
		m.mul(&one, out, 0, rows)
		if !slices.Equal(out, all[k*rows:(k+1)*rows]) {
			t.Fatalf("token %d of %d has other products alone", k, in.n)
		}
	}
}

// TestUnpack reads weights of known bytes.
func TestUnpack(t *testing.T) {
	q8 := []byte{0x00, 0x40} // 2
	q4 := []byte{0x00, 0x38} // 0.5
	for i := range 32 {
		q8 = append(q8, byte(i-16))
	}
	for i := range 16 {
		q4 = append(q4, byte(15-i)<<4|byte(i))
	}
	got := make([]float32, 32)
	newMatrix(tensor{typ: tensorQ8_0, rows: 1, cols: 32, data: q8}).copyRow(0, got)
	for i, v := range got {
		if v != float32(2*(i-16)) {
			t.Errorf("Q8_0 weight %d is %g", i, v)
		}
	}
	newMatrix(tensor{typ: tensorQ4_0, rows: 1, cols: 32, data: q4}).copyRow(0, got)
	for i := range 16 {
		if lo, hi := 0.5*float32(i-8), 0.5*float32(7-i); got[i] != lo || got[i+16] != hi {
			t.Errorf("Q4_0 weights %d and %d are %g and %g, want %g and %g", i, i+16, got[i], got[i+16], lo, hi)
		}
	}
}
