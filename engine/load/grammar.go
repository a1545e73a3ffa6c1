package load

import (
	"math/rand/v2"
	"strings"
)

// grammar writes sentences: "[a|b|c]" picks one branch, branches may nest or be
// empty.
type grammar struct{ rng *rand.Rand }

func (g grammar) write(s string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '[')
		if open < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:open])
		branches, rest := split(s[open+1:])
		b.WriteString(g.write(branches[g.rng.IntN(len(branches))]))
		s = rest
	}
}

// split returns the branches up to the bracket that closes, and what follows it.
func split(s string) (branches []string, rest string) {
	depth, from := 0, 0
	for i := range len(s) {
		switch {
		case s[i] == '[':
			depth++
		case s[i] == ']' && depth == 0:
			return append(branches, s[from:i]), s[i+1:]
		case s[i] == ']':
			depth--
		case s[i] == '|' && depth == 0:
			branches = append(branches, s[from:i])
			from = i + 1
		}
	}
	return append(branches, s[from:]), ""
}

func (g grammar) pick(of []string) string { return g.write(of[g.rng.IntN(len(of))]) }

// between draws a number from lo to hi, both included.
func (g grammar) between(lo, hi int) int { return lo + g.rng.IntN(hi-lo+1) }
