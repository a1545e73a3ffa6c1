package export

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// maxRaw bounds the engines' series of one export.
const maxRaw = 200_000

// raw writes the engines' own series: names and values as exposed, but for characters that
// the format does not have, with a label instance for the endpoint. taken are the names of
// families that are there already.
func (x *exposition) raw(ctx context.Context, taken map[string]bool) error {
	found, err := x.inventory(ctx)
	if err != nil {
		return err
	}
	families := found.families(taken)
	n := 0
	for _, points := range found.points {
		n = max(n, points)
	}
	passes := batches(families, x.perPass(n))
	for i, pass := range passes {
		t, err := x.gatherRaw(ctx, pass, found.points, x.pass(i, len(passes)))
		if err != nil {
			return err
		}
		x.write(pass, t)
	}
	return nil
}

// inventory is what engines exposed in the stretch.
type inventory struct {
	points map[string]int           // pages, by endpoint
	series map[string]exposedSeries // by key
}

type exposedSeries struct {
	probes.Series
	endpoint string
}

// keyOf is a series of an endpoint.
func keyOf(endpoint string, s *probes.Series) string { return endpoint + " " + s.Key() }

func (x *exposition) inventory(ctx context.Context) (inventory, error) {
	found := inventory{points: map[string]int{}, series: map[string]exposedSeries{}}
	var last *probes.Sample
	schemas := map[string]*probes.Schema{} // the last of each endpoint
	o := x.options
	o.Progress = nil
	for row, err := range o.rows(ctx, x.reader, false) {
		if err != nil {
			return found, err
		}
		if row.Sample == nil {
			continue
		}
		for _, p := range renewedPages(row.Sample, last) {
			found.points[p.Endpoint]++
			if schemas[p.Endpoint] == p.Schema {
				continue
			}
			schemas[p.Endpoint] = p.Schema
			for i := range p.Schema.Series {
				s := &p.Schema.Series[i]
				found.series[keyOf(p.Endpoint, s)] = exposedSeries{*s, p.Endpoint}
			}
			if len(found.series) > maxRaw {
				return found, fmt.Errorf("the engines exposed more than %d series: export a shorter time", maxRaw)
			}
		}
		last = row.Sample
	}
	return found, nil
}

// families sorts the series into families by name, and within them into metrics.
func (in *inventory) families(taken map[string]bool) []family {
	kinds := in.kinds()
	instances := in.instances()
	type place struct{ family, metric string }
	metrics := map[place]*metric{}
	families := map[string]*family{}
	for _, key := range sortedKeys(in.series) {
		s := in.series[key]
		name, kind, ending := familyOf(&s.Series, kinds)
		if taken[name] {
			name, kind, ending = "raw_"+sane(s.Name), "unknown", ""
		}
		f := families[name]
		if f == nil {
			f = &family{name: name, kind: kind}
			families[name] = f
		}
		labels, rest, le := labelsOf(&s.Series, kind, instances[s.endpoint])
		at := place{name, rest}
		m := metrics[at]
		if m == nil {
			m = &metric{clock: s.endpoint}
			metrics[at] = m
			f.metrics = append(f.metrics, m)
		}
		head := name + ending + labels
		if !slices.ContainsFunc(m.lines, func(l line) bool { return l.head == head }) {
			m.lines = append(m.lines, line{head: head, key: key, le: le + rank(ending)})
		}
	}
	var out []family
	for _, name := range sortedKeys(families) {
		for _, m := range families[name].metrics {
			slices.SortStableFunc(m.lines, func(a, b line) int { return cmp.Compare(a.le, b.le) })
		}
		out = append(out, *families[name])
	}
	return out
}

// rank puts count, sum and created behind the buckets and quantiles of a point.
func rank(ending string) float64 {
	switch ending {
	case "_count", "_sum", "_created":
		return math.Inf(1)
	}
	return 0
}

// kinds are the families that are histograms, summaries and counters in the sense of the
// format, by name: a histogram has a bucket +Inf, a counter's series ends in _total.
func (in *inventory) kinds() map[string]string {
	kinds := map[string]string{}
	plain := map[string]bool{} // names that are of a gauge or of nobody knows what
	whole := map[string]bool{}
	for _, s := range in.series {
		name := sane(s.Name)
		switch {
		case s.Type == probes.HistogramType && s.Label("le") != "":
			f := sane(s.Family)
			kinds[f] = "histogram"
			if le, err := strconv.ParseFloat(s.Label("le"), 64); err == nil && math.IsInf(le, 1) {
				whole[f] = true
			}
		case s.Type == probes.Summary:
			kinds[sane(s.Family)] = "summary"
		case s.Type == probes.Counter && strings.HasSuffix(name, "_total"):
			kinds[strings.TrimSuffix(name, "_total")] = "counter"
		case s.Type == probes.Gauge || s.Type == probes.Untyped:
			plain[name] = true
		}
	}
	for f, kind := range kinds {
		if kind == "histogram" && !whole[f] || plain[f] {
			delete(kinds, f)
		}
	}
	return kinds
}

// familyOf is where a series belongs: the family, its type, and how the series' name goes on.
func familyOf(s *probes.Series, kinds map[string]string) (name, kind, ending string) {
	own := sane(s.Name)
	base, wanted := sane(s.Family), ""
	switch s.Type {
	case probes.HistogramType:
		wanted = "histogram"
	case probes.Summary:
		wanted = "summary"
	case probes.Counter:
		base, wanted = strings.TrimSuffix(own, "_total"), "counter"
	case probes.Gauge:
		if b, ok := strings.CutSuffix(own, "_created"); ok && kinds[b] != "" { // the Prometheus client for Python tells so
			return b, kinds[b], "_created"
		}
		return own, "gauge", ""
	}
	if rest, ok := strings.CutPrefix(own, base); ok && wanted != "" && kinds[base] == wanted && endings[wanted][rest] {
		return base, wanted, rest
	}
	return own, "unknown", ""
}

// endings are how the names of a family's series may go on.
var endings = map[string]map[string]bool{
	"histogram": {"_bucket": true, "_sum": true, "_count": true},
	"summary":   {"": true, "_sum": true, "_count": true},
	"counter":   {"_total": true},
}

// labelsOf spells the labels of a series, those that tell metrics of a family apart, and
// the bound of its bucket or its quantile.
func labelsOf(s *probes.Series, kind, instance string) (all, rest string, bound float64) {
	used := map[string]bool{"instance": true}
	pairs := []string{`instance="` + escapeText(instance) + `"`}
	apart := []string{pairs[0]}
	for _, l := range s.Labels {
		name := strings.ReplaceAll(sane(l.Name), ":", "_")
		if name == "instance" {
			name = "exported_instance"
		}
		if used[name] || l.Value == "" {
			continue // an empty label is none
		}
		used[name] = true
		pair := name + `="` + escapeText(strings.ToValidUTF8(l.Value, "\uFFFD")) + `"`
		pairs = append(pairs, pair)
		if kind == "histogram" && name == "le" || kind == "summary" && name == "quantile" {
			bound, _ = strconv.ParseFloat(l.Value, 64)
		} else {
			apart = append(apart, pair)
		}
	}
	return "{" + strings.Join(pairs, ",") + "}", strings.Join(apart, ","), bound
}

// instances name the endpoints as Prometheus would: by host and port where that is enough.
func (in *inventory) instances() map[string]string {
	out, used := map[string]string{}, map[string]bool{}
	for _, endpoint := range sortedKeys(in.points) {
		name := endpoint
		if u, err := url.Parse(endpoint); err == nil && u.Host != "" && !used[u.Host] {
			name = u.Host
		}
		used[name] = true
		out[endpoint] = name
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sane is a name with "_" for each character that names of metrics do not have.
func sane(name string) string {
	b := []byte(name)
	for i, c := range b {
		letter := c == '_' || c == ':' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9' || i == 0) {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "_"
	}
	return string(b)
}
