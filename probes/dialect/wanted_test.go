package dialect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
)

// wanted is a reading worked out from a page by hand: a number, "count/sum" of a
// histogram, with "!" behind it when it has no bounds, or "-" when it is not exposed.
type wanted struct {
	what, reading, want string
	how                 probes.Origin
}

const (
	exact      = probes.Exact
	difference = probes.Difference
	estimated  = probes.Estimated
	untold     = probes.NotTold
)

// asWanted is a reading in the words of wanted.
func asWanted(e *probes.Engine, name string) string {
	r, known := probes.LookupEngineReading(name)
	switch {
	case e == nil:
		return "no dialect"
	case !known:
		return "no such reading"
	case r.Number != nil:
		if v, ok := r.Number(e).Get(); ok {
			return fmt.Sprintf("%.10g", v)
		}
		return "-"
	}
	h := *r.Histogram(e)
	if h == nil {
		return "-"
	}
	bare := ""
	if len(h.Bounds) == 0 {
		bare = "!"
	}
	return fmt.Sprintf("%.10g/%.10g%s", h.Count, h.Sum, bare)
}

func check(t *testing.T, name string, e *probes.Engine, cases []wanted) {
	t.Helper()
	for _, c := range cases {
		if got, how := asWanted(e, c.reading), e.Origin(c.reading); got != c.want || how != c.how {
			t.Errorf("%s: %s: %s is %s, %v; want %s, %v", name, c.what, c.reading, got, how, c.want, c.how)
		}
	}
}

// checkPage decodes a fixture, which has to be of that dialect.
func checkPage(t *testing.T, page, dialect string, cases []wanted) *probes.Engine {
	t.Helper()
	e := Decode(load(t, filepath.Join(expositions, page+".prom")))
	if e == nil || e.Dialect != dialect {
		t.Fatalf("%s: got %s", page, say(e))
	}
	check(t, page, e, cases)
	return e
}

// waits are the parts of the waiting requests as text.
func waits(e *probes.Engine) string {
	var out []string
	for _, w := range e.Waits {
		out = append(out, fmt.Sprintf("%s %v", w.Name, w.Depth))
	}
	return strings.Join(out, ", ")
}

// sample decodes a real engine's page that may lie beside the project; nil when it does not.
func sample(t *testing.T, name string) *probes.Engine {
	t.Helper()
	pages, _ := filepath.Glob(filepath.Join(samplesDir(), name))
	if len(pages) == 0 {
		return nil
	}
	return Decode(load(t, pages[0]))
}

// samplesDir is the folder of real engines' pages.
func samplesDir() string {
	if dir := os.Getenv("LLMTOP_SAMPLES"); dir != "" {
		return dir
	}
	return "../../../shared/data/metrics"
}
