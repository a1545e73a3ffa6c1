package scrape

import (
	"bytes"
	"math"
	"strconv"
)

// maxLine bounds a line; vLLM's cache_config_info, the longest in practice, has about 2 KB.
const maxLine = 64 << 10

// nextLine cuts the first line off text, without leading blanks and without its
// line end (\n or \r\n).
func nextLine(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		line, rest = text[:i], text[i+1:]
	} else {
		line = text
	}
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	for len(line) > 0 && blank(line[0]) {
		line = line[1:]
	}
	return line, rest
}

// splitSample cuts a sample line into what names the series and its value. A
// timestamp and an OpenMetrics exemplar after the value are dropped.
func splitSample(line []byte) (identity []byte, value float64, ok bool) {
	end := identityEnd(line)
	if end <= 0 {
		return nil, 0, false
	}
	identity = line[:end]
	value, ok = splitValue(line[end:])
	return identity, value, ok
}

// splitValue reads the value from what follows the identity.
func splitValue(rest []byte) (float64, bool) {
	i := 0
	for i < len(rest) && blank(rest[i]) {
		i++
	}
	j := i
	for j < len(rest) && !blank(rest[j]) {
		j++
	}
	if i == j || !timestampOrExemplar(rest[j:]) {
		return 0, false
	}
	return number(rest[i:j])
}

// identityEnd finds where name and labels end: at the closing brace outside
// quotes, or at the first blank of a line without labels. 0 when neither comes.
func identityEnd(line []byte) int {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '{':
			return braceEnd(line, i+1)
		case blank(c):
			for j := i; j < len(line); j++ { // "name {a="b"} 1" is legal
				if !blank(line[j]) {
					if line[j] == '{' {
						return braceEnd(line, j+1)
					}
					break
				}
			}
			return i
		}
	}
	return 0
}

func braceEnd(line []byte, i int) int {
	quoted := false
	for ; i < len(line); i++ {
		switch line[i] {
		case '\\':
			if quoted {
				i++
			}
		case '"':
			quoted = !quoted
		case '}':
			if !quoted {
				return i + 1
			}
		}
	}
	return 0
}

// timestampOrExemplar accepts what may follow a value: nothing, an integer, a comment.
func timestampOrExemplar(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	if len(b) == 0 || b[0] == '#' {
		return true
	}
	if i := bytes.IndexByte(b, '#'); i > 0 {
		b = b[:i]
	}
	_, ok := number(bytes.TrimRight(b, " \t"))
	return ok
}

// number parses a value as Prometheus does; a sign before NaN, which C printf
// writes, is no error.
func number(b []byte) (float64, bool) {
	if len(b) == 4 && (b[0] == '-' || b[0] == '+') && bytes.EqualFold(b[1:], []byte("nan")) {
		return math.NaN(), true
	}
	if f, ok := small(b); ok {
		return f, true
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// small is the fast way for what most values are: an integer, maybe with ".0".
func small(b []byte) (float64, bool) {
	if n := len(b); n > 2 && b[n-1] == '0' && b[n-2] == '.' {
		b = b[:n-2]
	}
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	var v int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return float64(v), true
}

func blank(c byte) bool { return c == ' ' || c == '\t' }
