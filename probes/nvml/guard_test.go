//go:build linux && cgo

package nvml

import (
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// harmless methods of go-nvml call no driver function, or only look one up; or what is
// used here under that name is another type's: a strings.Builder's String, and Opt's Get,
// which other than go-nvml's has no arguments.
var harmless = []string{"Extensions", "LookupSymbol", "String", "Get()"}

// TestEveryCallIsGuarded walks this package's source: each use of a go-nvml method must
// stand in the arguments of a call that passes the driver function's name to the guard,
// the name must be the one that the method calls, and with every spelling that go-nvml
// may choose it must be looked up beforehand.
func TestEveryCallIsGuarded(t *testing.T) {
	b := parseBinding(t)
	if len(b.bound) < 428 {
		t.Fatalf("go-nvml binds %d driver functions: its source was not understood", len(b.bound))
	}
	tables := allSymbols(t)
	files := parseFiles(t, "*.go")
	guarded := guardedFunctions(files)
	used := map[string]bool{}
	for name, f := range files {
		if !importsBinding(f) {
			continue
		}
		bare := callsWithoutArguments(f)
		walkCalls(f, func(use *ast.SelectorExpr, symbol, callee string) {
			m := use.Sel.Name
			reached := b.candidates(m)
			switch {
			case len(reached) == 0 || slices.Contains(harmless, m) || isElsewhere(f, use):
			case bare[use] && slices.Contains(harmless, m+"()"):
			case symbol == "":
				t.Errorf("%s: %s is called without the guard", name, m)
			case !guarded[callee]:
				t.Errorf("%s: %s stands in a call of %s, which does not guard it", name, m, callee)
			case tables[symbol] == nil:
				t.Errorf("%s: %s is guarded by %s, which nobody looks up", name, m, symbol)
			case !slices.ContainsFunc(reached, func(c map[string]bool) bool { return covers(tables[symbol], c) }):
				t.Errorf("%s: %s calls %v, but %v are looked up for %s", name, m, reached, slices.Sorted(maps.Keys(tables[symbol])), symbol)
			default:
				used[symbol] = true
			}
		})
	}
	for symbol := range tables {
		if !used[symbol] {
			t.Errorf("%s is looked up, but nothing calls it", symbol)
		}
	}
	t.Logf("go-nvml binds %d driver functions, %d are called here", len(b.bound), len(used))
}

// allSymbols are the tables as one: of a symbol all its spellings.
func allSymbols(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, table := range []map[string][]string{symbols, readingSymbols, processSymbols} {
		for name, others := range table {
			if all[name] != nil {
				t.Errorf("%s stands in two tables", name)
			}
			all[name] = map[string]bool{name: true}
			for _, o := range others {
				all[name][o] = true
			}
		}
	}
	return all
}

// covers: every driver function that may be called is among those looked up, and every
// one looked up may be called.
func covers(lookedUp, called map[string]bool) bool { return maps.Equal(lookedUp, called) }

// candidates is what each method of that name calls.
func (b *binding) candidates(method string) []map[string]bool {
	var out []map[string]bool
	for _, m := range b.methods[method] {
		if c := b.reaches(m); len(c) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func importsBinding(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == `"github.com/NVIDIA/go-nvml/pkg/nvml"`
	})
}

func callsWithoutArguments(f *ast.File) map[ast.Expr]bool {
	out := map[ast.Expr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			out[call.Fun] = true
		}
		return true
	})
	return out
}

// isElsewhere: it is something of another package, as strings.Contains is.
func isElsewhere(f *ast.File, use *ast.SelectorExpr) bool {
	x, ok := use.X.(*ast.Ident)
	return ok && x.Name != "nvml" && slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		path, _ := strconv.Unquote(i.Path.Value)
		return path[strings.LastIndex(path, "/")+1:] == x.Name
	})
}

// walkCalls visits each selector with the driver function's name, and the function called,
// of the innermost call around it that has such a name.
func walkCalls(f *ast.File, visit func(use *ast.SelectorExpr, symbol, callee string)) {
	var walk func(n ast.Node, symbol, callee string)
	walk = func(n ast.Node, symbol, callee string) {
		ast.Inspect(n, func(in ast.Node) bool {
			switch in := in.(type) {
			case *ast.CallExpr:
				if s := symbolArgument(in); s != "" && in != n {
					walk(in.Fun, symbol, callee)
					for _, a := range in.Args {
						walk(a, s, calledName(in))
					}
					return false
				}
			case *ast.SelectorExpr:
				visit(in, symbol, callee)
			}
			return true
		})
	}
	walk(f, "", "")
}

func symbolArgument(call *ast.CallExpr) string {
	for _, a := range call.Args {
		if lit, ok := a.(*ast.BasicLit); ok {
			if s, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(s, "nvml") {
				return s
			}
		}
	}
	return ""
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// guardedFunctions are those with a parameter "symbol" that call what they are given only
// inside another call with that symbol; at their end stands guard.call.
func guardedFunctions(files map[string]*ast.File) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || !slices.Contains(parameters(fn, nil), "symbol") {
				continue
			}
			isGuard := fn.Name.Name == "call" && fn.Recv != nil && receiver(fn) == "guard"
			if isGuard || passesOn(fn) {
				out[fn.Name.Name] = true
			}
		}
	}
	return out
}

// parameters lists names, of all parameters or of those whose type is wanted.
func parameters(fn *ast.FuncDecl, wanted func(ast.Expr) bool) []string {
	var names []string
	for _, p := range fn.Type.Params.List {
		for _, n := range p.Names {
			if wanted == nil || wanted(p.Type) {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

func passesOn(fn *ast.FuncDecl) bool {
	given := parameters(fn, func(e ast.Expr) bool { _, is := e.(*ast.FuncType); return is })
	good := true
	var walk func(n ast.Node, inside bool)
	walk = func(n ast.Node, inside bool) {
		ast.Inspect(n, func(in ast.Node) bool {
			switch in := in.(type) {
			case *ast.CallExpr:
				if first, ok := firstArgument(in); ok && first == "symbol" && in != n {
					for _, a := range in.Args {
						walk(a, true)
					}
					return false
				}
			case *ast.Ident:
				good = good && (inside || !slices.Contains(given, in.Name))
			}
			return true
		})
	}
	walk(fn.Body, false)
	return good
}

func firstArgument(call *ast.CallExpr) (string, bool) {
	if len(call.Args) == 0 {
		return "", false
	}
	id, ok := call.Args[0].(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// The checks above see what they are to see.
func TestGuardTestSees(t *testing.T) {
	b := parseBinding(t)
	for method, want := range map[string]map[string]bool{
		"GetComputeRunningProcesses": {"nvmlDeviceGetComputeRunningProcesses": true, "nvmlDeviceGetComputeRunningProcesses_v2": true, "nvmlDeviceGetComputeRunningProcesses_v3": true},
		"Init":                       {"nvmlInit": true, "nvmlInit_v2": true},
		"GetPowerUsage":              {"nvmlDeviceGetPowerUsage": true},
	} {
		if got := b.candidates(method); !slices.ContainsFunc(got, func(c map[string]bool) bool { return covers(want, c) }) {
			t.Errorf("%s calls %v, want %v", method, got, want)
		}
	}
	for name, source := range map[string]string{
		"f": `func f(symbol string, get func() int) int { return get() }`,
		"g": `func (x guard) g(symbol string, get func() int) int { n := 0; x.call(symbol, func() int { n = get(); return n }); return n }`,
	} {
		if got := guardedFunctions(parseText(t, source))[name]; got != (name == "g") {
			t.Errorf("%s: taken for a function that guards: %v", source, got)
		}
	}
	naked := 0
	for _, f := range parseText(t, `func h() { d.GetPowerUsage(); g.call("nvmlDeviceGetPowerUsage", d.GetPowerUsage) }`) {
		walkCalls(f, func(use *ast.SelectorExpr, symbol, callee string) {
			if use.Sel.Name == "GetPowerUsage" && symbol == "" {
				naked++
			}
		})
	}
	if naked != 1 {
		t.Errorf("%d naked calls seen, want 1", naked)
	}
}
