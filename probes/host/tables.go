package host

import (
	"bytes"
	"strconv"

	"llmtop/probes"
)

// The kernel's tables are read every second; what takes them apart takes no memory.

// words splits a line at blanks, into the memory of into: as many as have room there.
func words(line []byte, into [][]byte) [][]byte {
	into = into[:0]
	start := -1 // of the word that is being read
	for i, c := range line {
		switch blank := c == ' ' || c == '\t'; {
		case !blank && start < 0:
			if len(into) == cap(into) {
				return into
			}
			start = i
		case blank && start >= 0:
			into, start = append(into, line[start:i]), -1
		}
	}
	if start >= 0 {
		into = append(into, line[start:])
	}
	return into
}

// nextLine cuts the first line off.
func nextLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return line, rest
}

// unsigned reads a number.
func unsigned(word []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(word), 10, 64)
	return n, err == nil
}

// reading is a number of a table in the unit that scale makes of it.
func reading(word []byte, scale float64) probes.Opt[float64] {
	n, ok := unsigned(word)
	if !ok {
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(float64(n) * scale)
}

// keyed reads the number of a "key value" line of a file that was read with err.
func keyed(text []byte, err error, key string, scale float64) probes.Opt[float64] {
	if err != nil {
		return probes.None[float64](why(err))
	}
	if v, ok := value(text, key); ok {
		return probes.Some(v * scale)
	}
	return probes.None[float64](probes.NotExposed)
}
