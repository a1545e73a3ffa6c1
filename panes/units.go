package panes

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"llmtop/probes"
)

// missing is what stands where nobody has read anything; never 0.
const missing = "–"

// seconds prints a duration in the unit a person would say: 420 µs, 3.1 ms, 38 ms, 2.41 s, 140 s.
func seconds(v float64) string {
	number, unit := scaleSeconds(v, v)
	return number + " " + unit
}

// scaleSeconds prints v in the unit that suits ref.
func scaleSeconds(v, ref float64) (number, unit string) {
	switch a := math.Abs(ref); {
	case a == 0:
		return digits(v * 1e3), "ms"
	case a < 0.9995e-3:
		return digits(v * 1e6), "µs"
	case a < 0.9995:
		return digits(v * 1e3), "ms"
	}
	return digits(v), "s"
}

// digits prints two to three significant digits and no exponent.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 0.005:
		return "<0.01"
	case a < 9.95:
		if a < 0.995 {
			return strconv.FormatFloat(v, 'f', 2, 64)
		}
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// change prints from→to in one unit: 0.12→2.4 s.
func change(from, to float64, unit string) string {
	if unit == "s" || unit == "seconds" {
		ref := math.Max(math.Abs(from), math.Abs(to))
		if math.Min(math.Abs(from), math.Abs(to)) < ref/30 {
			return seconds(from) + "→" + seconds(to) // one unit would leave one digit
		}
		f, u := scaleSeconds(from, ref)
		t, _ := scaleSeconds(to, ref)
		return f + "→" + t + " " + u
	}
	if isRatio(unit) {
		return digits(from*100) + "→" + digits(to*100) + " %"
	}
	return amount(from, unit) + "→" + amount(to, unit)
}

func isRatio(unit string) bool { return unit == "ratio" || unit == "share" || unit == "%" }

// amount prints a signal's value in its table unit.
func amount(v float64, unit string) string {
	switch unit {
	case "s", "seconds":
		return seconds(v)
	case "ratio", "share", "%":
		return percent(v)
	case "B", "bytes":
		return byteSize(v)
	case "bytes/s":
		return byteSize(v) + "/s"
	case "1/s", "/s", "per second":
		return count(v) + "/s"
	case "tokens/s", "tok/s":
		return count(v) + " tok/s"
	case "Hz", "hertz":
		return strconv.FormatFloat(v/1e9, 'f', 2, 64) + " GHz"
	case "W", "watts":
		return digits(v) + " W"
	case "C", "°C", "celsius":
		return digits(v) + " °C"
	case "", "1", "count", "requests", "sequences", "tokens":
		return count(v)
	}
	return count(v) + " " + unit
}

// percent prints a ratio; more than nothing is never shown as 0.
func percent(v float64) string {
	if v > 0 && v < 0.005 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", v*100)
}

// count prints a number with k, M, G from a thousand on.
func count(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 999.5e6:
		return digits(v/1e9) + "G"
	case a >= 999.5e3:
		return digits(v/1e6) + "M"
	case a >= 9999.5:
		return digits(v/1e3) + "k"
	case a == math.Trunc(a):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return digits(v)
}

// byteSize prints a size in binary units.
func byteSize(v float64) string {
	for _, u := range [...]struct {
		size float64
		name string
	}{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if math.Abs(v) >= u.size {
			return digits(v/u.size) + " " + u.name
		}
	}
	return digits(v) + " B"
}

// span of time for people: 14 s, 3 min, 2 h, 5 d.
func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 99500*time.Millisecond:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 99*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f d", d.Hours()/24)
}

// clock is a time of day in UTC, as logs have it.
func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }

// show prints a reading that may be missing.
func show(o probes.Opt[float64], print func(float64) string) string {
	if v, ok := o.Get(); ok {
		return print(v)
	}
	return missing
}
