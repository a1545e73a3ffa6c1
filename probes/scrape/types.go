package scrape

import (
	"bytes"
	"strings"

	"llmtop/probes"
)

// families holds what the TYPE lines of a page say.
type families map[string]probes.MetricType

// note takes what a TYPE line says; the first of a family wins, later ones are ignored.
func (f families) note(name, word []byte) {
	if _, known := f[string(name)]; !known {
		f[string(name)] = metricType(string(word))
	}
}

// typeLine takes "# TYPE name word" apart. One that is too long to be true is none.
func typeLine(line []byte) (name, word []byte, ok bool) {
	if len(line) > maxLine {
		return nil, nil, false
	}
	first, rest := nextWord(line[1:])
	if string(first) != "TYPE" {
		return nil, nil, false
	}
	name, rest = nextWord(rest)
	word, _ = nextWord(rest)
	return name, word, len(word) > 0
}

// nextWord cuts the first word off; it is empty when there is none.
func nextWord(b []byte) (word, rest []byte) {
	b = bytes.TrimLeft(b, " \t")
	if i := bytes.IndexAny(b, " \t"); i >= 0 {
		return b[:i], b[i:]
	}
	return b, nil
}

func metricType(word string) probes.MetricType {
	switch strings.ToLower(word) {
	case "counter":
		return probes.Counter
	case "gauge", "info", "stateset":
		return probes.Gauge
	case "histogram":
		return probes.HistogramType
	case "summary":
		return probes.Summary
	}
	return probes.Untyped
}

// suffixes of a series below its family's name. An OpenMetrics counter family is
// named without _total; _created is the time a series began, so a gauge.
var suffixes = []struct {
	suffix string
	of     []probes.MetricType
	is     probes.MetricType // Untyped: the family's own
}{
	{"_bucket", []probes.MetricType{probes.HistogramType}, probes.Untyped},
	{"_sum", []probes.MetricType{probes.HistogramType, probes.Summary}, probes.Untyped},
	{"_count", []probes.MetricType{probes.HistogramType, probes.Summary}, probes.Untyped},
	{"_total", []probes.MetricType{probes.Counter}, probes.Untyped},
	{"_info", []probes.MetricType{probes.Gauge}, probes.Untyped},
	{"_created", []probes.MetricType{probes.Counter, probes.HistogramType, probes.Summary}, probes.Gauge},
}

// of finds the family of a series and its type: the family is the one a TYPE
// line names, with or without an ending that goes with its type.
func (f families) of(name string) (family string, t probes.MetricType) {
	if t, ok := f[name]; ok {
		return name, t
	}
	for _, s := range suffixes {
		stem, found := strings.CutSuffix(name, s.suffix)
		if !found {
			continue
		}
		t, ok := f[stem]
		for _, want := range s.of {
			if ok && t == want {
				if s.is != probes.Untyped {
					t = s.is
				}
				return stem, t
			}
		}
	}
	return name, probes.Untyped
}
