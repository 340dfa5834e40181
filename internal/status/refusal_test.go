package status

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestRefusalsEndOnce shows every refusal of the provider in a condition, alone and with another one: no sentence ends twice. Refusals
// are read from the source: the calls of field.Invalid, field.Forbidden and field.Required.
func TestRefusalsEndOnce(t *testing.T) {
	refusals := refusalsInSource(t, "../plan", "../aso", "../webhook", "../reconcile", "../identity", "../controller", "../clusterinfra")
	if len(refusals) < 200 {
		t.Fatalf("only %d refusals found", len(refusals))
	}
	for _, refusal := range refusals {
		one := field.Invalid(field.NewPath("spec", "x"), "", refusal)
		for _, errs := range []field.ErrorList{{one}, {one, one}} {
			message := strings.ReplaceAll(RefusalCondition("Ready", errs).Message, "...", "")
			if strings.Contains(message, "..") || strings.Contains(message, ".;") {
				t.Errorf("%q is shown as %q", refusal, message)
			}
		}
	}
}

// refusalsInSource returns the texts of refusals, or their ends if values are in front.
func refusalsInSource(t *testing.T, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				function, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Invalid", "Forbidden", "Required"}, function.Sel.Name) {
					return true
				}
				if text := lastText(call.Args[len(call.Args)-1]); text != "" {
					out = append(out, text)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// lastText returns the literal at the end of an expression, that of the format of a call of Sprintf.
func lastText(expression ast.Expr) string {
	switch expression := expression.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(expression.Value)
		return text
	case *ast.BinaryExpr:
		return lastText(expression.Y)
	case *ast.CallExpr:
		if function, ok := expression.Fun.(*ast.SelectorExpr); ok && function.Sel.Name == "Sprintf" {
			return lastText(expression.Args[0])
		}
	}
	return ""
}
