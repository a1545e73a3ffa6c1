package dialect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
)

// expectation is a reading of a fixture as it was worked out by hand from the page:
// "12 exact", "count 4 sum 2 exact", "not exposed". With a part before a bar it is
// that of one of the engines behind the page: "1|running".
type expectation struct {
	page, what, reading, want string
}

func expect(t *testing.T, cases []expectation) {
	t.Helper()
	for _, c := range cases {
		e := Decode(load(t, filepath.Join(expositions, c.page+".prom")))
		if got := told(e, c.reading); got != c.want {
			t.Errorf("%s: %s: %s: got %s, want %s", c.page, c.what, c.reading, got, c.want)
		}
	}
}

// expectOnPages is expect for pages written into the test.
func expectOnPages(t *testing.T, cases []struct{ what, page, reading, want string }) {
	t.Helper()
	for _, c := range cases {
		if got := told(Decode(parse(c.page)), c.reading); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", c.what, c.reading, got, c.want)
		}
	}
}

// told is what an engine says of a reading, or of itself: dialect, model, role, parts,
// waits, when its tokens move.
func told(e *probes.Engine, name string) string {
	if e == nil {
		return "no dialect"
	}
	if part, reading, found := strings.Cut(name, "|"); found {
		for _, p := range e.Parts {
			if p.Instance == part {
				return told(p, reading)
			}
		}
		return "no part " + part
	}
	switch name {
	case "dialect":
		return e.Dialect
	case "model":
		return e.Model
	case "role":
		return string(e.Role)
	case "parts":
		return fmt.Sprint(len(e.Parts))
	case "tokens at finish":
		return fmt.Sprint(e.AtFinish)
	case "waits":
		return fmt.Sprint(e.Waits)
	}
	r, known := probes.LookupEngineReading(name)
	if !known {
		return "no reading " + name
	}
	if r.Number != nil {
		v, ok := r.Number(e).Get()
		if !ok {
			return r.Number(e).Why().String()
		}
		return fmt.Sprintf("%.12g %s", v, e.Origin(name))
	}
	h := *r.Histogram(e)
	if h == nil {
		return "not exposed"
	}
	return fmt.Sprintf("count %.12g sum %.12g %s", h.Count, h.Sum, e.Origin(name))
}

// samples are pages of an engine that may lie beside the project, by their names; the
// test is skipped when there are none.
func samples(t *testing.T, pattern string) map[string]*probes.Engine {
	t.Helper()
	dir := os.Getenv("LLMTOP_SAMPLES")
	if dir == "" {
		dir = "../../../shared/data/metrics"
	}
	paths, _ := filepath.Glob(filepath.Join(dir, pattern))
	if len(paths) == 0 {
		t.Skip("no sample pages " + pattern + " beside the project (LLMTOP_SAMPLES)")
	}
	out := map[string]*probes.Engine{}
	for _, path := range paths {
		out[filepath.Base(path)] = Decode(load(t, path))
	}
	t.Logf("%d sample pages %s read", len(out), pattern)
	return out
}

// expectSample compares one of the samples with numbers read from it by hand.
func expectSample(t *testing.T, pages map[string]*probes.Engine, name string, want map[string]string) {
	t.Helper()
	e, there := pages[name]
	if !there {
		t.Logf("no sample page %s", name)
		return
	}
	for reading, w := range want {
		if got := told(e, reading); got != w {
			t.Errorf("%s: %s: got %s, want %s", name, reading, got, w)
		}
	}
}
