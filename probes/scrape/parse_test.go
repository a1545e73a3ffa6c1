package scrape

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
)

// dump is a scrape as text: family, type, key, value.
func dump(s *probes.Scrape) string {
	types := map[probes.MetricType]string{probes.Untyped: "untyped", probes.Counter: "counter", probes.Gauge: "gauge", probes.HistogramType: "histogram", probes.Summary: "summary"}
	var b strings.Builder
	for i := range s.Schema.Series {
		series := &s.Schema.Series[i]
		fmt.Fprintf(&b, "%s %s %s %v\n", series.Family, types[series.Type], series.Key(), s.Values[i])
	}
	return b.String()
}

func TestParse(t *testing.T) {
	cases := []struct {
		name, page, want string
		dropped          int
	}{
		{name: "nothing"},
		{name: "comments alone", page: "# HELP a b\n# TYPE a counter\n#\n# EOF\n"},
		{name: "no final newline", page: "a 1\nb 2", want: "a untyped a 1\nb untyped b 2\n"},
		{name: "CRLF and blank lines", page: "\r\na 1\r\n\r\nb 2\r\n", want: "a untyped a 1\nb untyped b 2\n"},
		{name: "blanks", page: "\t a \t 1  \n", want: "a untyped a 1\n"},
		{name: "labels sorted", page: `a{z="1",b="2"} 1`, want: "a untyped a{b=\"2\",z=\"1\"} 1\n"},
		{name: "trailing comma", page: `a{b="2",} 1`, want: "a untyped a{b=\"2\"} 1\n"},
		{name: "braces in a value", page: `a{b="}{\"} 5 \\"} 1`, want: "a untyped a{b=\"}{\"} 5 \\\"} 1\n"},
		{name: "no blank after the brace", page: `a{b="c"}1`, want: "a untyped a{b=\"c\"} 1\n"},
		{name: "numbers", page: "a NaN\nb -nan\nc +NaN\nd +Inf\ne -inf\nf 1e+010\ng -0.5\nh 1e999\n",
			want: "a untyped a NaN\nb untyped b NaN\nc untyped c NaN\nd untyped d +Inf\ne untyped e -Inf\nf untyped f 1e+10\ng untyped g -0.5\nh untyped h +Inf\n"},
		{name: "integers", page: "a 0\nb 12.0\nc 999999999999999\nd 9999999999999999\ne 1.\nf .0\n",
			want: "a untyped a 0\nb untyped b 12\nc untyped c 9.99999999999999e+14\nd untyped d 1e+16\ne untyped e 1\nf untyped f 0\n"},
		{name: "timestamp and exemplar", page: "a 1 1796002051000\nb_total 3 # {trace_id=\"x\"} 0.5\nc 1 12 # x\n", want: "a untyped a 1\nb_total untyped b_total 3\nc untyped c 1\n"},
		{name: "histogram", page: "# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 3\nh_created 9\n",
			want: "h histogram h_bucket{le=\"1\"} 2\nh histogram h_bucket{le=\"+Inf\"} 3\nh histogram h_sum 4\nh histogram h_count 3\nh gauge h_created 9\n"},
		{name: "a histogram named _total", page: "# TYPE it_total histogram\nit_total_bucket{le=\"+Inf\"} 3\nit_total_sum 4\n",
			want: "it_total histogram it_total_bucket{le=\"+Inf\"} 3\nit_total histogram it_total_sum 4\n"},
		{name: "summary", page: "# TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 4\ns_count 3\n", want: "s summary s{quantile=\"0.5\"} 2\ns summary s_sum 4\ns summary s_count 3\n"},
		{name: "a gauge named _count", page: "# TYPE c gauge\nc 1\nc_count 3\n", want: "c gauge c 1\nc_count untyped c_count 3\n"},
		{name: "TYPE after the samples", page: "a 1\n# TYPE a gauge\n", want: "a gauge a 1\n"},
		{name: "first TYPE wins", page: "# TYPE a gauge\n# TYPE a counter\na 1\n", want: "a gauge a 1\n"},
		{name: "OpenMetrics", page: "# TYPE a counter\na_total 1\n# TYPE b unknown\nb 1\n# TYPE t info\nt_info{v=\"1\"} 1\n# EOF", want: "a counter a_total 1\nb untyped b 1\nt gauge t_info{v=\"1\"} 1\n"},
		{name: "duplicates stay", page: "a 1\na 2\n", want: "a untyped a 1\na untyped a 2\n"},
		{name: "bad lines", page: "a 1\nno sample here\na{b=\"c\" 1\na{b=c} 1\n9a 1\na one\na 1 2 3\n{\"x\":1}\nb\nb 2\n", want: "a untyped a 1\nb untyped b 2\n", dropped: 8},
		{name: "long line", page: "a 1\na{b=\"" + strings.Repeat("x", maxLine) + "\"} 1\nb 2\n", want: "a untyped a 1\nb untyped b 2\n", dropped: 1},
		{name: "long label", page: "a{b=\"" + strings.Repeat("x", 2*maxLabelBytes) + "\"} 1\n", want: "a untyped a{b=\"" + strings.Repeat("x", maxLabelBytes) + "…\"} 1\n"},
		{name: "too many labels", page: "a{" + strings.Repeat("b=\"c\",", maxLabels+1) + "} 1\nb 2\n", want: "b untyped b 2\n", dropped: 1},
		{name: "long name", page: strings.Repeat("a", maxNameBytes+1) + " 1\n", dropped: 1},
		{name: "control bytes and tags", page: "a{b=\"[red]x\x1b]0;t\x07\\ny\u202e\"} 1\n", want: "a untyped a{b=\"[red]x]0;t y\"} 1\n"},
		{name: "invalid UTF-8", page: "a{b=\"caf\xe9\"} 1\n", want: "a untyped a{b=\"caf\ufffd\"} 1\n"},
	}
	for _, c := range cases {
		p := NewParser(0)
		for _, round := range []string{"first", "again"} {
			s, more := p.Parse([]byte(c.page))
			if got := dump(s); got != c.want || s.Dropped != c.dropped || more != 0 {
				t.Errorf("%s, %s:\ngot  %q, %d dropped, %d more\nwant %q, %d dropped", c.name, round, got, s.Dropped, more, c.want, c.dropped)
			}
		}
	}
}

func TestParseSharesTheSchema(t *testing.T) {
	p := NewParser(0)
	page := func(v int, rest string) []byte {
		return []byte(fmt.Sprintf("# HELP a says %d\n# TYPE a counter\na{b=\"c\"} %d\nx y z\n%s", v, v, rest))
	}
	first, _ := p.Parse(page(1, ""))
	second, _ := p.Parse(page(2, ""))
	if first.Schema != second.Schema {
		t.Error("equal pages, different schemas")
	}
	if second.Values[0] != 2 || second.Dropped != 1 || first.Values[0] != 1 {
		t.Errorf("got %v then %v", first.Values, second.Values)
	}
	third, _ := p.Parse(page(3, "d 4\n"))
	if third.Schema == first.Schema || len(third.Schema.Series) != 2 {
		t.Error("a longer page, the same schema")
	}
	if &third.Schema.Series[0].Labels[0] != &first.Schema.Series[0].Labels[0] {
		t.Error("labels were made anew")
	}
	if len(first.Schema.Series) != 1 {
		t.Error("a published schema changed")
	}
	fourth, _ := p.Parse(page(3, "another bad line\nd 4\n"))
	if fourth.Schema != third.Schema || fourth.Dropped != 2 {
		t.Errorf("the same series, another schema; %d dropped", fourth.Dropped)
	}
	fifth, _ := p.Parse([]byte("# TYPE a gauge\na{b=\"c\"} 3\nx y z\nd 4\n"))
	if fifth.Schema == third.Schema || fifth.Schema.Series[0].Type != probes.Gauge {
		t.Error("another type, the same schema")
	}
	sixth, _ := p.Parse([]byte("# TYPE a gauge\na{b=\"c\"} 3x\nx y z\nd 4\n"))
	if len(sixth.Values) != 1 || sixth.Dropped != 2 {
		t.Errorf("a value turned bad: %v, %d dropped", sixth.Values, sixth.Dropped)
	}
}

func TestParseIsBounded(t *testing.T) {
	var many, bad strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, "a{i=\"%d\"} %d\n", i, i)
		fmt.Fprintf(&bad, "a{i=%d} %d\n", i, i)
	}
	p := NewParser(20)
	for range 2 {
		s, more := p.Parse([]byte(many.String()))
		if len(s.Values) != 20 || len(s.Schema.Series) != 20 || more != 30 {
			t.Errorf("%d series, %d more", len(s.Values), more)
		}
	}
	if s, _ := p.Parse([]byte(bad.String() + "b 1\n")); s.Dropped != 21 || len(s.Values) != 0 {
		t.Errorf("%d bad lines read before giving up", s.Dropped)
	}
	for i := range 30 { // labels that never come back
		p.Parse(fmt.Appendf(nil, "a{id=\"%d\"} 1\nb{id=\"%d\"} 1\n", i, i))
	}
	if n := len(p.names.known); n > 43 {
		t.Errorf("%d names remembered, want at most about 40", n)
	}
}

func TestParseFixtures(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("../../testdata/expositions", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	s := Parse(read("hostile.prom"))
	want := `vllm:num_requests_running gauge vllm:num_requests_running{engine="0",model_name="[red]m[31m odd"} 4
vllm:num_requests_waiting gauge vllm:num_requests_waiting{engine="0"} NaN
vllm:num_requests_waiting gauge vllm:num_requests_waiting{engine="1"} 2
vllm:generation_tokens counter vllm:generation_tokens_total{engine="0"} 1.5e+10
vllm:tail untyped vllm:tail{model_name="caf` + "\ufffd" + `"} +Inf
vllm:last untyped vllm:last 7
`
	if got := dump(s); got != want || s.Dropped != 7 {
		t.Errorf("%d dropped, got\n%s\nwant\n%s", s.Dropped, got, want)
	}
	if s := Parse(read("vllm-v1.prom")); s.Dropped != 0 || len(s.Values) != 258 {
		t.Errorf("vllm-v1: %d series, %d dropped", len(s.Values), s.Dropped)
	}
}

// TestParseSamples reads the pages of real engines that may lie beside the project.
func TestParseSamples(t *testing.T) {
	dir := os.Getenv("LLMTOP_SAMPLES")
	if dir == "" {
		dir = "../../../shared/data/metrics"
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "*.prom"))
	if len(pages) == 0 {
		t.Skip("no sample pages beside the project (LLMTOP_SAMPLES)")
	}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(string(page)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				lines++
			}
		}
		p := NewParser(0)
		s, more := p.Parse(page)
		if s.Dropped > 0 || more > 0 || len(s.Values) != lines {
			t.Errorf("%s: %d of %d lines, %d dropped", filepath.Base(path), len(s.Values), lines, s.Dropped)
		}
		again, _ := p.Parse(page)
		if again.Schema != s.Schema || dump(again) != dump(s) {
			t.Errorf("%s: read differently the second time", filepath.Base(path))
		}
	}
}

func FuzzParse(f *testing.F) {
	if pages, _ := filepath.Glob("../../testdata/expositions/*.prom"); len(pages) > 0 {
		for _, path := range pages {
			if page, err := os.ReadFile(path); err == nil && len(page) < 4000 {
				f.Add(page)
			}
		}
	}
	f.Add([]byte("# TYPE a histogram\na_bucket{le=\"1\"} 2\n"))
	f.Add([]byte("a{b=\"\\\\\"} -nan 5 # {}"))
	f.Fuzz(func(t *testing.T, page []byte) {
		p := NewParser(50)
		s, more := p.Parse(page)
		if len(s.Values) != len(s.Schema.Series) || len(s.Values) > 50 || more < 0 {
			t.Fatalf("%d values, %d series", len(s.Values), len(s.Schema.Series))
		}
		for i := range s.Schema.Series {
			series := &s.Schema.Series[i]
			if probes.Printable(series.Key(), 1<<20) != series.Key() && strings.ContainsFunc(series.Key(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("unclean %q", series.Key())
			}
		}
		again, _ := p.Parse(page)
		if len(again.Values) != len(s.Values) || again.Dropped != s.Dropped {
			t.Fatalf("first %d values and %d dropped, then %d and %d", len(s.Values), s.Dropped, len(again.Values), again.Dropped)
		}
		for i := range s.Values {
			if s.Values[i] != again.Values[i] && !(math.IsNaN(s.Values[i]) && math.IsNaN(again.Values[i])) {
				t.Fatalf("%v then %v", s.Values[i], again.Values[i])
			}
		}
	})
}
