package rules

import (
	"fmt"
	"strconv"
	"strings"
)

type tokenKind uint8

const (
	endToken tokenKind = iota
	numberToken
	textToken
	wordToken
	signToken
)

type token struct {
	kind tokenKind
	text string // a number's digits; a word; a sign; the inside of a text
	unit string // a number's unit as written
	at   int
}

// lex cuts a clause into tokens, the last of which is endToken.
func lex(s string) ([]token, error) {
	var out []token
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case isDigit(c):
			j := runOf(s, i, func(c byte) bool { return isDigit(c) || c == '.' })
			k := runOf(s, j, func(c byte) bool { return isLetter(c) || c == '%' || c >= 0x80 })
			if strings.HasPrefix(s[k:], "/s") && units[s[j:k]].unit == "bytes" {
				if word := runOf(s, k+1, inWord); word == k+len("/s") { // and not the name of a signal
					k = word
				}
			}
			out = append(out, token{numberToken, s[i:j], s[j:k], i})
			i = k
		case isLetter(c):
			j := runOf(s, i, inWord)
			out = append(out, token{kind: wordToken, text: s[i:j], at: i})
			i = j
		case c == '"':
			j := strings.IndexByte(s[i+1:], '"')
			if j < 0 {
				return nil, fmt.Errorf("column %d: text without its closing quote", i+1)
			}
			out = append(out, token{kind: textToken, text: s[i+1 : i+1+j], at: i})
			i += j + 2
		case strings.HasPrefix(s[i:], "<=") || strings.HasPrefix(s[i:], ">=") || strings.HasPrefix(s[i:], "==") || strings.HasPrefix(s[i:], "!="):
			out = append(out, token{kind: signToken, text: s[i : i+2], at: i})
			i += 2
		case strings.IndexByte("<>+-*/(),", c) >= 0:
			out = append(out, token{kind: signToken, text: s[i : i+1], at: i})
			i++
		default:
			return nil, fmt.Errorf("column %d: unexpected character %q", i+1, c)
		}
	}
	return append(out, token{text: "end of clause", at: len(s)}), nil
}

func runOf(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

func inWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '.' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// units are the endings a number may have: the unit it is in and its factor.
var units = map[string]struct {
	unit   string
	factor float64
}{
	"us": {"s", 1e-6}, "ms": {"s", 1e-3}, "s": {"s", 1}, "min": {"s", 60},
	"%": {"ratio", 0.01}, "W": {"W", 1}, "C": {"°C", 1}, "cores": {"cores", 1}, "tokens": {"tokens", 1},
	"KiB": {"bytes", 1 << 10}, "MiB": {"bytes", 1 << 20}, "GiB": {"bytes", 1 << 30},
	"KiB/s": {"bytes/s", 1 << 10}, "MiB/s": {"bytes/s", 1 << 20}, "GiB/s": {"bytes/s", 1 << 30},
}

func number(t token) (*node, error) {
	v, err := strconv.ParseFloat(t.text, 64)
	if err != nil {
		return nil, fmt.Errorf("column %d: %q is not a number", t.at+1, t.text)
	}
	n := &node{kind: numberNode, num: v, text: t.text + t.unit}
	if t.unit == "" {
		n.bare = true
		return n, nil
	}
	u, ok := units[t.unit]
	if !ok {
		return nil, fmt.Errorf("column %d: unknown unit %q", t.at+1, t.unit)
	}
	n.num, n.unit = v*u.factor, u.unit
	return n, nil
}
