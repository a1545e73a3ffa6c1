package play

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// style is how an exporter writes numbers.
type style struct {
	name      string // python, go, plain, g or f; empty: not known
	precision int    // of g and f
}

func parseStyle(word string) (style, error) {
	switch word {
	case "python", "go", "plain":
		return style{name: word}, nil
	}
	if len(word) > 1 {
		n, err := strconv.Atoi(word[1:])
		switch {
		case err == nil && word[0] == 'g' && n >= 1 && n <= 17, err == nil && word[0] == 'f' && n >= 0 && n <= 9:
			return style{word[:1], n}, nil
		}
	}
	return style{}, fmt.Errorf("numbers %q are none of python, go, plain, g1 to g17, f0 to f9", word)
}

var (
	pythonNumber = regexp.MustCompile(`^-?(\d+\.0|.*e\+0\d\d)$`)
	goNumber     = regexp.MustCompile(`e\+[1-9]\d`)
	exponent     = regexp.MustCompile(`e[+-]\d`) // python's or Go's
)

// guess tells the style from one number as it is written.
func guess(text string) style {
	switch {
	case pythonNumber.MatchString(text):
		return style{name: "python"}
	case goNumber.MatchString(text):
		return style{name: "go"}
	}
	return style{}
}

// format writes v in the style.
func (s style) format(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'g', -1, 64) // "+Inf", "-Inf"
	}
	switch s.name {
	case "python":
		return python(v)
	case "go":
		return strconv.FormatFloat(v, 'g', -1, 64)
	case "g":
		return trimmedG(v, s.precision)
	case "f":
		return strconv.FormatFloat(v, 'f', s.precision, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// python is client_python's floatToGoString: repr, and from 1e6 on an exponent with
// a 0 before it, however many digits it has.
func python(v float64) string {
	abs := math.Abs(v)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	repr := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(repr, ".") {
		repr += ".0"
	}
	dot := strings.IndexByte(repr, '.')
	if v <= 0 || dot <= 6 {
		return repr
	}
	mantissa := strings.TrimRight(repr[:1]+"."+repr[1:dot]+repr[dot+1:], "0.")
	return fmt.Sprintf("%se+0%d", mantissa, dot-1)
}

// trimmedG is C's %.{n}g.
func trimmedG(v float64, n int) string {
	text := strconv.FormatFloat(v, 'e', n-1, 64)
	exponent, err := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if err == nil && exponent >= -4 && exponent < n {
		return trimZeros(strconv.FormatFloat(v, 'f', n-1-exponent, 64))
	}
	mantissa, tail, _ := strings.Cut(text, "e")
	return trimZeros(mantissa) + "e" + tail
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
