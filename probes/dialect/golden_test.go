package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"llmtop/probes"
)

// goldenEngine is an Engine as the goldens have it: each reading in the order of the
// table with how it was obtained; what is not told is a list of names.
type goldenEngine struct {
	Dialect  string          `json:"dialect"`
	Model    string          `json:"model"`
	Role     probes.Role     `json:"role,omitempty"`
	Instance string          `json:"instance,omitempty"`
	AtFinish bool            `json:"tokens_at_finish,omitempty"`
	Readings []goldenReading `json:"readings"`
	Waits    []probes.Wait   `json:"waits,omitempty"`
	NotTold  []string        `json:"not_exposed"`
	Parts    []*goldenEngine `json:"parts,omitempty"`
}

type goldenReading struct {
	Name       string    `json:"name"`
	How        string    `json:"how"`
	Value      *float64  `json:"value,omitempty"`
	Count      *float64  `json:"count,omitempty"`
	Sum        *float64  `json:"sum,omitempty"`
	Bounds     []float64 `json:"bounds,omitempty"`
	Cumulative []float64 `json:"cumulative,omitempty"`
}

func golden(e *probes.Engine) *goldenEngine {
	if e == nil {
		return nil
	}
	g := &goldenEngine{Dialect: e.Dialect, Model: e.Model, Role: e.Role, Instance: e.Instance, AtFinish: e.AtFinish, Waits: e.Waits}
	for _, r := range probes.EngineReadings {
		line := goldenReading{Name: r.Name, How: e.Origin(r.Name).String()}
		if r.Number != nil {
			v, ok := r.Number(e).Get()
			if !ok {
				g.NotTold = append(g.NotTold, r.Name)
				continue
			}
			line.Value = &v
		} else {
			h := *r.Histogram(e)
			if h == nil {
				g.NotTold = append(g.NotTold, r.Name)
				continue
			}
			line.Count, line.Sum, line.Bounds, line.Cumulative = &h.Count, &h.Sum, h.Bounds, h.Cumulative
		}
		g.Readings = append(g.Readings, line)
	}
	for _, p := range e.Parts {
		part := golden(p)
		part.NotTold = nil
		g.Parts = append(g.Parts, part)
	}
	return g
}

// asJSON is an engine as its golden file holds it: a line a reading.
func asJSON(t *testing.T, e *probes.Engine) []byte {
	t.Helper()
	text, err := json.MarshalIndent(golden(e), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(objects.ReplaceAllFunc(text, func(o []byte) []byte { return spaces.ReplaceAll(o, nil) }), '\n')
}

var (
	objects = regexp.MustCompile(`\{\s*"name": [^{}]*\}`)
	spaces  = regexp.MustCompile(`\n\s*`)
)

// checkGolden holds an engine against testdata/NAME.json; -update rewrites it.
func checkGolden(t *testing.T, name string, e *probes.Engine) {
	t.Helper()
	path := filepath.Join("testdata", name+".json")
	got := asJSON(t, e)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// say lists an engine's readings as text, a line each.
func say(e *probes.Engine) string {
	if e == nil {
		return "no dialect\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q\n", e.Dialect, e.Model)
	for _, r := range probes.EngineReadings {
		if r.Number != nil {
			if v, ok := r.Number(e).Get(); ok {
				fmt.Fprintf(&b, "%s: %v\n", r.Name, v)
			} else {
				fmt.Fprintf(&b, "%s: %v\n", r.Name, r.Number(e).Why())
			}
			continue
		}
		if h := *r.Histogram(e); h != nil {
			fmt.Fprintf(&b, "%s: count %v sum %v\n  bounds %v\n  cumulative %v\n", r.Name, h.Count, h.Sum, h.Bounds, h.Cumulative)
		} else {
			fmt.Fprintf(&b, "%s: none\n", r.Name)
		}
	}
	return b.String()
}
