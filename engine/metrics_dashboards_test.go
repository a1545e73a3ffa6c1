package engine

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	dto "github.com/prometheus/client_model/go"
)

// vLLM's published dashboards find every series that they ask of an engine, once
// it has answered a request.
func TestDashboardSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		if w := e.post(t.Context(), "/v1/completions", completion(20, 4, `,"stream":true`)); w.Code != 200 {
			t.Fatal(w.Code)
		}
		synctest.Wait()
		page := seriesOf(scrape(t, e))
		demanded := 0
		for _, q := range dashboardQueries(t) {
			if q.needs != "" && len(page[q.name]) == 0 {
				continue // absent here as it is in a vLLM without that feature
			}
			demanded++
			if !slices.ContainsFunc(page[q.name], q.matches) {
				t.Errorf("a dashboard asks for %s with %s; the page has %v", q.name, q.labels, page[q.name])
			}
		}
		if demanded < 75 {
			t.Errorf("only %d series were demanded: the list is not read", demanded)
		}
	})
}

// query is what a dashboard asks for: a series, and labels as name or name=value.
type query struct {
	name   string
	labels []string
	needs  string // a feature without which vLLM has no such series
}

func (q query) matches(labels map[string]string) bool {
	for _, l := range q.labels {
		name, want, exact := strings.Cut(l, "=")
		got, has := labels[name]
		if !has || got == "" || (exact && got != want) {
			return false
		}
	}
	return true
}

func dashboardQueries(t *testing.T) (queries []query) {
	t.Helper()
	list, err := os.ReadFile("testdata/vllm-dashboards.txt")
	if err != nil {
		t.Fatal(err)
	}
	needs := ""
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSpace(line)
		if feature, ok := strings.CutPrefix(line, "[needs "); ok {
			needs = strings.TrimSuffix(feature, "]")
			continue
		}
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			queries = append(queries, query{name: words[0], labels: words[1:], needs: needs})
		}
	}
	return queries
}

// seriesOf lists the label sets of each series of a page, with histograms spread
// out as they are on the wire.
func seriesOf(page map[string]*dto.MetricFamily) map[string][]map[string]string {
	out := map[string][]map[string]string{}
	for name, f := range page {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			h := m.GetHistogram()
			if h == nil {
				out[name] = append(out[name], labels)
				continue
			}
			out[name+"_sum"] = append(out[name+"_sum"], labels)
			out[name+"_count"] = append(out[name+"_count"], labels)
			for _, b := range h.GetBucket() {
				with := map[string]string{"le": strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64)}
				for k, v := range labels {
					with[k] = v
				}
				out[name+"_bucket"] = append(out[name+"_bucket"], with)
			}
		}
	}
	return out
}

// The page stays small: a monitoring system stores each series of it for months.
func TestFewSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		e.post(t.Context(), "/v1/completions", completion(20, 4, ""))
		n := 0
		for _, sets := range seriesOf(scrape(t, e)) {
			n += len(sets)
		}
		if n > 1200 {
			t.Errorf("%d series", n)
		}
		t.Logf("%d series", n)
	})
}
