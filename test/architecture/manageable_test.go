package architecture

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExternallyManageableKinds compares the kinds that declare that another manager may reconcile their objects with those for whose
// externally managed objects a migration does not wait. The migration runs in another program and knows no controller.
func TestExternallyManageableKinds(t *testing.T) {
	var declared, skipped []string
	for path, f := range parseFiles(t, "../../internal/controller/azure*/*.go") {
		ast.Inspect(f, func(node ast.Node) bool {
			pair, ok := node.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isName := pair.Key.(*ast.Ident)
			value, isTrue := pair.Value.(*ast.Ident)
			if isName && isTrue && key.Name == "ExternallyManageable" && value.Name == "true" {
				declared = append(declared, filepath.Base(filepath.Dir(path)))
			}
			return true
		})
	}
	for _, f := range parseFiles(t, "../../internal/migration/steps/ready.go") {
		ast.Inspect(f, func(node ast.Node) bool {
			list, ok := node.(*ast.ValueSpec)
			if !ok || list.Names[0].Name != "externallyManageable" {
				return true
			}
			ast.Inspect(list, func(node ast.Node) bool {
				if kind, ok := node.(*ast.BasicLit); ok && kind.Kind == token.STRING {
					name, _ := strconv.Unquote(kind.Value)
					skipped = append(skipped, strings.ToLower(name))
				}
				return true
			})
			return false
		})
	}
	slices.Sort(declared)
	slices.Sort(skipped)
	if diff := cmp.Diff(declared, skipped); len(declared) == 0 || diff != "" {
		t.Errorf("kinds (-declared +skipped by the migration):\n%s", diff)
	}
}
