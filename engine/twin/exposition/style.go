package exposition

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// style is how the library that an engine writes its page with does so.
type style struct {
	bound   func(float64) string // the label le
	parts   [3]string            // of a histogram, in their order
	created bool                 // when each series began is told as well
	digits  int                  // of a value; 0: all
}

var (
	python    = style{bound: pythonFloat, parts: [3]string{"_bucket", "_count", "_sum"}, created: true} // one process
	processes = style{bound: pythonFloat, parts: [3]string{"_sum", "_bucket", "_count"}}                // several, through files
	golang    = style{bound: goFloat, parts: [3]string{"_bucket", "_sum", "_count"}}
	rust      = style{bound: rustFloat, parts: [3]string{"_bucket", "_sum", "_count"}}
	cpp       = style{digits: 6}
)

func goFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func rustFloat(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// pythonFloat is a bound as Python's client writes it: with a point always, and with an
// exponent from a million on.
func pythonFloat(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	whole, rest, _ := strings.Cut(s, ".")
	if len(whole) > 6 {
		if mantissa := strings.TrimRight(whole[1:]+rest, "0"); mantissa != "" {
			return whole[:1] + "." + mantissa + "e+0" + strconv.Itoa(len(whole)-1)
		}
		return whole[:1] + "e+0" + strconv.Itoa(len(whole)-1)
	}
	return whole + "." + max(rest, "0")
}

// schema is the shape of a page with these families. Series that are not told are left out.
func (y *style) schema(families []*family) *probes.Schema {
	var out []probes.Series
	for _, f := range families {
		for _, s := range f.series {
			if s.told {
				out = y.shape(out, f, s)
			}
		}
		if !y.dated(f.kind) {
			continue
		}
		name := strings.TrimSuffix(f.name, "_total") + "_created"
		if f.kind != probes.Counter {
			name = f.name + "_created"
		}
		for _, s := range f.series {
			if s.told {
				out = append(out, probes.Series{Family: name, Name: name, Type: probes.Gauge, Labels: s.labels})
			}
		}
	}
	return &probes.Schema{Series: out}
}

// dated reports whether series of a kind say when they began.
func (y *style) dated(kind probes.MetricType) bool { return y.created && kind != probes.Gauge }

func (y *style) shape(out []probes.Series, f *family, s *series) []probes.Series {
	one := func(ending string, labels []probes.Label) {
		out = append(out, probes.Series{Family: f.name, Name: f.name + ending, Type: f.kind, Labels: labels})
	}
	switch f.kind {
	case probes.HistogramType, probes.Summary:
	default:
		one("", s.labels)
		return out
	}
	for _, part := range y.parts {
		switch {
		case part != "_bucket":
			one(part, s.labels)
		case f.kind == probes.HistogramType:
			for _, b := range s.bounds {
				one(part, s.under(y.bound(b)))
			}
			one(part, s.under("+Inf"))
		}
	}
	return out
}

// under is the labels of a bucket.
func (s *series) under(le string) []probes.Label {
	return labelled(slices.Concat(s.labels, []probes.Label{{Name: "le", Value: le}}))
}

// values appends what the schema names, in the same order.
func (y *style) values(out []float64, families []*family) []float64 {
	for _, f := range families {
		for _, s := range f.series {
			if s.told {
				out = y.value(out, s)
			}
		}
		if !y.dated(f.kind) {
			continue
		}
		for _, s := range f.series {
			if s.told {
				out = append(out, s.created)
			}
		}
	}
	return out
}

func (y *style) value(out []float64, s *series) []float64 {
	if s.kind != probes.HistogramType && s.kind != probes.Summary {
		return append(out, y.round(s.value))
	}
	for _, part := range y.parts {
		switch {
		case part == "_sum":
			out = append(out, s.value)
		case part == "_count":
			out = append(out, s.count)
		case s.kind == probes.HistogramType:
			below := 0.0
			for _, n := range s.buckets {
				below += n
				out = append(out, below)
			}
			out = append(out, s.count)
		}
	}
	return out
}

// round leaves a value the digits that are printed.
func (y *style) round(v float64) float64 {
	if y.digits == 0 || v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return v
	}
	var text [32]byte
	rounded, err := strconv.ParseFloat(string(strconv.AppendFloat(text[:0], v, 'g', y.digits, 64)), 64)
	if err != nil {
		return v
	}
	return rounded
}
