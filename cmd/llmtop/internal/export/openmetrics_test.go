package export

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

func exposed(t testing.TB, r *record.Reader, o Options, budget int) string {
	t.Helper()
	var b bytes.Buffer
	if err := openMetrics(t.Context(), &b, r, o, budget); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	boundLabel = regexp.MustCompile(`(le|quantile)="[^"]*",?`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (gauge|counter|histogram|summary|unknown)$`)
	unitLine   = regexp.MustCompile(`^# UNIT (\S+) (\S+)$`)
	helpLine   = regexp.MustCompile(`^# HELP (\S+) (.+)$`)
	pointLine  = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+) (-?\d+\.\d{3})$`)
)

// checkExposition holds a text against the rules of the format: each family once and in one
// piece, its head before its points, names with the endings of its type, the points of a
// series in the order of time, "# EOF" at the end.
func checkExposition(t *testing.T, text string) (points map[string]map[int64]float64) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[len(lines)-1] != "# EOF" || !strings.HasSuffix(text, "\n") {
		t.Fatalf("it ends with %q", lines[len(lines)-1])
	}
	families, ended := map[string]bool{}, map[string]bool{}
	points = map[string]map[int64]float64{}
	var family, kind, metric string
	last := map[string]int64{}
	for i, line := range lines[:len(lines)-1] {
		if m := typeLine.FindStringSubmatch(line); m != nil {
			if families[m[1]] {
				t.Fatalf("line %d: family %s twice", i+1, m[1])
			}
			families[m[1]], family, kind = true, m[1], m[2]
			continue
		}
		if m := unitLine.FindStringSubmatch(line); m != nil {
			if m[1] != family || !strings.HasSuffix(family, "_"+m[2]) {
				t.Fatalf("line %d: %s", i+1, line)
			}
			continue
		}
		if m := helpLine.FindStringSubmatch(line); m != nil {
			if m[1] != family {
				t.Fatalf("line %d: %s", i+1, line)
			}
			continue
		}
		m := pointLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("line %d is nothing of the format: %q", i+1, line)
		}
		ending, ok := strings.CutPrefix(m[1], family)
		if !ok || !slices.Contains(map[string][]string{"gauge": {""}, "unknown": {""}, "counter": {"_total", "_created"},
			"histogram": {"_bucket", "_count", "_sum", "_created"}, "summary": {"", "_count", "_sum", "_created"}}[kind], ending) {
			t.Fatalf("line %d: %s in family %s %s", i+1, m[1], family, kind)
		}
		key := family + boundLabel.ReplaceAllString(m[2], "")
		key = strings.Replace(strings.Replace(key, ",}", "}", 1), "{}", "", 1)
		if kind == "gauge" || kind == "unknown" {
			key = m[1] + m[2]
		}
		if key != metric {
			if ended[key] {
				t.Fatalf("line %d: %s goes on after another metric", i+1, key)
			}
			metric, ended[key] = key, true
		}
		at, err := strconv.ParseFloat(m[4], 64)
		ms := int64(math.Round(at * 1000))
		series := m[1] + m[2]
		if before, seen := last[series]; err != nil || seen && ms <= before {
			t.Fatalf("line %d: %s at %d after %d", i+1, series, ms, before)
		}
		last[series] = ms
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if points[series] == nil {
			points[series] = map[int64]float64{}
		}
		points[series][ms] = v
	}
	return points
}

func TestOpenMetricsKeepsTheFormat(t *testing.T) {
	ticks := folded(t, incident)
	r := open(t, incident)
	o := whole(r)
	o.Raw = true
	text := exposed(t, r, o, maxValues)
	points := checkExposition(t, text)
	seen := 0
	for _, s := range rules.Table() {
		n := 0
		for _, tick := range ticks {
			want, ok := tick.Signals.Get(s.Name).Get()
			got, there := points[s.Export][tick.Point.At.UnixMilli()]
			if there != ok || ok && got != want {
				t.Fatalf("%s at %v is %v (there: %v), want %v (seen: %v)", s.Export, tick.Point.At, got, there, want, ok)
			}
			if ok {
				n++
			}
		}
		if seen += n; n != len(points[s.Export]) {
			t.Errorf("%s has %d points, want %d", s.Export, len(points[s.Export]), n)
		}
	}
	if seen < 1000 {
		t.Errorf("only %d points seen", seen)
	}
	raw := 0
	for i := range r.Len() {
		sample, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range sample.Scrapes {
			for j, s := range p.Schema.Series {
				_, labels, _ := strings.Cut(s.Key(), "{")
				key := fmt.Sprintf("%s{instance=%q,%s", s.Name, strings.TrimPrefix(p.Endpoint, "http://"), labels)
				if labels == "" {
					key = fmt.Sprintf("%s{instance=%q}", s.Name, strings.TrimPrefix(p.Endpoint, "http://"))
				}
				got, there := points[key][p.At.UnixMilli()]
				if !there || got != p.Values[j] && !(math.IsNaN(got) && math.IsNaN(p.Values[j])) {
					t.Fatalf("%s at %v is %v (there: %v), want %v", key, p.At, got, there, p.Values[j])
				}
				raw++
			}
		}
	}
	if raw < 10_000 {
		t.Errorf("only %d raw points", raw)
	}
}

// TestSeveralPassesGiveTheSameText: a small budget makes more passes, not another text.
func TestSeveralPassesGiveTheSameText(t *testing.T) {
	r := open(t, incident)
	o := whole(r)
	o.Raw = true
	want := exposed(t, r, o, maxValues)
	passes := 0
	o.Progress = func(done, all int) { passes = all / r.Len() }
	for _, budget := range []int{8 * 70 * 30, 8 * 70 * 101} {
		if got := exposed(t, r, o, budget); got != want {
			t.Errorf("budget %d: another text of %d bytes, want %d", budget, len(got), len(want))
		}
		if passes < 2 {
			t.Errorf("budget %d: %d pass", budget, passes)
		}
	}
}

// odd is a page with everything that needs care.
func odd(at float64, values map[string]float64) *probes.Scrape {
	type l = probes.Label
	series := []probes.Series{
		{Family: "ok_total", Name: "ok_total", Type: probes.Counter, Labels: []l{{Name: "path", Value: "a\"b\\c\nd"}}},
		{Family: "ok_created", Name: "ok_created", Type: probes.Gauge, Labels: []l{{Name: "path", Value: "a\"b\\c\nd"}}},
		{Family: "nototal", Name: "nototal", Type: probes.Counter},
		{Family: "both_total", Name: "both_total", Type: probes.Counter},
		{Family: "both", Name: "both", Type: probes.Gauge},
		{Family: "half", Name: "half_bucket", Type: probes.HistogramType, Labels: []l{{Name: "le", Value: "1"}}},
		{Family: "half", Name: "half_sum", Type: probes.HistogramType},
		{Family: "full", Name: "full_bucket", Type: probes.HistogramType, Labels: []l{{Name: "le", Value: "+Inf"}}},
		{Family: "full", Name: "full_bucket", Type: probes.HistogramType, Labels: []l{{Name: "le", Value: "10"}}},
		{Family: "full", Name: "full_bucket", Type: probes.HistogramType, Labels: []l{{Name: "le", Value: "2"}}},
		{Family: "full", Name: "full_count", Type: probes.HistogramType},
		{Family: "full", Name: "full_sum", Type: probes.HistogramType},
		{Family: "sum", Name: "sum", Type: probes.Summary, Labels: []l{{Name: "quantile", Value: "0.5"}}},
		{Family: "sum", Name: "sum_count", Type: probes.Summary},
		{Family: "b-ad näme", Name: "b-ad näme", Type: probes.Untyped, Labels: []l{{Name: "a-b", Value: "1"}, {Name: "a_b", Value: "2"}, {Name: "instance", Value: "theirs"}, {Name: "none", Value: ""}}},
		{Family: "llmtop_queue_depth", Name: "llmtop_queue_depth", Type: probes.Gauge},
		{Family: "gone", Name: "gone", Type: probes.Gauge},
	}
	p := &probes.Scrape{At: second(at), Endpoint: "http://h:1/metrics", Schema: &probes.Schema{Series: series}}
	for _, s := range series {
		p.Values = append(p.Values, values[s.Name])
	}
	return p
}

func TestOddPagesAreMadeToFit(t *testing.T) {
	var entries []record.Entry
	for i := range 4 {
		s := sampleAt(float64(i))
		s.Scrapes = []*probes.Scrape{odd(float64(i)-0.25, map[string]float64{"ok_total": float64(i), "gone": math.NaN(), "nototal": math.Inf(1)})}
		if i == 2 {
			s.Scrapes[0] = entries[1].Sample.Scrapes[0] // not renewed
		}
		if i == 2 {
			entries = append(entries, record.Entry{Gap: &record.Gap{From: s.At, To: s.At}})
		}
		entries = append(entries, record.Entry{Sample: s})
	}
	r := written(t, entries...)
	o := whole(r)
	o.Raw, o.Signals = true, o.Signals[:0]
	for _, s := range rules.Table() {
		if s.Name == "queue.depth" {
			o.Signals = append(o.Signals, s)
		}
	}
	text := exposed(t, r, o, maxValues)
	points := checkExposition(t, text)
	for key, kind := range map[string]string{
		`ok_total{instance="h:1",path="a\"b\\c d"}`:                     "ok counter", // the newline is gone with reading
		`ok_created{instance="h:1",path="a\"b\\c d"}`:                   "ok counter",
		`nototal{instance="h:1"}`:                                       "nototal unknown",
		`both_total{instance="h:1"}`:                                    "both_total unknown",
		`both{instance="h:1"}`:                                          "both gauge",
		`half_bucket{instance="h:1",le="1"}`:                            "half_bucket unknown",
		`half_sum{instance="h:1"}`:                                      "half_sum unknown",
		`full_bucket{instance="h:1",le="+Inf"}`:                         "full histogram",
		`sum{instance="h:1",quantile="0.5"}`:                            "sum summary",
		`b_ad_n__me{instance="h:1",a_b="1",exported_instance="theirs"}`: "b_ad_n__me unknown",
		`raw_llmtop_queue_depth{instance="h:1"}`:                        "raw_llmtop_queue_depth unknown",
		`gone{instance="h:1"}`:                                          "gone gauge",
	} {
		if len(points[key]) != 3 {
			t.Errorf("%s has %d points, want 3: one page was not renewed", key, len(points[key]))
		}
		if !strings.Contains(text, "# TYPE "+kind+"\n") {
			t.Errorf("no family %s", kind)
		}
	}
	two, ten := strings.Index(text, `full_bucket{instance="h:1",le="2"}`), strings.Index(text, `full_bucket{instance="h:1",le="10"}`)
	inf, count := strings.Index(text, `full_bucket{instance="h:1",le="+Inf"}`), strings.Index(text, "full_count{")
	if !(two < ten && ten < inf && inf < count) {
		t.Errorf("buckets are not in order: %d %d %d %d", two, ten, inf, count)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestTimeGoesForward: after a clock that jumped back the points are sorted all the same.
func TestTimeGoesForward(t *testing.T) {
	if got := fmt.Sprint(inOrder([]int64{1, 2, 3})); got != "[0 1 2]" {
		t.Error(got)
	}
	if got := fmt.Sprint(inOrder([]int64{5, 6, 7, 3, 4, 5, 6})); got != "[3 4 5 6 2]" {
		t.Error(got)
	}
}

func TestFamiliesAreDescribedInCommon(t *testing.T) {
	for _, f := range signalFamilies(rules.Table()) {
		if len(f.help) < 5 || regexp.MustCompile(`^p\d\d `).MatchString(f.help) && len(f.metrics) > 1 {
			t.Errorf("%s: %q", f.name, f.help)
		}
	}
}
