package play

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Fixture {
	t.Helper()
	f, err := Parse("f.prom", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each page is written by hand from the fixture and the grammar.
func TestAt(t *testing.T) {
	cases := []struct {
		name, fixture string
		state         State
		seconds       float64
		want          string
	}{
		{"a counter grows", "#> +12.5/s\n# TYPE a counter\na 7.0\n", Loaded, 10, "# TYPE a counter\na 132.0\n"},
		{"by its saturated rate", "#> +12.5/s saturated +20/s\na 7.0\n", Saturated, 10, "a 207.0\n"},
		{"by its rate, when no other is said", "#> +12.5/s\na 7.0\n", Saturated, 10, "a 132.0\n"},
		{"not while idle", "#> +12.5/s\na 7.0\n", Idle, 10, "a 7.0\n"},
		{"not while stale", "#> +12.5/s\na 7.0\n", Stale, 10, "a 7.0\n"},
		{"cut to whole numbers", "#> +0.29/s\na 7\n", Loaded, 99, "a 35\n"},
		{"cut, but not by what floats lose", "#> +0.29/s\na 7\n", Loaded, 100, "a 36\n"},
		{"not cut when the value is not whole", "#> +0.5/s\na 7.25\n", Loaded, 3, "a 8.75\n"},
		{"from second 0 of a restart", "#> +2/s\n# TYPE a counter\na 700.0\n", Restarted, 10, "# TYPE a counter\na 10.0\n"},
		{"before the restart", "#> +2/s\n# TYPE a counter\na 700.0\n", Restarted, 4, "# TYPE a counter\na 708.0\n"},
		{"a counter without a directive is 0 after a restart", "# TYPE a counter\na 700.0\n# TYPE g gauge\ng 5.0\n", Restarted, 10, "# TYPE a counter\na 0.0\n# TYPE g gauge\ng 5.0\n"},
		{"so is its OpenMetrics spelling", "# TYPE a counter\na_total 700\na_created 1000.5\n", Restarted, 10, "# TYPE a counter\na_total 0\na_created 4605.5\n"},
		{"when the process began", "#> up 10s\nprocess_start_time_seconds 1.79e+09\n#> started\nboot 1.79e+09\nx_created 1.79e+09\n", Restarted, 10,
			"process_start_time_seconds 1.790000015e+09\nboot 1.790000015e+09\nx_created 1.790000015e+09\n"},
		{"a gauge idle", "#> idle 0 saturated 64\ng 5.0\nh 5.0\n", Idle, 3, "g 0.0\nh 5.0\n"},
		{"a gauge loaded", "#> idle 0 saturated 64\ng 5.0\n", Loaded, 3, "g 5.0\n"},
		{"a gauge saturated", "#> idle 0 saturated 64\ng 5.0\n", Saturated, 3, "g 64.0\n"},
		{"a gauge keeps saying it while stale", "#> idle 0 saturated 64\ng 5.0\n", Stale, 3, "g 5.0\n"},
		{"a gauge after a restart", "#> idle 0 restarted 1\ng 5.0\n", Restarted, 6, "g 1.0\n"},
		{"not finite, as it is said", "#> idle -nan saturated +Inf\ng 5\n", Idle, 3, "g -nan\n"},
		{"a negative value", "#> idle -1.5\ng 5\n", Idle, 3, "g -1.5\n"},
		{"absent", "#> idle absent\na{b=\"1\"} 5\na{b=\"2\"} 5\n", Idle, 3, "a{b=\"2\"} 5\n"},
		{"a family", "#> +1/s\n# HELP a b\n# TYPE a counter\na_total{e=\"0\"} 1\na_total{e=\"1\"} 2\nb_total 3\n", Loaded, 2, "# HELP a b\n# TYPE a counter\na_total{e=\"0\"} 3\na_total{e=\"1\"} 4\nb_total 3\n"},
		{"a line's own directive replaces the family's", "#> +1/s\n# TYPE a counter\n#> +5/s\na{e=\"0\"} 1\na{e=\"1\"} 2\n", Loaded, 2, "# TYPE a counter\na{e=\"0\"} 11\na{e=\"1\"} 4\n"},
		{"directives of several lines", "#> +1/s\n#> note slow\n#> saturated +2/s\na 1\n", Saturated, 2, "a 5\n"},
		{"follows", "#> +3/s\na 1\n#> follows a x 0.5\nb 10\n", Loaded, 10, "a 31\nb 25\n"},
		{"follows the series with the same labels", "#> +3/s\na{e=\"0\"} 1\n#> +5/s\na{e=\"1\"} 1\n#> follows a x 2\nb{e=\"1\"} 10\n", Loaded, 1, "a{e=\"0\"} 4\na{e=\"1\"} 6\nb{e=\"1\"} 20\n"},
		{"follows all", "#> +3/s\na{e=\"0\"} 1\n#> +5/s\na{e=\"1\"} 1\n#> follows a x 1\nb 10\n", Loaded, 1, "a{e=\"0\"} 4\na{e=\"1\"} 6\nb 18\n"},
		{"follows some", "#> +3/s\na{e=\"0\"} 1\n#> +5/s\na{e=\"1\"} 1\n#> follows a{e=\"1\"} x 1\nb 10\n", Loaded, 1, "a{e=\"0\"} 4\na{e=\"1\"} 6\nb 15\n"},
		{"layout stays", "\ufeff# x\r\n\r\n#> +1/s\r\n\t a {b=\"}\\\"\" , c=\"#\"}\t 1 \t 99 # {x=\"y\"} 1\r\nnonsense here\nz NaN", Loaded, 1,
			"\ufeff# x\r\n\r\n\t a {b=\"}\\\"\" , c=\"#\"}\t 2 \t 99 # {x=\"y\"} 1\r\nnonsense here\nz NaN"},
		{"no final newline", "b 1\n#> +1/s\na 1", Loaded, 1, "b 1\na 2"},
	}
	for _, c := range cases {
		if got := string(At(parse(t, c.fixture), c.state, c.seconds)); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

const histograms = `#> histogram 2/s around 0.5 spread 0 saturated 4/s around 3 spread 0
# TYPE h histogram
h_sum{e="0"} 1.5
h_bucket{e="0",le="0.25"} 1.0
h_bucket{e="0",le="1.0"} 3.0
h_bucket{e="0",le="+Inf"} 4.0
h_count{e="0"} 4.0
#> histogram 1/s around 8 spread 0
h_bucket{e="1",le="0.25"} 0.0
h_bucket{e="1",le="1.0"} 0.0
h_bucket{e="1",le="+Inf"} 0.0
h_count{e="1"} 0.0
h_sum{e="1"} 0.0
`

func TestHistogram(t *testing.T) {
	cases := []struct {
		state State
		want  string
	}{
		{Loaded, "21.5 1.0 43.0 44.0 44.0 | 0.0 0.0 20.0 20.0 160.0"},
		{Saturated, "241.5 1.0 3.0 84.0 84.0 | 0.0 0.0 20.0 20.0 160.0"},
		{Idle, "1.5 1.0 3.0 4.0 4.0 | 0.0 0.0 0.0 0.0 0.0"},
		{Restarted, "15.0 0.0 30.0 30.0 30.0 | 0.0 0.0 15.0 15.0 120.0"},
	}
	f := parse(t, histograms)
	for _, c := range cases {
		var got []string
		for line := range strings.Lines(string(At(f, c.state, 20))) {
			if words := strings.Fields(line); words[0] != "#" {
				if len(got) == 5 {
					got = append(got, "|")
				}
				got = append(got, words[1])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %s, want %s", c.state, strings.Join(got, " "), c.want)
		}
	}
}

// A pattern has the mean that is said, over whole cycles exactly, and a spread.
func TestPattern(t *testing.T) {
	for _, p := range []pattern{{1, 0.25, usualSpread, false}, {1, 4, 1.2, false}, {1, 512, 0.8, true}} {
		values, times := p.values(), p.observed(cycle*3)
		total, n, low, high := 0.0, 0.0, values[0], values[0]
		for i, v := range values {
			total, n = total+v*times[i], n+times[i]
			low, high = min(low, v), max(high, v)
			if p.whole && v != float64(int(v)) {
				t.Errorf("%+v: %v is not whole", p, v)
			}
		}
		if mean := total / n; n != 60 || mean < p.mean*0.999 || mean > p.mean*1.001 {
			t.Errorf("%+v: %v observations with mean %v", p, n, mean)
		}
		if low > p.mean*0.6 || high < p.mean*1.6 {
			t.Errorf("%+v: from %v to %v", p, low, high)
		}
	}
}

func TestTimeline(t *testing.T) {
	f := parse(t, "#> +1/s saturated +10/s\n# TYPE a counter\na 100\n#> idle 0 saturated 64 restarted 2\ng 5\n")
	line := Timeline{{10, Saturated}, {20, Stale}, {30, Idle}, {40, Restarted}, {50, Loaded}}
	for _, c := range []struct {
		seconds float64
		want    string
	}{
		{0, "a 100 g 5"}, {9, "a 109 g 5"}, {15, "a 160 g 64"}, {25, "a 210 g 64"}, {35, "a 210 g 0"}, {45, "a 5 g 2"}, {55, "a 15 g 5"},
	} {
		got := strings.Join(strings.Fields(string(f.Page(line, c.seconds))), " ")
		if got = strings.TrimPrefix(got, "# TYPE a counter "); got != c.want {
			t.Errorf("second %v: got %s, want %s", c.seconds, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	cases := []struct{ fixture, want string }{
		{"#> +1/s\na 999999.0\n", "a 1e+06\n"},
		{"#> +1/s\na 1.0777853952e+010\n", "a 1.0777853953e+010\n"},
		{"#> +1/s\na 9\nb 1.2e+10\n", "a 10\nb 1.2e+10\n"},
		{"#> +1/s\na 1.048575e+06\n", "a 1.048576e+06\n"},
		{"#> +1/s\na 1048575\n", "a 1048576\n"},
		{"#> +1/s\na 9999999.5\nb 1\n", "a 10000000.5\nb 1\n"},
		{"#> +1/s\na 9999999.5\nb 1.0\n", "a 1.00000005e+07\nb 1.0\n"},
		{"#> numbers g6\n#> +1/s\na 1234567\n", "a 1.23457e+06\n"},
		{"#> numbers g6\n#> +1/s\na 12.5\n", "a 13.5\n"},
		{"#> numbers f6\n#> +0.5/s\na 0.250000\n", "a 0.750000\n"},
		{"#> numbers plain\n#> +1/s\na 1\n#> numbers python\n#> +1/s\nb 1.0\n", "a 2\nb 2.0\n"},
		{"#> numbers go\n#> +0.00001/s\na 0.00002\n", "a 3.0000000000000004e-05\n"},
	}
	for _, c := range cases {
		if got := string(At(parse(t, c.fixture), Loaded, 1)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.fixture, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	cases := []struct{ fixture, want string }{
		{"a 1\n#> +1/s\n", "f.prom:2: nothing follows the directive"},
		{"#> +1/s\n\na 1\n", "f.prom:1: a directive stands directly before a series"},
		{"#> +1/s\n# a remark\na 1\n", "f.prom:1: a directive stands directly before a series"},
		{"#>\na 1\n", "f.prom:1: a directive without words"},
		{"b 1\n#> grows\na 1\n", `f.prom:2: "grows" is not understood`},
		{"#> +x/s\na 1\n", `f.prom:1: "x" is no number`},
		{"#> +-1/s\na 1\n", `f.prom:1: "-1" is no number`},
		{"#> +1\na 1\n", `f.prom:1: "+1" is no rate`},
		{"#> idle\na 1\n", `idle "" is neither a number nor absent`},
		{"#> idle 1 idle 2\na 1\n", "idle is said twice"},
		{"#> +1/s idle 0\na 1\n", "idle 0: what counts has no value of a state"},
		{"#> +1/s started\na 1\n", "one of +R/s"},
		{"#> saturated +1/s\na 1\n", "without a rate of the same kind before it"},
		{"#> histogram 1/s\n# TYPE a histogram\na_count 1\n", "around"},
		{"#> histogram 1/s around 1\n# TYPE a counter\na 1\n", "a (line 3) is no part of a histogram"},
		{"#> histogram 1/s around 1\n# TYPE a histogram\na_count 1\n", "no buckets"},
		{"#> +1/s\n# TYPE a histogram\na_count 1\n", "part of a histogram: say histogram"},
		{"#> histogram 1/s around 1\n# TYPE a histogram\na_bucket{le=\"1\"} 3\na_bucket{le=\"+Inf\"} 2\n", "f.prom:1: line 4: bucket +Inf has 2 observations, the one below it 3"},
		{"#> histogram 1/s around 1\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 2\na_count 3\n", "_count says 3"},
		{"#> +1/s\n# TYPE a counter\nb 1\n", "no series of a follows"},
		{"#> +1/s\n# TYPE a counter\n# TYPE b counter\na 1\n", "no series of a follows"},
		{"#> follows b x 1\na 1\n", "no series b to follow"},
		{"b 1\n#> follows b x 1\na 1\n", "b (line 1) does not move by itself"},
		{"#> follows b\na 1\n", "follows wants NAME x FACTOR"},
		{"#> up soon\na 1\n", "f.prom:1: up wants a duration"},
		{"#> numbers roman\na 1\n", "numbers"},
	}
	for _, c := range cases {
		if _, err := Parse("f.prom", []byte(c.fixture)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "f.prom:") {
			t.Errorf("%q: got %v, want %s", c.fixture, err, c.want)
		}
	}
}

// At second 0 a page is its fixture without the directives, whatever is said in it.
func TestFixturesAtTheirMoment(t *testing.T) {
	paths, _ := filepath.Glob("../../../testdata/expositions/*.prom")
	if len(paths) < 7 {
		t.Fatalf("%d fixtures", len(paths))
	}
	for _, path := range paths {
		f, err := Load(path)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#>") {
				want.WriteString(line)
			}
		}
		for _, s := range []State{Loaded, Stale, Restarted} {
			if got := At(f, s, 0); string(got) != want.String() {
				t.Errorf("%s, %s: differs from its fixture", path, s)
			}
		}
	}
}

// A page is read twice: a fixture that was once moved is not changed by it.
func TestPagesDoNotChangeTheFixture(t *testing.T) {
	f := parse(t, histograms)
	before := string(At(f, Loaded, 0))
	for _, s := range States() {
		At(f, s, 1000)
	}
	if string(At(f, Loaded, 0)) != before {
		t.Error("changed")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(histograms)
	f.Add("#> +1/s saturated +2/s idle absent\n# TYPE a counter\na{b=\"c\"} 1 # {} 1\n")
	f.Add("#> follows a x 2\n#> numbers g6\nb 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("f", []byte(text))
		if err != nil {
			return
		}
		for _, s := range States() {
			At(p, s, 7)
		}
	})
}
