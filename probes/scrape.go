package probes

import (
	"strings"
	"time"
)

// Scrape is one fetch of an engine's metrics page: every series, raw and
// cumulative, as exposed. Values[i] belongs to Schema.Series[i] and may be NaN.
// Pages hardly ever change shape, so successive scrapes share one Schema.
type Scrape struct {
	At       time.Time // when the page was received
	Endpoint string    // URL without user info or query
	Seconds  float64   // how long the fetch and parse took
	Schema   *Schema
	Values   []float64
	Dropped  int // undecodable lines left out
}

// Schema names the series of a page. Immutable once published; compare pointers
// to see that a page kept its shape.
type Schema struct {
	Series []Series
}

// Series is the identity of one time series. Histograms are flat, as on the
// page: Name ends in _bucket (with a label le), _sum or _count and Family is
// without the ending. The engine's TYPE line decides Type, never the name.
type Series struct {
	Family string     `json:"family"`
	Name   string     `json:"name"`
	Type   MetricType `json:"type"`
	Labels []Label    `json:"labels,omitempty"` // sorted by name
}

// Label is one name and value of a series.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Label returns the value of a label, "" when it is not there.
func (s *Series) Label(name string) string {
	for i := range s.Labels {
		if s.Labels[i].Name == name {
			return s.Labels[i].Value
		}
	}
	return ""
}

// Key is the identity as text: name{a="b",…}, labels in their order.
func (s *Series) Key() string {
	var b strings.Builder
	b.WriteString(s.Name)
	for i, l := range s.Labels {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(l.Name + "=" + "\"" + l.Value + "\"")
	}
	if len(s.Labels) > 0 {
		b.WriteByte('}')
	}
	return b.String()
}

// MetricType is the TYPE of a family.
type MetricType uint8

const (
	Untyped MetricType = iota
	Counter
	Gauge
	HistogramType
	Summary
)
