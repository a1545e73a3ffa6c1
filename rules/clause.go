package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Clause is one typed expression over signals, as an on-call engineer writes it:
//
//	queue.depth >= 8 or rising(queue.depth, "10s")
//	added("ttft", "queue") >= 80%
//	up(host.other_cpu) and process.run_wait >= 20%
//
// Numbers carry units (2s, 50ms, 90%). See Functions for what can be called.
type Clause struct {
	Text    string
	root    *node
	signals []*node // the first node of each signal in it, in order
	added   []*node // its calls of added(…)
	gpu     bool    // it asks for a signal of the GPU
}

// limits keep a hostile rule file from the stack and the heap.
const (
	maxClause = 2000
	maxDepth  = 40
)

type nodeKind uint8

const (
	numberNode nodeKind = iota
	textNode
	signalNode
	callNode
	notNode
	andNode
	orNode
	compareNode
	arithNode
)

// node is one part of a clause. typ is its type: a unit, "bool" or "text".
type node struct {
	kind nodeKind
	op   string // operator or function name, or the text
	num  float64
	sig  int // signalNode: row of the table
	unit string
	bare bool // a number written without a unit takes its neighbour's
	args []*node
	text string // as written, with plain spaces
	span float64
}

const (
	boolUnit = "bool"
	textUnit = "text"
)

// ParseClause reads a clause and checks signals, units and arity.
func ParseClause(text string) (*Clause, error) {
	if len(text) > maxClause {
		return nil, fmt.Errorf("clause longer than %d bytes", maxClause)
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	root, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		return nil, fmt.Errorf("column %d: unexpected %q", t.at+1, t.text)
	}
	if root.unit != boolUnit {
		return nil, fmt.Errorf("%q is a number (%s), not a condition", root.text, unitName(root.unit))
	}
	c := &Clause{Text: strings.Join(strings.Fields(text), " "), root: root}
	root.walk(c.note)
	return c, nil
}

// note lists a node among those whose values the evidence shows.
func (c *Clause) note(n *node) {
	switch {
	case n.kind == callNode && n.op == "added":
		c.added = append(c.added, n)
	case n.kind == signalNode:
		c.gpu = c.gpu || table[n.sig].Kind == "gpu"
		if !slices.ContainsFunc(c.signals, func(m *node) bool { return m.sig == n.sig }) {
			c.signals = append(c.signals, n)
		}
	}
}

type parser struct {
	tokens []token
	i      int
}

func (p *parser) peek() token { return p.tokens[p.i] }

func (p *parser) take(text string) bool {
	if t := p.peek(); t.kind == wordToken || t.kind == signToken {
		if t.text == text {
			p.i++
			return true
		}
	}
	return false
}

func (p *parser) deeper(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("column %d: nested deeper than %d", p.peek().at+1, maxDepth)
	}
	return nil
}

func (p *parser) or(depth int) (*node, error)  { return p.chain(depth, "or", orNode, p.and) }
func (p *parser) and(depth int) (*node, error) { return p.chain(depth, "and", andNode, p.not) }

// chain reads operands joined by one logical word.
func (p *parser) chain(depth int, word string, kind nodeKind, operand func(int) (*node, error)) (*node, error) {
	if err := p.deeper(depth); err != nil {
		return nil, err
	}
	first, err := operand(depth + 1)
	if err != nil {
		return nil, err
	}
	n := &node{kind: kind, op: word, unit: boolUnit, args: []*node{first}, text: first.text}
	for p.take(word) {
		next, err := operand(depth + 1)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, next)
		n.text += " " + word + " " + next.text
	}
	if len(n.args) == 1 {
		return first, nil
	}
	for _, a := range n.args {
		if a.unit != boolUnit {
			return nil, fmt.Errorf("%q beside %q is a number, not a condition", a.text, word)
		}
	}
	return n, nil
}

func (p *parser) not(depth int) (*node, error) {
	if err := p.deeper(depth); err != nil {
		return nil, err
	}
	if !p.take("not") {
		return p.compare(depth + 1)
	}
	a, err := p.not(depth + 1)
	if err != nil {
		return nil, err
	}
	if a.unit != boolUnit {
		return nil, fmt.Errorf("%q after not is a number, not a condition", a.text)
	}
	return &node{kind: notNode, op: "not", unit: boolUnit, args: []*node{a}, text: "not " + a.text}, nil
}

func (p *parser) compare(depth int) (*node, error) {
	left, err := p.arith(depth+1, "+", "-", p.product)
	if err != nil {
		return nil, err
	}
	for _, op := range []string{"<=", ">=", "==", "!=", "<", ">"} {
		if !p.take(op) {
			continue
		}
		right, err := p.arith(depth+1, "+", "-", p.product)
		if err != nil {
			return nil, err
		}
		if err := agree(left, right, op); err != nil {
			return nil, err
		}
		return &node{kind: compareNode, op: op, unit: boolUnit, args: []*node{left, right}, text: left.text + " " + op + " " + right.text}, nil
	}
	return left, nil
}

func (p *parser) product(depth int) (*node, error) { return p.arith(depth, "*", "/", p.unary) }

// arith reads operands joined by one of two operators, left to right.
func (p *parser) arith(depth int, op1, op2 string, operand func(int) (*node, error)) (*node, error) {
	if err := p.deeper(depth); err != nil {
		return nil, err
	}
	left, err := operand(depth + 1)
	for err == nil {
		op := op1
		if !p.take(op1) {
			if op = op2; !p.take(op2) {
				return left, nil
			}
		}
		var right *node
		if right, err = operand(depth + 1); err == nil {
			left, err = combine(left, right, op)
		}
	}
	return nil, err
}

func (p *parser) unary(depth int) (*node, error) {
	if err := p.deeper(depth); err != nil {
		return nil, err
	}
	if !p.take("-") {
		return p.primary(depth + 1)
	}
	a, err := p.unary(depth + 1)
	if err != nil {
		return nil, err
	}
	zero := &node{kind: numberNode, unit: a.unit, bare: true, text: "0"}
	n, err := combine(zero, a, "-")
	if err == nil {
		n.text = "-" + a.text
	}
	return n, err
}

func (p *parser) primary(depth int) (*node, error) {
	t := p.peek()
	switch {
	case t.kind == numberToken:
		p.i++
		return number(t)
	case t.kind == textToken:
		p.i++
		return &node{kind: textNode, op: t.text, unit: textUnit, text: strconv.Quote(t.text)}, nil
	case p.take("("):
		n, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, fmt.Errorf("column %d: missing )", p.peek().at+1)
		}
		n.text = "(" + n.text + ")"
		return n, nil
	case t.kind == wordToken:
		p.i++
		if p.take("(") {
			return p.call(t, depth)
		}
		i, ok := tableIndex[t.text]
		if !ok {
			return nil, fmt.Errorf("column %d: unknown signal %q", t.at+1, t.text)
		}
		return &node{kind: signalNode, op: t.text, sig: i, unit: table[i].Unit, text: t.text}, nil
	}
	return nil, fmt.Errorf("column %d: expected a signal, a number or a function, got %q", t.at+1, t.text)
}

func (p *parser) call(name token, depth int) (*node, error) {
	n := &node{kind: callNode, op: name.text, text: name.text + "("}
	for !p.take(")") {
		if len(n.args) > 0 {
			if !p.take(",") {
				return nil, fmt.Errorf("column %d: expected , or ) in %s(…)", p.peek().at+1, name.text)
			}
			n.text += ", "
		}
		a, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, a)
		n.text += a.text
	}
	n.text += ")"
	if err := checkCall(n); err != nil {
		return nil, fmt.Errorf("column %d: %w", name.at+1, err)
	}
	return n, nil
}
