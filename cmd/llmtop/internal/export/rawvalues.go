package export

import (
	"context"
	"math"

	"llmtop/probes"
)

// gatherRaw reads the values of the series of one pass.
func (x *exposition) gatherRaw(ctx context.Context, families []family, points map[string]int, o Options) (table, error) {
	t := table{times: map[string][]int64{}, columns: map[string]column{}}
	counts := map[string]bool{} // series that must not be NaN
	for _, f := range families {
		for _, m := range f.metrics {
			for _, l := range m.lines {
				t.columns[l.key] = make(column, 0, points[m.clock])
				counts[l.key] = f.kind == "counter" || f.kind == "histogram"
			}
		}
	}
	wanted := wantedOf{schemas: map[string]*probes.Schema{}, keys: map[string][]string{}}
	var last *probes.Sample
	for row, err := range o.rows(ctx, x.reader, false) {
		if err != nil {
			return t, err
		}
		if row.Sample == nil {
			continue
		}
		for _, p := range renewedPages(row.Sample, last) {
			t.times[p.Endpoint] = append(t.times[p.Endpoint], p.At.UnixMilli())
			n := len(t.times[p.Endpoint])
			for i, key := range wanted.of(p, t.columns) {
				if key == "" || i >= len(p.Values) || len(t.columns[key]) >= n || counts[key] && math.IsNaN(p.Values[i]) {
					continue
				}
				c := t.columns[key]
				for len(c) < n-1 {
					c = append(c, absent)
				}
				t.columns[key] = append(c, p.Values[i])
			}
		}
		last = row.Sample
	}
	return t, nil
}

// wantedOf remembers which series of a page a pass gathers.
type wantedOf struct {
	schemas map[string]*probes.Schema
	keys    map[string][]string
}

// of are the keys of a page's series, "" for those that are not wanted.
func (w *wantedOf) of(p *probes.Scrape, columns map[string]column) []string {
	if w.schemas[p.Endpoint] == p.Schema {
		return w.keys[p.Endpoint]
	}
	keys := make([]string, len(p.Schema.Series))
	for i := range keys {
		if key := keyOf(p.Endpoint, &p.Schema.Series[i]); columns[key] != nil {
			keys[i] = key
		}
	}
	w.schemas[p.Endpoint], w.keys[p.Endpoint] = p.Schema, keys
	return keys
}
