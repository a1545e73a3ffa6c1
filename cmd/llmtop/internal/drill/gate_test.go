package drill

import (
	"math"
	"strings"
	"testing"
)

// search runs a gate against a response.
func search(g *Gate, start float64, response func(x float64) float64) (x, ratio float64) {
	for {
		x, ok := g.Next(start)
		if !ok {
			return math.NaN(), math.NaN()
		}
		ratio := response(x)
		g.Saw(x, ratio)
		if g.Within(ratio) {
			return x, ratio
		}
	}
}

func TestGate(t *testing.T) {
	up := &Dial{From: 1, To: 1000, Mild: 2, Medium: 5, Severe: 30}
	down := &Dial{From: 700, To: 100, Mild: 650, Medium: 400, Severe: 300}
	share := &Dial{From: 0, To: 0.95, Mild: 0.2, Medium: 0.5, Severe: 0.8}
	responses := []struct {
		name string
		dial *Dial
		of   func(x float64) float64
	}{
		{"linear", up, func(x float64) float64 { return 1 + 0.02*(x-1) }},
		{"strong", up, func(x float64) float64 { return 1 + 0.6*(x-1) }},
		{"square", up, func(x float64) float64 { return 1 + 0.0005*(x-1)*(x-1) }},
		{"root", up, func(x float64) float64 { return 1 + 0.3*math.Sqrt(x-1) }},
		{"queue", share, func(x float64) float64 { return 1 / (1 - x) }},
		{"late queue", share, func(x float64) float64 { return 1 / (1 - 0.5*x*x) * (1 + 2*x*x*x*x) }},
		{"power", down, func(x float64) float64 { return 700 / x }},
		{"knee", down, func(x float64) float64 { return 1 + 6*math.Pow(max(0, 600-x)/400, 1.3) }},
	}
	for _, c := range responses {
		for _, s := range Severities {
			g := NewGate(c.dial, s, mostTries)
			x, ratio := search(g, c.dial.Start(s), c.of)
			if !g.Within(ratio) {
				t.Errorf("%s, %s: not found: %s", c.name, s, g.Why("e2e.p50"))
				continue
			}
			if place := c.dial.place(x); place < 0 || place > 1 {
				t.Errorf("%s, %s: %g is not on the dial", c.name, s, x)
			}
		}
	}
}

// What was too weak makes the next try stronger, what was too strong weaker, in either direction.
func TestGateDirection(t *testing.T) {
	for _, d := range []*Dial{{From: 1, To: 100}, {From: 100, To: 1}, {From: 0, To: 1}, {From: 64, To: 0, Whole: true}} {
		start := d.at(0.5)
		for _, c := range []struct {
			ratio    float64
			stronger bool
		}{{1, true}, {1.2, true}, {2, false}, {50, false}} {
			g := NewGate(d, Mild, mostTries)
			g.Saw(start, c.ratio)
			x, ok := g.Next(start)
			if stronger := d.place(x) > d.place(start); !ok || stronger != c.stronger {
				t.Errorf("from %g to %g: ×%g at %g is followed by %g", d.From, d.To, c.ratio, start, x)
			}
		}
	}
}

func TestGateEnds(t *testing.T) {
	never := func(float64) float64 { return 1.1 }
	for _, c := range []struct {
		name  string
		dial  *Dial
		tries int
	}{
		{"no dial", nil, 1},
		{"fixed", &Dial{Fixed: true, Severe: 1}, 1},
		{"few whole numbers", &Dial{From: 1, To: 3, Severe: 2, Whole: true}, 2},
		{"many", &Dial{From: 1, To: 1000, Severe: 2}, mostTries},
	} {
		g := NewGate(c.dial, Severe, mostTries)
		search(g, c.dial.Start(Severe), never)
		if g.Tries() != c.tries {
			t.Errorf("%s: %d tries, want %d", c.name, g.Tries(), c.tries)
		}
		if why := g.Why("ttft.p50"); !strings.Contains(why, "ttft.p50 grew ×1.1") || !strings.Contains(why, "×3 and more") {
			t.Errorf("%s: %s", c.name, why)
		}
	}
	// A jump over the band: all tries differ, and the nearest is told.
	d := &Dial{From: 1, To: 100, Mild: 10}
	g := NewGate(d, Mild, mostTries)
	search(g, 10, func(x float64) float64 {
		if x > 20 {
			return 8
		}
		return 1.25
	})
	seen := map[float64]bool{}
	for _, tr := range g.tried {
		if seen[tr.x] {
			t.Errorf("%g was tried twice", tr.x)
		}
		seen[tr.x] = true
	}
	if near := g.tried[g.Nearest()].ratio; near != 1.25 {
		t.Errorf("the nearest is said to be ×%g", near)
	}
}

func TestBands(t *testing.T) {
	last := 1.0
	for _, s := range Severities {
		low, high := s.Band()
		if low < last || high <= low {
			t.Errorf("%s: %g to %g after %g", s, low, high, last)
		}
		last = high
	}
}
