package rules

import "strings"

// evidence evaluates a clause and says what it saw. why is not empty when the
// result is unknown.
func (s *scene) evidence(c *Clause, kind string) (e Evidence, result truth, why string) {
	result = s.cond(c.root)
	e = Evidence{Clause: c.Text, Kind: kind, Says: s.say(c.root, result), Holds: result == yes}
	e.Values = make([]Value, 0, len(c.signals)+len(c.added))
	for _, n := range c.signals {
		v, ok := s.now[n.sig].Get()
		if !ok {
			if why == "" {
				why = s.title(n) + " " + s.now[n.sig].Why().String()
			}
			continue
		}
		value := Value{Signal: table[n.sig].Name, Value: v, Unit: table[n.sig].Unit}
		if b, ok := s.base(n.sig).Get(); ok {
			value.Baseline = &b
		}
		e.Values = append(e.Values, value)
	}
	for _, n := range c.added {
		if v, ok := s.addedShare(n); ok {
			e.Values = append(e.Values, Value{Signal: n.text, Value: v, Unit: "ratio"})
		} else if why == "" {
			why = "no split of the added " + n.args[0].op + " into these stages"
		}
	}
	if result != unknown {
		why = ""
	} else if why == "" {
		why = "no baseline or too little history"
	}
	return e, result, why
}

// blind reports a clause about the GPU where no GPU can be read: whatever the rest of
// it says, it has ruled nothing out.
func (s *scene) blind(c *Clause) bool {
	for _, n := range c.signals {
		if table[n.sig].Kind == "gpu" && s.now[n.sig].Seen() {
			return false
		}
	}
	return c.gpu
}

func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, a := range n.args {
		a.walk(visit)
	}
}

// about is the first signal of a condition, −1 without one.
func (n *node) about() int {
	first := -1
	n.walk(func(n *node) {
		if first < 0 && n.kind == signalNode {
			first = n.sig
		}
	})
	return first
}

// say puts a condition and its result into words.
func (s *scene) say(n *node, result truth) string {
	switch n.kind {
	case notNode:
		return s.say(n.args[0], -result)
	case andNode, orNode:
		return s.sayJoined(n, result)
	case compareNode:
		return s.sayCompare(n, result)
	case callNode:
		return s.sayCall(n, result)
	}
	return n.text
}

// sayJoined tells the parts that decided: all of a true and, the true ones of a true or, and so on.
func (s *scene) sayJoined(n *node, result truth) string {
	var said []string
	about := map[int]bool{}
	for _, a := range n.args {
		t := s.cond(a)
		if (n.kind == orNode && result == yes && t != yes) || (n.kind == andNode && result == no && t != no) {
			continue
		}
		if result != unknown && t == unknown {
			continue
		}
		if i := a.about(); n.kind == orNode && result == yes && i >= 0 {
			if about[i] {
				continue // of one signal, one reason is enough
			}
			about[i] = true
		}
		if said = append(said, s.say(a, t)); n.kind == andNode && result == no {
			break // one is enough
		}
	}
	return strings.Join(said, ", ")
}

func (s *scene) sayCompare(n *node, result truth) string {
	left, right := n.args[0], n.args[1]
	unit := left.unit
	if left.kind == numberNode {
		unit = right.unit
	}
	v, ok := s.num(left)
	limit, ok2 := s.num(right)
	if !ok {
		return s.title(left) + " not seen"
	}
	if !ok2 {
		return s.title(right) + " not seen"
	}
	if n.op == "==" && result == yes {
		return s.title(left) + " " + s.shown(left, v, unit)
	}
	op := signs[n.op]
	if result == no {
		op = opposites[n.op]
	}
	limitText := s.shown(right, limit, unit)
	if right.kind != numberNode {
		limitText += " = " + s.title(right)
	}
	return s.title(left) + " " + s.shown(left, v, unit) + " (" + op + " " + limitText + ")"
}

// How comparisons are written for people when they hold, and when they do not.
var (
	signs     = map[string]string{"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}
	opposites = map[string]string{"<": "≥", "<=": ">", ">": "≤", ">=": "<", "==": "≠", "!=": "="}
)

// title names a number for people.
func (s *scene) title(n *node) string {
	switch n.kind {
	case signalNode:
		if row := table[n.sig]; strings.HasPrefix(row.Name, "stage.") && row.Unit == "s" {
			return "time in " + row.Title
		}
		return table[n.sig].Title
	case callNode:
		if n.op == "added" {
			var stages []string
			for _, a := range n.args[1:] {
				stages = append(stages, a.op)
			}
			return strings.Join(stages, " and ") + " share of the added " + strings.ToUpper(n.args[0].op)
		}
		return "correlation of " + s.title(n.args[0]) + " and " + s.title(n.args[1])
	case arithNode:
		return s.title(n.args[0]) + " " + strings.Replace(n.op, "*", "×", 1) + " " + s.title(n.args[1])
	}
	return n.text
}

func (s *scene) sayCall(n *node, result truth) string {
	is := [...]string{"not ", "perhaps ", ""}[result-no]
	if n.op == "held" {
		return s.say(n.args[0], s.cond(n.args[0])) + ", " + is + "for " + Format(n.span, "s")
	}
	x := n.args[0]
	v, ok := s.now[x.sig].Get()
	if !ok {
		return s.title(x) + " not seen"
	}
	switch n.op {
	case "rising":
		return s.title(x) + " " + is + "rising over " + Format(n.span, "s") + ", now " + s.shown(x, v, x.unit)
	case "before":
		return s.title(x) + " " + is + "moved before " + s.title(n.args[1])
	}
	b, ok := s.base(x.sig).Get()
	if !ok {
		return s.title(x) + " " + s.shown(x, v, x.unit) + ", no baseline to tell whether it is " + n.op
	}
	return s.title(x) + " " + is + n.op + ": " + changeTo(b, v, s.shown(x, v, x.unit), x.unit)
}

// shown writes a number; of a signal that a histogram tells, no more than is known.
func (s *scene) shown(n *node, v float64, unit string) string {
	if n.kind == signalNode && n.sig < len(s.buckets) {
		return s.buckets[n.sig].Format(v, unit)
	}
	return Format(v, unit)
}
