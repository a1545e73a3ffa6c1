package rules

import (
	"fmt"
	"math"
	"strconv"
)

// Format writes a value for people in at most 4 significant digits: 0.0853 s as
// "85 ms", 0.91 of a ratio as "91 %", 3e9 bytes as "2.8 GiB".
func Format(v float64, unit string) string {
	switch unit {
	case "s":
		return seconds(v)
	case "s/token":
		return seconds(v) + " a token"
	case "ratio":
		return strconv.FormatFloat(v*100, 'f', digitsFor(v*100, 1), 64) + " %"
	case "1/s":
		return plain(v) + "/s"
	case "bytes/s":
		return Format(v, "bytes") + "/s"
	case "bytes":
		for _, u := range []struct {
			name string
			size float64
		}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
			if math.Abs(v) >= u.size {
				return plain(v/u.size) + " " + u.name
			}
		}
		return plain(v) + " B"
	case "count", "":
		return plain(v)
	}
	return plain(v) + " " + unit
}

func seconds(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0 s"
	case a < 1e-3:
		return plain(v*1e6) + " µs"
	case a < 0.9995:
		return plain(v*1e3) + " ms"
	}
	return plain(v) + " s"
}

// plain has two significant digits at least and no fraction from 10 on.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', digitsFor(v, 2), 64) }

func digitsFor(v float64, most int) int {
	switch a := math.Abs(v); {
	case a >= 9.95 || a == math.Trunc(a):
		return 0
	case a >= 0.995:
		return min(most, 1)
	}
	return most
}

// change says how a number moved: "85 ms → 2.4 s (28×)".
func change(from, to float64, unit string) string { return changeTo(from, to, Format(to, unit), unit) }

// changeTo is change with the new number already written.
func changeTo(from, to float64, shown, unit string) string {
	s := Format(from, unit) + " → " + shown
	if from > 0 && to/from >= 1.1 && unit != "ratio" {
		s += fmt.Sprintf(" (%s×)", plain(to/from))
	}
	return s
}
