package enginelog

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// matcher knows lines. It is safe for concurrent use.
type matcher struct {
	filter *filter
	byLit  [][]int // rows of each literal, in the table's order
	rows   []compiled
}

// compiled is a row ready to match.
type compiled struct {
	row
	pattern *regexp.Regexp
	groups  []group
}

// group is a number of a pattern: its place and, where the line tells the unit, that of the unit.
type group struct {
	name        string
	value, unit int
}

func newMatcher(table []row) *matcher {
	m := &matcher{}
	var literals []string
	for i, r := range table {
		l := slices.Index(literals, r.literal)
		if l < 0 {
			l = len(literals)
			literals, m.byLit = append(literals, r.literal), append(m.byLit, nil)
		}
		m.byLit[l] = append(m.byLit[l], i)
		m.rows = append(m.rows, compile(r))
	}
	// Of two literals that begin alike the longer one is told first, or it never would be.
	m.filter = newFilter(literals)
	for _, e := range m.filter.ends {
		slices.SortStableFunc(e, func(a, b int) int { return len(literals[b]) - len(literals[a]) })
	}
	return m
}

func compile(r row) compiled {
	c := compiled{row: r, pattern: regexp.MustCompile(`^(?:` + r.pattern + `)`)}
	for i, name := range c.pattern.SubexpNames() {
		if name != "" && !strings.HasSuffix(name, "_unit") {
			c.groups = append(c.groups, group{name, i, c.pattern.SubexpIndex(name + "_unit")})
		}
	}
	return c
}

// match returns the row of a line and its numbers; nil when the line is of no known kind.
func (m *matcher) match(line []byte) (*compiled, []probes.LogNumber) {
	if literal, at := m.filter.next(line, 0); literal >= 0 {
		return m.known(line, literal, at)
	}
	return nil, nil
}

// known is match for a line in which a literal was found, and where to search on.
func (m *matcher) known(line []byte, literal, at int) (*compiled, []probes.LogNumber) {
	message := body(line)
	if message == nil {
		return nil, nil
	}
	tried := map[int]bool{}
	for ; literal >= 0; literal, at = m.filter.next(line, at) {
		for _, i := range m.byLit[literal] {
			if tried[i] {
				continue
			}
			tried[i] = true
			if numbers, ok := m.rows[i].numbers(message); ok {
				return &m.rows[i], numbers
			}
		}
	}
	return nil, nil
}

// numbers reads a message that may be of the row.
func (c *compiled) numbers(message []byte) ([]probes.LogNumber, bool) {
	places := c.pattern.FindSubmatchIndex(message)
	if places == nil {
		return nil, false
	}
	text := func(group int) string {
		if group < 0 || places[2*group] < 0 {
			return ""
		}
		return string(message[places[2*group]:places[2*group+1]])
	}
	var out []probes.LogNumber
	for _, g := range c.groups {
		x, ok := number(text(g.value), text(g.unit))
		if by, scaled := c.scale[g.name]; scaled {
			x *= by
		}
		if !ok || x > mostOf(g.name) {
			continue
		}
		out = append(out, probes.LogNumber{Name: g.name, Value: x})
	}
	return out, c.reached(out)
}

// reached reports that the numbers are not below the row's floors.
func (c *compiled) reached(numbers []probes.LogNumber) bool {
	for name, least := range c.floor {
		if !slices.ContainsFunc(numbers, func(n probes.LogNumber) bool { return n.Name == name && n.Value >= least }) {
			return false
		}
	}
	return true
}

var units = [...]struct {
	name  string
	bytes float64
}{{"", 1}, {"bytes", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"GB", 1 << 30}}

// number reads digits, with or without commas between thousands, in a unit. What engines
// print as GB is 2^30 bytes (vLLM and SGLang divide by that).
func number(digits, unit string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, false
	}
	for _, u := range units {
		if u.name == unit {
			return x * u.bytes, true
		}
	}
	return 0, false
}

// mostOf is the highest value that a number can have; above it what was read is something else.
func mostOf(name string) float64 {
	switch name {
	case "kv_usage_ratio":
		return 2 // some engines overbook by a little
	case "xid":
		return 9999 // NVIDIA's catalog ends below 200
	case "rank", "count", "shapes":
		return 1e6
	case "running", "waiting", "retracted_requests", "seconds":
		return 1e9
	}
	return 1e15
}
