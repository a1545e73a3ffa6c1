package dcgm

import (
	"slices"
	"strings"
	"time"

	"llmtop/probes"
)

// The period of an exporter.
const (
	usualPeriod = 30 * time.Second // the exporter's default
	mostPeriod  = 2 * time.Minute  // seen as a longer one is a GPU at rest
)

// renewal finds out when an exporter renewed its values, and how often it does: by the
// fetches in which something changed.
type renewal struct {
	schema  *probes.Schema
	values  []float64
	changed time.Time
	period  time.Duration // the shortest seen; 0: none yet
}

// date dates the devices that a page tells of.
func (r *renewal) date(g *probes.GPU, page *probes.Scrape) {
	if r.changes(page) {
		if d := page.At.Sub(r.changed); !r.changed.IsZero() && d > 0 && (r.period == 0 || d < r.period) {
			r.period = min(d, mostPeriod)
		}
		r.changed = page.At
	}
	r.schema, r.values = page.Schema, page.Values
	period := r.period
	if period == 0 {
		period = usualPeriod
	}
	g.At = r.changed
	if since := page.At.Add(-period); since.After(g.At) && !counts(page.Schema) {
		g.At = since
	}
	for i := range g.Devices {
		d := &g.Devices[i]
		d.At, d.PeriodSeconds = g.At, probes.Seconds(period)
	}
}

// changes reports a page on which a value of DCGM is another than on the one before.
func (r *renewal) changes(page *probes.Scrape) bool {
	if page.Schema != r.schema || len(page.Values) != len(r.values) {
		return true
	}
	for i, v := range page.Values {
		if was := r.values[i]; v != was && (v == v || was == was) && strings.HasPrefix(page.Schema.Series[i].Name, prefix) {
			return true
		}
	}
	return false
}

// counts reports a page with energy counters. They never stand still, so a page that does
// is one that nobody renews; on any other it may be that of a GPU at rest, which an
// exporter that answers has renewed within its period.
func counts(s *probes.Schema) bool {
	return slices.ContainsFunc(s.Series, func(s probes.Series) bool { return s.Name == prefix+energy })
}
