package model

import (
	"math"
	"testing"
)

func TestExp(t *testing.T) {
	worst := 0.0
	for x := float32(-87); x < 88.6; x += 0.00731 {
		want := math.Exp(float64(x))
		ulp := float64(math.Nextafter32(float32(want), 1e38) - float32(want))
		worst = max(worst, math.Abs(float64(exp(x))-want)/ulp)
	}
	if worst > 2 {
		t.Errorf("%.2f units in the last place off", worst)
	}
	inf := float32(math.Inf(1))
	if exp(0) != 1 || exp(-inf) != 0 || exp(-1000) != 0 || exp(inf) != inf || exp(1000) != inf || !math.IsNaN(float64(exp(float32(math.NaN())))) {
		t.Error("wrong at the ends")
	}
}

func TestSoftmax(t *testing.T) {
	for _, s := range [][]float32{{5}, {1, 2, 3}, {-1e30, 0}, {1000, 1000, 1000, 999}} {
		var want []float64
		var sum, got float64
		most := math.Inf(-1)
		for _, v := range s {
			most = max(most, float64(v))
		}
		for _, v := range s {
			want = append(want, math.Exp(float64(v)-most))
			sum += want[len(want)-1]
		}
		softmax(s)
		for i, v := range s {
			got += float64(v)
			if math.Abs(float64(v)-want[i]/sum) > 1e-6 {
				t.Errorf("weight %d is %g, want %g", i, v, want[i]/sum)
			}
		}
		if math.Abs(got-1) > 1e-6 {
			t.Errorf("weights sum to %g", got)
		}
	}
}

func TestNorm(t *testing.T) {
	out := make([]float32, 2)
	norm(out, []float32{3, 4}, []float32{1, 2}, 0)
	rms := float32(math.Sqrt(12.5))
	if math.Abs(float64(out[0]-3/rms)) > 1e-6 || math.Abs(float64(out[1]-8/rms)) > 1e-6 {
		t.Errorf("got %v", out)
	}
	norm(out, []float32{0, 0}, []float32{1, 1}, 1e-5)
	if out[0] != 0 || out[1] != 0 {
		t.Errorf("zero becomes %v", out)
	}
}

func TestSwiglu(t *testing.T) {
	gate := []float32{0, 1, -2, 100, -100}
	swiglu(gate, []float32{1, 2, 3, 4, 5})
	for i, want := range []float64{0, 2 / (1 + math.Exp(-1)), -6 / (1 + math.Exp(2)), 400, 0} {
		if math.Abs(float64(gate[i])-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("element %d is %g, want %g", i, gate[i], want)
		}
	}
}
