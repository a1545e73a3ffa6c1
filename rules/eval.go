package rules

import (
	"math"
	"time"

	"llmtop/probes"
)

// truth is three-valued: what cannot be seen is unknown, never false.
type truth int8

const (
	no      truth = -1
	unknown truth = 0
	yes     truth = 1
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// Thresholds of up, down and flat [proposal]; the reference asks 1.3 to 1.5.
const (
	upFactor  = 1.5
	flatShare = 0.3
)

// scene is what clauses are evaluated against at one tick.
type scene struct {
	at      time.Time
	now     Signals
	buckets []Bucket // of now
	base    func(sig int) probes.Opt[float64]
	past    *history
	added   []Attribution
	coarse  bool                // added knows only frontend, queue, prefill and decode
	onset   []time.Time         // per signal, when it left its baseline; zero while in it
	held    map[*node]time.Time // since when the condition of a held(…) holds
}

// cond evaluates a condition. Every part is evaluated at every tick, so that
// held(…) sees each of them.
func (s *scene) cond(n *node) truth {
	switch n.kind {
	case notNode:
		return -s.cond(n.args[0])
	case andNode, orNode:
		out := truth(1)
		if n.kind == orNode {
			out = no
		}
		for _, a := range n.args {
			if t := s.cond(a); n.kind == andNode {
				out = min(out, t)
			} else {
				out = max(out, t)
			}
		}
		return out
	case compareNode:
		return s.compare(n)
	case callNode:
		return s.callCond(n)
	}
	return unknown
}

func (s *scene) compare(n *node) truth {
	a, ok := s.num(n.args[0])
	b, ok2 := s.num(n.args[1])
	if !ok || !ok2 {
		return unknown
	}
	switch n.op {
	case "<":
		return truthOf(a < b)
	case "<=":
		return truthOf(a <= b)
	case ">":
		return truthOf(a > b)
	case ">=":
		return truthOf(a >= b)
	case "==":
		return truthOf(a == b)
	}
	return truthOf(a != b)
}

// num evaluates a number; ok is false when a part is missing or not finite.
func (s *scene) num(n *node) (float64, bool) {
	switch n.kind {
	case numberNode:
		return n.num, true
	case signalNode:
		return s.now[n.sig].Get()
	case callNode:
		if n.op == "corr" {
			return s.past.corr(n.args[0].sig, n.args[1].sig, s.at, n.span)
		}
		return s.addedShare(n)
	case arithNode:
		a, ok := s.num(n.args[0])
		b, ok2 := s.num(n.args[1])
		if !ok || !ok2 {
			return 0, false
		}
		v := arith(n.op, a, b)
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

func arith(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	}
	return a / b
}

func (s *scene) callCond(n *node) truth {
	switch n.op {
	case "held":
		return s.heldFor(n)
	case "rising":
		return s.past.rising(n.args[0].sig, s.at, n.span)
	case "before":
		return s.before(n.args[0].sig, n.args[1].sig)
	}
	v, ok := s.now[n.args[0].sig].Get()
	b, ok2 := s.base(n.args[0].sig).Get()
	if !ok || !ok2 {
		return unknown
	}
	step, factor := table[n.args[0].sig].Step, upFactor
	if len(n.args) == 2 {
		factor = n.args[1].num
	}
	switch n.op {
	case "up":
		return truthOf(isUp(v, b, step, factor))
	case "down":
		return truthOf(isUp(b, v, step, factor))
	}
	if len(n.args) == 1 {
		factor = flatShare
	}
	return truthOf(math.Abs(v-b) <= math.Max(math.Abs(b)*factor, step))
}

func isUp(v, base, step, factor float64) bool { return v >= base*factor && v-base >= step }

func (s *scene) heldFor(n *node) truth {
	t := s.cond(n.args[0])
	if t != yes {
		delete(s.held, n)
		return t
	}
	since, ok := s.held[n]
	if !ok {
		since = s.at
		s.held[n] = since
	}
	return truthOf(s.at.Sub(since).Seconds() >= n.span)
}

func (s *scene) before(x, y int) truth {
	if !s.base(x).Seen() || !s.now[x].Seen() {
		return unknown
	}
	if s.onset[x].IsZero() {
		return no
	}
	return truthOf(s.onset[y].IsZero() || !s.onset[x].After(s.onset[y]))
}

// addedShare is the share of an added latency that some stages hold; missing
// without an increase, or when a stage asked for is not told apart.
func (s *scene) addedShare(n *node) (float64, bool) {
	var sum float64
	any := false
	for _, a := range s.added {
		if a.Of != n.args[0].op {
			continue
		}
		any = true
		for _, stage := range n.args[1:] {
			if a.Stage == stage.op {
				sum += a.Share
			}
		}
	}
	if !any {
		return 0, false
	}
	for _, stage := range n.args[1:] {
		i, _ := partIndex(stage.op)
		if s.coarse && !coarseStage(i) && i != partFrontend && stage.op != "batch" {
			return 0, false
		}
	}
	return sum, true
}
