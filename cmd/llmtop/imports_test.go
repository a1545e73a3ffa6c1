package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// arrows says which packages of ours each package may import, tests aside. A
// pattern ending in /... stands for the package and all below it. A package that
// is not listed fails the test: a new one states its arrows here.
var arrows = map[string][]string{
	"cmd/llmtop/internal/export": {"rules", "probes", "probes/record"},

	"cmd/llmtop":                       {"panes", "rules", "rules/...", "probes", "probes/...", "engine", "engine/...", "cmd/llmtop/internal/..."},
	"cmd/llmtop/internal/child":        {},
	"cmd/llmtop/internal/seams":        {"engine"},
	"cmd/llmtop/internal/demo":         {"cmd/llmtop/internal/child", "panes", "rules", "rules/...", "probes", "probes/...", "engine", "engine/..."},
	"cmd/llmtop/internal/drill":        {"rules", "probes", "probes/record", "engine/twin", "engine/twin/..."},
	"cmd/llmtop/internal/drill/inject": {"cmd/llmtop/internal/child", "cmd/llmtop/internal/drill", "rules", "probes", "probes/record", "engine", "engine/load", "engine/model"},
	"cmd/llmtop/internal/drill/judge":  {"cmd/llmtop/internal/drill", "cmd/llmtop/internal/drill/truth", "rules", "probes", "probes/record"},
	"cmd/llmtop/internal/drill/truth":  {"rules", "probes", "probes/dialect", "probes/frames"},
	"cmd/llmtop/internal/drill/score":  {"cmd/llmtop/internal/drill"},
	"panes":                            {"rules", "probes"},
	"rules":                            {"probes", "probes/dialect", "probes/frames", "rules/roofline"},
	"rules/ruletest":                   {"rules", "probes", "probes/dialect"},
	"probes":                           {},
	"probes/scrape":                    {"probes"},
	"probes/requests":                  {"probes"},
	"probes/simulated":                 {"probes"},
	"probes/canary":                    {"probes"},
	"probes/engineconfig":              {"probes"},
	"probes/otlp":                      {"probes"},
	"probes/dialect":                   {"probes"},
	"probes/discover":                  {"probes"},
	"probes/nvml":                      {"probes"},
	"probes/dcgm":                      {"probes"},
	"probes/amdgpu":                    {"probes"},
	"probes/host":                      {"probes"},
	"probes/cpuprofile":                {"probes"},
	"probes/enginelog":                 {"probes"},
	"probes/frames":                    {"probes"},
	"probes/record":                    {"probes"},
	"engine":                           {"engine/model", "engine/tokenizer"},
	"engine/model":                     {"engine/tokenizer"},
	"engine/tokenizer":                 {},
	"engine/load":                      {},
	"engine/twin":                      {"engine", "engine/twin/...", "probes", "rules/roofline"},
	"engine/twin/knob":                 {},
	"engine/twin/cost":                 {"engine/twin/knob", "rules/roofline"},
	"engine/twin/workload":             {"engine", "engine/twin/knob"},
	"engine/twin/exposition":           {"engine", "probes"},
	"engine/twin/device":               {"engine/twin/cost", "engine/twin/knob", "probes", "rules/roofline"},
	"engine/twin/machine":              {"engine/twin/knob", "probes"},
	"engine/twin/live":                 {"engine", "engine/twin", "engine/twin/...", "probes"},
	"rules/roofline":                   {},
	"scripts/demogate":                 {"scripts/internal/child"},
	"scripts/speculation":              {"engine"},
	"scripts/enginegate":               {},
	"scripts/hostgate":                 {"scripts/internal/child"},
	"scripts/internal/child":           {},
	"scripts/internal/play":            {},
	"scripts/playtest":                 {"scripts/internal/play"},
	"scripts/exposition":               {"scripts/internal/play", "scripts/internal/faulty"},
	"scripts/internal/faulty":          {},
	"scripts/agreegate":                {"scripts/internal/child", "engine/load", "probes", "probes/scrape", "probes/dialect"},
	"scripts/attachgate":               {"scripts/internal/child", "scripts/internal/play", "scripts/internal/faulty", "probes", "probes/scrape"},
	"scripts/recordgate":               {"scripts/internal/child"},
	"scripts/gpugate":                  {"scripts/internal/child", "probes", "probes/record"},
	"scripts/policies":                 {"scripts/internal/child"},
	"scripts/soak":                     {"scripts/internal/child"},
	"scripts/twingate":                 {"engine", "engine/twin", "engine/twin/...", "probes", "probes/requests", "rules/roofline"},
}

// fenced third-party imports stay in the packages that exist for them.
var fenced = map[string][]string{
	"github.com/rivo/tview":               {"panes"},
	"github.com/gdamore/tcell/v2":         {"panes"},
	"github.com/NVIDIA/go-nvml":           {"probes/nvml"},
	"github.com/shirou/gopsutil/v3":       {"probes/host"},
	"github.com/google/pprof":             {"probes/frames", "rules/ruletest", "engine/twin/machine"},
	"github.com/prometheus/client_golang": {"engine"},
	"github.com/spf13/cobra":              {"cmd/llmtop"},
	"github.com/klauspost/compress":       {"probes/record"},
	"github.com/prometheus/common/expfmt": {"probes/scrape"},
	"github.com/prometheus/procfs":        {"probes/host"},
	"github.com/expr-lang/expr":           {"rules"},
	"go.opentelemetry.io/proto/otlp":      {"probes/otlp"},
	"google.golang.org/protobuf":          {"probes/otlp"},
}

// TestArrows parses every non-test file in this process (asking the go command
// would be answered from the test cache) and holds the imports against the arrows.
func TestArrows(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		checkFile(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("only %d files seen: the walk is broken", files)
	}
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	pkg := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../../"))
	allowed, known := arrows[pkg]
	if !known {
		t.Errorf("%s: package %s has no arrows: list it in imports_test.go", path, pkg)
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if ours, ok := strings.CutPrefix(name, "llmtop/"); ok && !matches(allowed, ours) {
			t.Errorf("%s: %s must not import %s", path, pkg, ours)
		}
		for lib, homes := range fenced {
			if (name == lib || strings.HasPrefix(name, lib+"/")) && !matches(homes, pkg) {
				t.Errorf("%s: only %s may import %s", path, strings.Join(homes, ", "), name)
			}
		}
	}
}

func matches(patterns []string, pkg string) bool {
	for _, p := range patterns {
		if p == pkg {
			return true
		}
		if base, ok := strings.CutSuffix(p, "/..."); ok && strings.HasPrefix(pkg, base+"/") {
			return true
		}
	}
	return false
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"probes", "probes", true}, {"probes", "probes/host", false},
		{"probes/...", "probes/host", true}, {"probes/...", "probesx", false},
	} {
		if got := matches([]string{c.pattern}, c.pkg); got != c.want {
			t.Errorf("matches(%q, %q) = %v, want %v", c.pattern, c.pkg, got, c.want)
		}
	}
}
