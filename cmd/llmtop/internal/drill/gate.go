package drill

import (
	"fmt"
	"math"
)

// mostTries bounds the runs of an instance until its symptom lies in its band.
const mostTries = 5

// Gate searches the strength at which the main symptom grows into its band. Next says what to
// try, Saw what came of it. It is the same for every engine.
type Gate struct {
	dial      *Dial // nil: the fault has no strength
	low, high float64
	most      int
	tried     []trial
}

// trial is a strength that was tried, where it lies on the dial, and the ratio of the symptom.
type trial struct{ x, place, ratio float64 }

// NewGate searches for a severity in at most so many tries. Without a dial, or with one that is
// fixed, there is one.
func NewGate(d *Dial, s Severity, most int) *Gate {
	g := &Gate{dial: d, most: most}
	g.low, g.high = s.Band()
	if d == nil {
		g.most = 1
		return g
	}
	if d.Fixed {
		g.most = 1
	}
	return g
}

// Within reports whether a ratio lies in the band.
func (g *Gate) Within(ratio float64) bool { return ratio >= g.low && ratio < g.high }

// Saw notes what a strength brought.
func (g *Gate) Saw(x, ratio float64) {
	t := trial{x: x, ratio: ratio}
	if g.dial != nil && !g.dial.Fixed {
		t.place = g.dial.place(x)
	}
	g.tried = append(g.tried, t)
}

// aim is the ratio that is sought: well inside the band.
func (g *Gate) aim() float64 {
	if g.high > 1000 {
		return 1.4 * g.low
	}
	return math.Sqrt(g.low * g.high)
}

// Next is the strength to try; ok is false when there is none left. The first is what the file
// says for the severity.
func (g *Gate) Next(start float64) (x float64, ok bool) {
	switch n := len(g.tried); {
	case n == 0:
		return start, true
	case n >= g.most:
		return 0, false
	}
	weak, strong := g.bracket()
	to := g.dial.at(g.guess(weak, strong))
	for _, x := range []float64{to, g.dial.at((weak.place + strong.place) / 2), weak.x + g.unit(), strong.x - g.unit()} {
		if at := g.dial.place(x); g.fresh(x) && at > weak.place && at <= strong.place {
			return x, true
		}
	}
	return 0, false
}

// unit is what the strength of a dial of whole numbers changes by at least, towards its end.
func (g *Gate) unit() float64 {
	if !g.dial.Whole {
		return 0
	}
	return math.Copysign(1, g.dial.To-g.dial.From)
}

// bracket are the strongest strength that was too weak and the weakest that was too strong, as
// far as any was; else the dial's ends, of which one does no harm and of the other nothing is known.
func (g *Gate) bracket() (weak, strong trial) {
	weak, strong = trial{x: g.dial.From, place: 0, ratio: 1}, trial{x: g.dial.To, place: 1, ratio: math.Inf(1)}
	for _, t := range g.tried {
		switch {
		case t.ratio < g.low && t.place >= weak.place:
			weak = t
		case t.ratio >= g.high && t.place <= strong.place:
			strong = t
		}
	}
	if weak.place > strong.place { // more is less here, by chance or by nature: the newest word counts
		if last := g.tried[len(g.tried)-1]; last.ratio < g.low {
			strong = trial{x: g.dial.To, place: 1, ratio: math.Inf(1)}
		} else {
			weak = trial{x: g.dial.From, place: 0, ratio: 1}
		}
	}
	return weak, strong
}

// steep is by which power of the strength harm is taken to grow while nothing better is known.
const steep = 1.5

// guess is the place where the symptom would lie in the middle of its band, if harm (how much more
// than usual) went on as between two tries, or with a power of the strength after the first.
func (g *Gate) guess(weak, strong trial) float64 {
	last := g.tried[len(g.tried)-1]
	want := harm(g.aim())
	known := g.was(weak) && g.was(strong)
	var to float64
	switch {
	case known && harm(weak.ratio) <= harm(1): // somewhere between is where it begins
		to = weak.place + 0.6*(strong.place-weak.place)
	case known:
		to = weak.place + (strong.place-weak.place)*(want-harm(weak.ratio))/(harm(strong.ratio)-harm(weak.ratio))
	default:
		slope := steep * math.Abs(math.Log(max(1e-9, math.Abs(g.dial.To))/max(1e-9, math.Abs(g.dial.From))))
		if !g.dial.geometric() {
			slope = steep / max(0.02, last.place)
		}
		if n := len(g.tried); n > 1 { // as it went from the try before
			if was := g.tried[n-2]; was.place != last.place {
				slope = max(slope/4, (harm(last.ratio)-harm(was.ratio))/(last.place-was.place))
			}
		}
		to = last.place + (want-harm(last.ratio))/slope
	}
	// Neither beyond what was too strong or too weak, nor next to it.
	margin := 0.1 * (strong.place - weak.place)
	if !known {
		margin = min(margin, 0.05)
		if math.IsInf(strong.ratio, 1) { // one step leaves a part of the way to the end
			to = min(to, last.place+0.4*(1-last.place))
			return max(to, weak.place+margin)
		}
	}
	return min(strong.place-margin, max(weak.place+margin, to))
}

// was reports whether a trial was made; the dial's ends were not.
func (g *Gate) was(t trial) bool {
	for _, o := range g.tried {
		if o == t {
			return true
		}
	}
	return false
}

// fresh reports whether a strength has not been tried.
func (g *Gate) fresh(x float64) bool {
	for _, t := range g.tried {
		if t.x == x {
			return false
		}
	}
	return true
}

// harm is how much more than usual a ratio is, on a scale on which equal steps are equal factors.
// What is hardly any tells nothing of how little it is.
func harm(ratio float64) float64 { return math.Log(max(0.05, ratio-1)) }

// Tries is how many there were.
func (g *Gate) Tries() int { return len(g.tried) }

// Nearest is the number of the try whose ratio came nearest to the band.
func (g *Gate) Nearest() int {
	best, least := 0, math.Inf(1)
	for i, t := range g.tried {
		off := math.Abs(harm(t.ratio) - harm(g.aim()))
		if g.Within(t.ratio) {
			off = -1
		}
		if off < least {
			best, least = i, off
		}
	}
	return best
}

// Why says that no try lay in the band, with all that was seen.
func (g *Gate) Why(symptom string) string {
	text := fmt.Sprintf("%s grew", symptom)
	for i, t := range g.tried {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" ×%.3g", t.ratio)
	}
	if len(g.tried) > 1 {
		text += fmt.Sprintf(" in %d tries", len(g.tried))
	}
	if g.high > 1000 {
		return text + fmt.Sprintf(": it should be ×%g and more", g.low)
	}
	return text + fmt.Sprintf(": it should be ×%g to ×%g", g.low, g.high)
}
