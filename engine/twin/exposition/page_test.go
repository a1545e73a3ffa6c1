package exposition

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/scrape"
)

var midnight = time.Date(2026, 3, 1, 0, 0, 0, 250e6, time.UTC)

func sampleInfo() Info {
	return Info{Model: "acme/llama-70b", BlockSize: 16, Blocks: 4000, Context: 32768, MaxNumSeqs: 12, TokenBudget: 512,
		MaxQueue: 40, Ranks: 4, PrefixCache: true, Started: midnight, Policy: "continuous"}
}

// dialectOf is the engine that a personality's page is taken for.
func dialectOf(name string) string {
	if name == "llmtop" {
		return "vllm"
	}
	return name
}

// reader reads a page both ways and holds that they say the same.
type reader struct {
	page   Page
	parser *scrape.Parser
	fast   *dialect.Decoder
	slow   *dialect.Decoder
	schema *probes.Schema // of the last reading,
	parsed *probes.Schema // and as it was parsed
}

func (r *reader) read(t *testing.T, at time.Time, s *State) *probes.Engine {
	t.Helper()
	schema, values := r.page.Scrape(at, s)
	var text bytes.Buffer
	if err := WriteText(&text, schema, values); err != nil {
		t.Fatal(err)
	}
	got, more := r.parser.Parse(text.Bytes())
	if more != 0 || got.Dropped != 0 {
		t.Fatalf("%d series too many, %d lines not understood", more, got.Dropped)
	}
	if !reflect.DeepEqual(got.Schema.Series, schema.Series) {
		t.Fatalf("the text is parsed into other series: %s", firstDifference(got.Schema, schema))
	}
	for i, v := range values {
		if got.Values[i] != v && !(math.IsNaN(v) && math.IsNaN(got.Values[i])) {
			t.Fatalf("%s: %v became %v in the text", schema.Series[i].Key(), v, got.Values[i])
		}
	}
	if (schema == r.schema) != (got.Schema == r.parsed) {
		t.Errorf("the page kept its schema: %v; the parser its own: %v", schema == r.schema, got.Schema == r.parsed)
	}
	r.schema, r.parsed = schema, got.Schema
	fast := r.fast.Decode(&probes.Scrape{At: at, Schema: schema, Values: values})
	slow := r.slow.Decode(&probes.Scrape{At: at, Schema: got.Schema, Values: got.Values})
	if !reflect.DeepEqual(fast, slow) {
		t.Errorf("the two ways say different things:\n%+v\n%+v", fast, slow)
	}
	return fast
}

func newReader(p Page) *reader {
	return &reader{page: p, parser: scrape.NewParser(0), fast: dialect.NewDecoder(), slow: dialect.NewDecoder()}
}

func firstDifference(got, want *probes.Schema) string {
	for i := range min(len(got.Series), len(want.Series)) {
		if g, w := &got.Series[i], &want.Series[i]; !reflect.DeepEqual(g, w) {
			return fmt.Sprintf("number %d is %+v, not %+v", i, g, w)
		}
	}
	return fmt.Sprintf("%d, not %d", len(got.Series), len(want.Series))
}

// Whatever life requests lead, a page says the same as text and straight, it is taken for the
// right engine, and what it says is the truth as far as that engine can tell it.
func TestPagesTellTheTruth(t *testing.T) {
	drafting, decoder := sampleInfo(), sampleInfo()
	drafting.Drafts, decoder.Role = 3, probes.Decode
	for what, info := range map[string]Info{"plain": sampleInfo(), "drafts": drafting, "decode instance": decoder} {
		for seed := uint64(1); seed <= 3; seed++ {
			t.Run(fmt.Sprintf("%s %d", what, seed), func(t *testing.T) { live(t, info, seed) })
		}
	}
}

func live(t *testing.T, info Info, seed uint64) {
	l := newLife(seed, info)
	readers := map[string]*reader{}
	for _, name := range Names() {
		p, err := New(name, info)
		if err != nil {
			t.Fatal(err)
		}
		l.pages = append(l.pages, p)
		readers[name] = newReader(p)
	}
	readAll := func() {
		for _, name := range Names() {
			checkTruth(t, name, l, readers[name].read(t, l.now, &l.state))
		}
	}
	readAll()
	for part := range 3 {
		for range 60 + l.rng.IntN(80) {
			l.step()
			if l.rng.IntN(10) == 0 {
				readAll()
			}
		}
		if part == 1 {
			l.forget()
			l.now = l.now.Add(time.Minute)
			l.info.Started = l.now
			l.info.Blocks += 100
			l.all(func(p Page) { p.Restarted(l.info) })
			readAll()
		}
	}
	if len(l.values["queue"]) < 15 || l.numbers["abort"] == 0 || l.numbers["rejected"] == 0 {
		t.Errorf("not much of a life: %v", l.numbers)
	}
}

// checkTruth compares all that an engine is said to tell with the truth.
func checkTruth(t *testing.T, name string, l *life, e *probes.Engine) {
	t.Helper()
	if e == nil {
		if name == "tgi" || name == "trtllm" || name == "sglang" {
			return // not a family before something has happened
		}
		t.Fatalf("%s: taken for no engine", name)
	}
	if e.Dialect != dialectOf(name) || name != "tgi" && name != "llamacpp" && e.Model != l.info.Model || e.Role != l.info.Role && name == "sglang" {
		t.Errorf("%s: taken for %q serving %q as %q", name, e.Dialect, e.Model, e.Role)
	}
	for _, r := range probes.EngineReadings {
		want, can := tell[name][r.Name]
		how := e.Origin(r.Name)
		if early(name, l, r.Name) {
			continue
		}
		if how != probes.NotTold && (!can || how != want.how) {
			t.Errorf("%s: %s is %v, expected %v", name, r.Name, how, want.how)
			continue
		}
		if r.Number != nil {
			checkNumber(t, name, r, want, l, e)
		} else if can {
			checkHistogram(t, name, r, want, l, *r.Histogram(e))
		}
	}
}

// early reports what is told in another way until more has happened: by TensorRT-LLM in
// blocks until a request has ended, by SGLang as a gauge before the first step.
func early(name string, l *life, reading string) bool {
	return name == "trtllm" && reading == "prefix_queries_total" && l.numbers["answered"] == 0 ||
		name == "sglang" && reading == "prefix_hit_ratio" && len(l.values["step tokens"]) == 0
}

func checkNumber(t *testing.T, name string, r probes.EngineReading, want tells, l *life, e *probes.Engine) {
	t.Helper()
	truth := l.numbers[want.truth]
	if v, is := l.values[want.truth]; is && l.numbers[want.truth] == 0 {
		truth, _ = total(v)
	}
	switch got, told := r.Number(e).Get(); {
	case want.number != nil:
		truth = want.number(l)
		fallthrough
	case want.truth != "":
		if told && !near(name, got, truth) || !told && truth != 0 && !before(name, l) {
			t.Errorf("%s: %s is %v (told: %v), in truth %v", name, r.Name, got, told, truth)
		}
	}
}

// before reports whether an engine that shows nothing before its first step has had none.
func before(name string, l *life) bool {
	return (name == "sglang" || name == "trtllm") && len(l.values["step tokens"]) == 0
}

func checkHistogram(t *testing.T, name string, r probes.EngineReading, want tells, l *life, h *probes.Histogram) {
	t.Helper()
	truth := l.values[want.truth]
	if h == nil {
		if len(truth) > 0 && !(r.Name == "transfer_seconds" && l.info.Role == probes.Whole) && !(r.Name == "step_seconds" && l.info.Drafts > 0) {
			t.Errorf("%s: %s is not told", name, r.Name)
		}
		return
	}
	sum, count := total(truth)
	if want.count != "" {
		count = l.numbers[want.count]
	}
	if !near(name, h.Count, count) || !near(name, h.Sum, sum) || want.bare != (len(h.Bounds) == 0) {
		t.Errorf("%s: %s has %v values of %v and %d bounds, in truth %v of %v", name, r.Name, h.Count, h.Sum, len(h.Bounds), count, sum)
	}
	inOrder := slices.Sorted(slices.Values(truth))
	for i, bound := range h.Bounds {
		below := float64(sort.Search(len(inOrder), func(n int) bool { return inOrder[n] > bound }))
		if h.Cumulative[i] != below && !onBound(truth, bound) {
			t.Errorf("%s: %s has %v values up to %v, in truth %v", name, r.Name, h.Cumulative[i], bound, below)
			return
		}
	}
}

// onBound reports whether a value is so close to a bound that rounding decides.
func onBound(values []float64, bound float64) bool {
	for _, v := range values {
		if math.Abs(v-bound) < 1e-9*math.Max(1, bound) {
			return true
		}
	}
	return false
}

func total(values []float64) (sum, count float64) {
	for _, v := range values {
		sum += v
	}
	return sum, float64(len(values))
}

// near allows the order in which floats were added, and llama.cpp six digits.
func near(name string, got, want float64) bool {
	off := 1e-9
	if name == "llamacpp" {
		off = 1e-5
	}
	return math.Abs(got-want) <= off*math.Max(1, math.Abs(want))
}
