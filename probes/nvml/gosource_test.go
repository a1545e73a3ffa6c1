//go:build linux && cgo

package nvml

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// binding is what go-nvml's source says about which driver functions its methods call.
type binding struct {
	calls   map[string]map[string]bool // of a function, method ("type.Name") or variable: what it refers to
	methods map[string][]string        // "Name": all "type.Name"
	bound   map[string]bool            // driver functions
}

// parseBinding reads the source of go-nvml that this module uses. Some names are
// variables that stand for one of several functions, by what the library has; such a name
// refers to all of them.
func parseBinding(t *testing.T) *binding {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml").Output()
	if err != nil || strings.TrimSpace(string(out)) == "" { // or not where it is kept here
		t.Skipf("the go command does not say where go-nvml's source is: %v", err)
	}
	b := &binding{calls: map[string]map[string]bool{}, methods: map[string][]string{}, bound: map[string]bool{}}
	for _, f := range parseFiles(t, filepath.Join(strings.TrimSpace(string(out)), "pkg/nvml/*.go")) {
		for _, d := range f.Decls {
			b.declaration(d)
		}
	}
	return b
}

// parseFiles leaves tests out.
func parseFiles(t *testing.T, pattern string) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = f
	}
	return files
}

func (b *binding) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			of := receiver(d)
			b.methods[name] = append(b.methods[name], of+"."+name)
			name = of + "." + name
		}
		if d.Body != nil {
			b.refers(name, d.Body)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Values) == len(v.Names) {
				for i, n := range v.Names {
					b.refers(n.Name, v.Values[i])
				}
			}
		}
	}
}

func receiver(d *ast.FuncDecl) string {
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return "?"
}

// refers notes what a piece of source refers to. Assigning to a variable is the
// variable's reference, not that of who assigns.
func (b *binding) refers(from string, in ast.Node) {
	if b.calls[from] == nil {
		b.calls[from] = map[string]bool{}
	}
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if to, ok := n.Lhs[0].(*ast.Ident); ok && n.Tok == token.ASSIGN && len(n.Lhs) == 1 && isName(n.Rhs[0]) {
				b.refers(to.Name, n.Rhs[0])
				return false
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "C" {
				if strings.HasPrefix(n.Sel.Name, "nvml") && !strings.HasSuffix(n.Sel.Name, "_t") {
					b.bound[n.Sel.Name] = true
					b.calls[from]["C."+n.Sel.Name] = true
				}
				return false
			}
			b.calls[from]["."+n.Sel.Name] = true
		case *ast.Ident:
			b.calls[from][n.Name] = true
		}
		return true
	})
}

func isName(e ast.Expr) bool { _, ok := e.(*ast.Ident); return ok }

// reaches lists the driver functions that a method or function may end up calling.
func (b *binding) reaches(name string) map[string]bool {
	out, seen := map[string]bool{}, map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for to := range b.calls[name] {
			if c, ok := strings.CutPrefix(to, "C."); ok {
				out[c] = true
				continue
			}
			if method, ok := strings.CutPrefix(to, "."); ok {
				for _, m := range b.methods[method] {
					walk(m)
				}
				continue
			}
			walk(to)
		}
	}
	walk(name)
	return out
}

func parseText(t *testing.T, source string) map[string]*ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "text.go", "package x\n"+source, 0)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*ast.File{"text.go": f}
}
