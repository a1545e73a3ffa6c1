package truth

import (
	"math"
	"strconv"
	"strings"
	"time"

	"llmtop/rules"
)

// shown is a number as it is written for people, in base units.
type shown struct {
	text         string
	value, digit float64 // the last digit displayed
	below, above bool    // only a bound is told: "< 300 ms"
}

// holds reports that a number may be written so.
func (q shown) holds(truth float64) bool {
	switch {
	case q.below:
		return truth <= q.value+q.digit
	case q.above:
		return truth >= q.value-q.digit
	}
	return math.Abs(q.value-truth) <= tolerance*math.Abs(truth)+q.digit*(half+1e-9)
}

// Numbers may differ by so much of themselves; what is displayed also by the rounding of its
// last digit.
const (
	tolerance = 0.01
	half      = 0.5
)

// scale is a unit as it is written and what it is worth.
type scale struct {
	suffix string
	worth  float64
}

// scales are how numbers of a unit may be written, the longest suffix first.
func scales(unit string) []scale {
	switch unit {
	case "s":
		return []scale{{" ms", 1e-3}, {" µs", 1e-6}, {" s", 1}}
	case "s/token":
		return []scale{{" ms a token", 1e-3}, {" µs a token", 1e-6}, {" s a token", 1}}
	case "ratio":
		return []scale{{" %", 0.01}}
	case "1/s":
		return []scale{{"/s", 1}}
	case "bytes", "bytes/s":
		per := strings.TrimPrefix(unit, "bytes")
		return []scale{{" GiB" + per, 1 << 30}, {" MiB" + per, 1 << 20}, {" KiB" + per, 1 << 10}, {" B" + per, 1}}
	case "count", "":
		return []scale{{"", 1}}
	}
	return []scale{{" " + unit, 1}}
}

// quantity reads a number with its unit at the beginning of a text.
func quantity(text, unit string) (q shown, rest string, ok bool) {
	rest, q.below = strings.CutPrefix(text, "< ")
	rest, q.above = strings.CutPrefix(rest, "> ")
	end := 0
	for end < len(rest) && strings.IndexByte("-0123456789.", rest[end]) >= 0 {
		end++
	}
	value, err := strconv.ParseFloat(rest[:end], 64)
	if err != nil {
		return q, text, false
	}
	decimals := 0
	if _, after, found := strings.Cut(rest[:end], "."); found {
		decimals = len(after)
	}
	rest = rest[end:]
	for _, s := range scales(unit) {
		if after, found := strings.CutPrefix(rest, s.suffix); found {
			q.text = strings.TrimSuffix(text, after)
			q.value, q.digit = value*s.worth, math.Pow10(-decimals)*s.worth
			return q, after, true
		}
	}
	return q, text, false
}

// digit is the last digit that is displayed of a number of a unit.
func digit(v float64, unit string) float64 {
	q, _, _ := quantity(rules.Format(v, unit), unit)
	return q.digit
}

// literals are the numbers of a clause in base units, those in quotes too.
func literals(clause string) (out []float64) {
	for _, word := range strings.FieldsFunc(clause, func(r rune) bool { return strings.ContainsRune(` ()",*/+<>=!`, r) }) {
		end := 0
		for end < len(word) && (word[end] >= '0' && word[end] <= '9' || word[end] == '.') {
			end++
		}
		x, err := strconv.ParseFloat(word[:end], 64)
		if err != nil {
			continue
		}
		if d, err := time.ParseDuration(word); err == nil {
			x = d.Seconds()
		} else if worth, ok := suffixes[word[end:]]; ok {
			x *= worth
		}
		out = append(out, x)
	}
	return out
}

// suffixes are units of clauses that are not their own base.
var suffixes = map[string]float64{"%": 0.01, "min": 60, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
