package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// maxKindMethods is the limit of the methods of a kind. Properties that all objects of a kind share are fields of reconcile.Declaration.
const maxKindMethods = 9

// TestKindsHaveFewMethods counts the methods of the interfaces of kinds, and those that each kind has for the runner.
func TestKindsHaveFewMethods(t *testing.T) {
	interfaces := map[string]*ast.InterfaceType{}
	for _, f := range parseFiles(t, "../../internal/reconcile/kind.go") {
		ast.Inspect(f, func(node ast.Node) bool {
			if declared, ok := node.(*ast.TypeSpec); ok {
				if methods, ok := declared.Type.(*ast.InterfaceType); ok {
					interfaces[declared.Name.Name] = methods
				}
			}
			return true
		})
	}
	for _, name := range []string{"Kind", "LocalKind"} {
		if count := countMethods(interfaces, name); count == 0 || count > maxKindMethods {
			t.Errorf("reconcile.%s has %d methods, want at most %d", name, count, maxKindMethods)
		}
	}
	count := map[string]int{}
	for path, f := range parseFiles(t, "../../internal/controller/azure*/*.go") {
		for _, declared := range f.Decls {
			method, ok := declared.(*ast.FuncDecl)
			if ok && method.Name.IsExported() && receiverOf(method) == "Kind" {
				count[filepath.Base(filepath.Dir(path))]++
			}
		}
	}
	if len(count) < 10 {
		t.Fatalf("found the kinds %v, want at least 10", count)
	}
	for kind, methods := range count {
		if methods > maxKindMethods {
			t.Errorf("%s.Kind has %d methods, want at most %d", kind, methods, maxKindMethods)
		}
	}
}

// countMethods counts the methods of an interface with those of the interfaces that it embeds.
func countMethods(interfaces map[string]*ast.InterfaceType, name string) (count int) {
	methods, ok := interfaces[name]
	if !ok {
		return 0
	}
	for _, each := range methods.Methods.List {
		count += len(each.Names)
		switch embedded := each.Type.(type) {
		case *ast.Ident:
			count += countMethods(interfaces, embedded.Name)
		case *ast.IndexListExpr:
			count += countMethods(interfaces, embedded.X.(*ast.Ident).Name)
		}
	}
	return count
}

// parseFiles parses the files of a pattern.
func parseFiles(t *testing.T, pattern string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no file for %s: %v", pattern, err)
	}
	out := map[string]*ast.File{}
	for _, path := range paths {
		if out[path], err = parser.ParseFile(token.NewFileSet(), path, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
