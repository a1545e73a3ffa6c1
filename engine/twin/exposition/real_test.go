package exposition

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/scrape"
)

// real are pages that ours are held against, and what they have and ours do not. A page of
// real numbers may lie beside the project.
var real = []struct {
	personality, page string
	whole             bool              // it has all bounds of each histogram
	extra             []string          // labels that ours does not have
	without           map[string]string // families, and why they are not on our page
}{
	{personality: "llmtop", page: "testdata/expositions/llmtop-engine.prom"},
	{personality: "vllm", page: "testdata/expositions/vllm-v1.prom"},
	{personality: "vllm", page: "testdata/expositions/vllm-0.30.prom"},
	{personality: "vllm", page: "vllm-2026-09-lmswitch-specdecode.prom", whole: true},
	{personality: "sglang", page: "testdata/expositions/sglang-0.5.prom", without: map[string]string{"sglang:num_retractions": "newer releases count num_retracted_requests"}},
	{personality: "sglang", page: "testdata/expositions/sglang-dp2.prom", extra: []string{"dp_rank", "priority"}},
	{personality: "tgi", page: "testdata/expositions/tgi-3.prom", extra: []string{"quantile"}}, // of a span of its own choice
	{personality: "tgi", page: "tgi-3.x-SYNTHESIZED-saturated.prom", extra: []string{"quantile"}},
	{personality: "llamacpp", page: "testdata/expositions/llamacpp-b10500.prom"},
	{personality: "llamacpp", page: "llamacpp-20260816-maruel-genai-da843b2a.prom", whole: true},
	{personality: "trtllm", page: "testdata/expositions/trtllm-1.3.prom", whole: true},
}

// Every family that is read of an engine's page is on ours, with the same labels, type and bounds.
func TestPagesHaveWhatRealOnesHave(t *testing.T) {
	for _, c := range real {
		t.Run(c.personality+" "+filepath.Base(c.page), func(t *testing.T) {
			theirs := readPage(t, c.page)
			ours := livedPage(t, c.personality)
			read := familiesRead(theirs)
			if len(read) < 8 {
				t.Fatalf("of the page only %v are read", read)
			}
			t.Logf("%d families are read", len(read))
			for _, family := range read {
				if c.without[family] == "" {
					compareFamily(t, family, theirs, ours, c.whole, c.extra)
				}
			}
		})
	}
}

// readPage reads a page of the repository, or one of those beside it; the test is skipped without.
func readPage(t *testing.T, page string) *probes.Scrape {
	t.Helper()
	path := filepath.Join("../../..", page)
	if !strings.Contains(page, "/") {
		dir := os.Getenv("LLMTOP_SAMPLES")
		if dir == "" {
			dir = "../../../../shared/data/metrics"
		}
		path = filepath.Join(dir, page)
		if _, err := os.Stat(path); err != nil {
			t.Skip("no sample page " + page + " beside the project (LLMTOP_SAMPLES)")
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return scrape.Parse(text)
}

// livedPage is a page on which all has happened.
func livedPage(t *testing.T, name string) *probes.Scrape {
	t.Helper()
	info := sampleInfo()
	info.Drafts, info.Role, info.Context = 3, probes.Decode, 1<<20
	l := newLife(5, info)
	p, err := New(name, info)
	if err != nil {
		t.Fatal(err)
	}
	l.pages = []Page{p}
	for range 300 {
		l.step()
	}
	schema, values := p.Scrape(l.now, &l.state)
	return &probes.Scrape{At: l.now, Schema: schema, Values: values}
}

// familiesRead are those without which a page would say something else.
func familiesRead(s *probes.Scrape) (read []string) {
	whole := dialect.Decode(s)
	whole.Origins = nil
	for i := range s.Schema.Series {
		family := s.Schema.Series[i].Family
		if i > 0 && s.Schema.Series[i-1].Family == family || slices.Contains(read, family) {
			continue
		}
		rest := &probes.Scrape{Schema: new(probes.Schema)}
		for j, v := range s.Values {
			if s.Schema.Series[j].Family != family {
				rest.Schema.Series, rest.Values = append(rest.Schema.Series, s.Schema.Series[j]), append(rest.Values, v)
			}
		}
		left := dialect.Decode(rest)
		if left != nil {
			left.Origins = nil
		}
		if !reflect.DeepEqual(left, whole) {
			read = append(read, family)
		}
	}
	return read
}

func compareFamily(t *testing.T, name string, theirs, ours *probes.Scrape, whole bool, extra []string) {
	t.Helper()
	of := func(s *probes.Scrape) (series []probes.Series) {
		for _, x := range s.Schema.Series {
			if x.Family == name {
				series = append(series, x)
			}
		}
		return series
	}
	them, us := of(theirs), of(ours)
	if len(us) == 0 {
		t.Errorf("%s is not on our page", name)
		return
	}
	if them[0].Type != us[0].Type {
		t.Errorf("%s is of type %v, ours %v", name, them[0].Type, us[0].Type)
	}
	for _, want := range labelNames(them) {
		if strings.HasSuffix(name, "_info") { // its labels are the settings of a release; what is read of them is seen in what the page tells
			break
		}
		if !slices.Contains(labelNames(us), want) && !slices.Contains(extra, want) {
			t.Errorf("%s has the label %s, ours %v", name, want, labelNames(us))
		}
	}
	theirBounds, ourBounds := bounds(them), bounds(us)
	if whole && !slices.Equal(theirBounds, ourBounds) {
		t.Errorf("%s has the bounds %v, ours %v", name, theirBounds, ourBounds)
	}
	for _, le := range theirBounds {
		if !slices.Contains(ourBounds, le) && !strings.Contains(name, "length") && !strings.HasSuffix(name, "generated_tokens") {
			t.Errorf("%s has the bound %s, ours %v", name, le, ourBounds)
		}
	}
}

func labelNames(series []probes.Series) (names []string) {
	for i := range series {
		for _, l := range series[i].Labels {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// bounds are the labels le in the order of the page, each once.
func bounds(series []probes.Series) (le []string) {
	for i := range series {
		if b := series[i].Label("le"); b != "" && !slices.Contains(le, b) {
			le = append(le, b)
		}
	}
	return le
}

// Bounds are written as the engine's own library writes them.
func TestBoundsAreWrittenAsTheEngineDoes(t *testing.T) {
	for _, c := range []struct {
		write func(float64) string
		v     float64
		want  string
	}{
		{pythonFloat, 1, "1.0"}, {pythonFloat, .001, "0.001"}, {pythonFloat, 2560, "2560.0"}, {pythonFloat, 100000, "100000.0"},
		{pythonFloat, 1e6, "1e+06"}, {pythonFloat, 1.1e6, "1.1e+06"}, {pythonFloat, 2.5e7, "2.5e+07"},
		{goFloat, 1, "1"}, {goFloat, 1e-5, "1e-05"}, {goFloat, 2560, "2560"},
		{rustFloat, 4096, "4096"}, {rustFloat, steps(2048, 100)[46], "962.5600000000001"}, {rustFloat, products(.0001, 1.5, 1)[0], "0.00015000000000000001"},
	} {
		got := c.write(c.v)
		if v, err := strconv.ParseFloat(got, 64); got != c.want || err != nil || v != c.v {
			t.Errorf("%v is written %q, want %q", c.v, got, c.want)
		}
	}
}
