package main

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"llmtop/probes"
)

// shown is one reading as text: its name in a sample, and its value or why there is none.
type shown struct {
	name   string
	text   string
	absent string  // the reason, when there is no value
	number float64 // the value, when it is one
	is     bool    // a number
}

// readingsOf lists the readings of a struct of package probes under their JSON names, those
// of an inner struct after its name and a dot. Lists are left out, plain fields that are zero,
// and when it was read.
func readingsOf(v any) []shown { return appendReadings(nil, "", reflect.Indirect(reflect.ValueOf(v))) }

func appendReadings(to []shown, prefix string, v reflect.Value) []shown {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		name = prefix + name
		field := v.Field(i)
		switch x := field.Interface().(type) {
		case probes.Opt[float64]:
			to = append(to, optional(name, x, func(f float64) float64 { return f }))
		case probes.Opt[uint64]:
			to = append(to, optional(name, x, func(u uint64) float64 { return float64(u) }))
		case time.Time:
			if name != "at" && !x.IsZero() {
				to = append(to, shown{name: name, text: x.Format("2006-01-02T15:04:05Z07:00")})
			}
		default:
			switch {
			case field.Kind() == reflect.Struct:
				to = appendReadings(to, name+".", field)
			case field.Kind() != reflect.Slice && !field.IsZero():
				to = append(to, shown{name: name, text: probes.Printable(plainValue(field.Interface()), 120)})
			}
		}
	}
	return to
}

func optional[T any](name string, o probes.Opt[T], number func(T) float64) shown {
	v, ok := o.Get()
	if !ok {
		return shown{name: name, absent: whyAbsent(o.Why())}
	}
	n := number(v)
	return shown{name: name, text: quantity(n, unitOf(name)), number: n, is: true}
}

// whyAbsent puts a reason into words; what nobody has read yet has not been asked for, or
// the probe that would read it found nothing.
func whyAbsent(why probes.Absence) string {
	if why == probes.NotSeen {
		return "not read"
	}
	return why.String()
}

// plainValue is a value as JSON would write it, without the quotes.
func plainValue(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return strings.Trim(string(b), `"`)
}

// unitOf is the unit that the name of a reading tells, as GPUReadings write it.
func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for _, u := range []struct{ suffix, unit string }{
		{"_bytes_per_second", "bytes/s"}, {"_bytes", "bytes"}, {"_ratio", "ratio"}, {"_seconds", "s"},
		{"_hertz", "Hz"}, {"_hz", "Hz"}, {"_watts", "W"}, {"_joules", "J"}, {"_celsius", "°C"},
	} {
		if strings.HasSuffix(name, u.suffix) {
			return u.unit
		}
	}
	return "count"
}

// quantity is a number with its unit, in a form for people.
func quantity(v float64, unit string) string {
	switch unit {
	case "ratio":
		return trimmed(100*v, 1) + " %"
	case "bytes", "bytes/s":
		return scaled(v, 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB") + strings.TrimPrefix(unit, "bytes")
	case "Hz": // as everybody writes a GPU's clocks
		return trimmed(v/1e6, 1) + " MHz"
	case "J":
		return scaled(v, 1000, "J", "kJ", "MJ", "GJ")
	case "s":
		return shortTime(v)
	case "bool":
		if v != 0 {
			return "yes"
		}
		return "no"
	case "count":
		return trimmed(v, 2)
	}
	return trimmed(v, 1) + " " + unit
}

// scaled divides by base until the number is small.
func scaled(v, base float64, units ...string) string {
	i := 0
	for math.Abs(v) >= base && i < len(units)-1 {
		v, i = v/base, i+1
	}
	return trimmed(v, 2) + " " + units[i]
}

// shortTime is a time from microseconds on.
func shortTime(v float64) string {
	switch a := math.Abs(v); {
	case a == 0 || a >= 1:
		return trimmed(v, 2) + " s"
	case a >= 1e-3:
		return trimmed(v*1e3, 1) + " ms"
	}
	return trimmed(v*1e6, 0) + " µs"
}

// trimmed is a number with at most some decimals, fewer the larger it is.
func trimmed(v float64, decimals int) string {
	switch a := math.Abs(v); {
	case a >= 100:
		decimals = 0
	case a >= 10:
		decimals = min(decimals, 1)
	}
	s := fmt.Sprintf("%.*f", decimals, v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	return s
}

// withGrowth adds to counters what they grew by since the first read.
func withGrowth(now, before []shown) []shown {
	was := numbersOf(before)
	for i, n := range now {
		if from, ok := was[n.name]; ok && n.is && strings.HasSuffix(n.name, "_total") && n.number != from {
			now[i].text += " (" + signed(n.number-from, unitOf(n.name)) + ")"
		}
	}
	return now
}

// numbersOf are the values of those that have one.
func numbersOf(list []shown) map[string]float64 {
	numbers := map[string]float64{}
	for _, s := range list {
		if s.is {
			numbers[s.name] = s.number
		}
	}
	return numbers
}

// signed is a difference.
func signed(v float64, unit string) string {
	if v > 0 {
		return "+" + quantity(v, unit)
	}
	return quantity(v, unit)
}
