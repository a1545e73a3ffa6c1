package rules

import (
	"fmt"
	"time"
)

func unitName(u string) string {
	switch u {
	case "":
		return "no unit"
	case boolUnit:
		return "condition"
	case textUnit:
		return "text"
	}
	return u
}

// pure are numbers without a dimension: they compare with each other.
func pure(u string) bool { return u == "" || u == "ratio" || u == "count" }

// agree checks that two sides are of one unit. A bare number takes the other
// side's unit, except seconds and bytes, which must say their scale (0 need not).
func agree(a, b *node, op string) error {
	for _, n := range []*node{a, b} {
		if n.unit == boolUnit || n.unit == textUnit {
			return fmt.Errorf("%q %s %q: a %s is not a number", a.text, op, b.text, unitName(n.unit))
		}
	}
	if a.unit == b.unit || (pure(a.unit) && pure(b.unit)) || takes(a, b) || takes(b, a) {
		return nil
	}
	return fmt.Errorf("%q %s %q: %s against %s", a.text, op, b.text, unitName(a.unit), unitName(b.unit))
}

// takes reports whether the bare number takes the unit of the other side.
func takes(number, other *node) bool {
	scaled := other.unit == "s" || other.unit == "bytes" || other.unit == "bytes/s" || other.unit == "s/token"
	return number.kind == numberNode && number.bare && (!scaled || number.num == 0)
}

// combine makes the node of an arithmetic operator with its unit.
func combine(a, b *node, op string) (*node, error) {
	n := &node{kind: arithNode, op: op, args: []*node{a, b}, text: a.text + " " + op + " " + b.text}
	switch op {
	case "+", "-":
		if err := agree(a, b, op); err != nil {
			return nil, err
		}
		if n.unit = a.unit; a.bare && a.kind == numberNode {
			n.unit = b.unit
		}
		return n, nil
	}
	for _, x := range []*node{a, b} {
		if x.unit == boolUnit || x.unit == textUnit {
			return nil, fmt.Errorf("%q %s %q: a %s is not a number", a.text, op, b.text, unitName(x.unit))
		}
	}
	switch {
	case pure(b.unit):
		n.unit = a.unit
	case op == "*" && pure(a.unit):
		n.unit = b.unit
	case op == "*":
		n.unit = a.unit + "·" + b.unit
	case a.unit == b.unit:
		n.unit = "ratio"
	case pure(a.unit):
		n.unit = "1/" + b.unit
	default:
		n.unit = a.unit + "/" + b.unit
	}
	return n, nil
}

// Function is one that clauses may call.
type Function struct {
	Name, Use, Says string
}

// Functions lists what clauses may call.
func Functions() []Function {
	return []Function{
		{"up", "up(x) or up(x, 2)", "x is 1.5 times its baseline or more (or the factor given), and by more than the signal's step"},
		{"down", "down(x) or down(x, 2)", "x is its baseline over 1.5 or less, and by more than the signal's step"},
		{"flat", "flat(x) or flat(x, 15%)", "x is within 30 % of its baseline (or the share given), or within the signal's step"},
		{"held", `held(condition, "5s")`, "the condition has held at every tick for that long"},
		{"rising", `rising(x, "10s")`, "x grew over that time by its step or more, along a line"},
		{"before", "before(x, y)", "x left its baseline before y did, or with it"},
		{"corr", `corr(x, y) or corr(x, y, "60s")`, "correlation of two signals over the last 30 s, −1 to 1"},
		{"added", `added("ttft", "queue", …)`, "share of the added TTFT (tpot, e2e) that these stages hold"},
	}
}

// checkCall checks name, arity and argument types and sets the node's unit.
func checkCall(n *node) error {
	sig := func(i int) bool { return i < len(n.args) && n.args[i].kind == signalNode }
	bad := func() error {
		for _, f := range Functions() {
			if f.Name == n.op {
				return fmt.Errorf("%s: wanted %s", n.text, f.Use)
			}
		}
		return fmt.Errorf("unknown function %q", n.op)
	}
	n.unit = boolUnit
	switch n.op {
	case "up", "down", "flat":
		if !sig(0) || len(n.args) > 2 {
			return bad()
		}
		if len(n.args) == 2 {
			if f := n.args[1]; f.kind != numberNode || !pure(f.unit) || f.num <= 0 {
				return bad()
			}
		}
		return nil
	case "held":
		if len(n.args) != 2 || n.args[0].unit != boolUnit || !n.duration(1) {
			return bad()
		}
		return nil
	case "rising":
		if len(n.args) != 2 || !sig(0) || !n.duration(1) {
			return bad()
		}
		return nil
	case "before":
		if len(n.args) != 2 || !sig(0) || !sig(1) {
			return bad()
		}
		return nil
	case "corr":
		n.unit = "ratio"
		if n.span = 30; !sig(0) || !sig(1) || len(n.args) > 3 || (len(n.args) == 3 && !n.duration(2)) {
			return bad()
		}
		return nil
	case "added":
		n.unit = "ratio"
		if len(n.args) < 2 || n.args[0].kind != textNode || (n.args[0].op != "ttft" && n.args[0].op != "tpot" && n.args[0].op != "e2e") {
			return bad()
		}
		for _, a := range n.args[1:] {
			if _, ok := partIndex(a.op); !ok || a.kind != textNode {
				return fmt.Errorf("%s: unknown stage %s", n.text, a.text)
			}
		}
		return nil
	}
	return bad()
}

// duration reads argument i, a text like "5s", of at most ten minutes.
func (n *node) duration(i int) bool {
	if n.args[i].kind != textNode {
		return false
	}
	d, err := time.ParseDuration(n.args[i].op)
	n.span = d.Seconds()
	return err == nil && d > 0 && d <= 10*time.Minute
}
