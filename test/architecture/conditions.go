package architecture

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// apiDir has the constants of condition types and reasons.
const apiDir = "api/v1beta1"

// conditionNames returns the constants of condition types and reasons, by the name of the constant. Those that are taken from
// Cluster API are not among them.
func conditionNames(files []file) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		if f.dir != apiDir || f.test {
			continue
		}
		for _, declaration := range f.syntax.Decls {
			constants, ok := declaration.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				value := spec.(*ast.ValueSpec)
				for i, name := range value.Names {
					if !strings.HasSuffix(name.Name, "Condition") && !strings.HasSuffix(name.Name, "Reason") || i >= len(value.Values) {
						continue
					}
					if literal, ok := value.Values[i].(*ast.BasicLit); ok {
						out[name.Name], _ = strconv.Unquote(literal.Value)
					}
				}
			}
		}
	}
	return out
}

// identityCodes returns the codes of errors of identities, which are reasons of conditions. Those that are constants of apiDir are not among
// them.
func identityCodes(files []file) (codes []string) {
	for _, f := range files {
		if f.dir != "internal/identity" || f.test {
			continue
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			value, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if declared, _ := value.Type.(*ast.Ident); declared == nil || declared.Name != "Code" {
				return true
			}
			for _, each := range value.Values {
				if literal, ok := each.(*ast.BasicLit); ok {
					code, _ := strconv.Unquote(literal.Value)
					codes = append(codes, code)
				}
			}
			return true
		})
	}
	return codes
}

// checkReported finds condition types and reasons that nothing reports: a client that waits for one would wait for ever.
func checkReported(files []file) []string {
	names := conditionNames(files)
	for _, f := range files {
		if f.test || !coversPath("internal/...", f.dir) {
			continue
		}
		for _, used := range f.usedNames() {
			if name, ok := strings.CutPrefix(used, module+"/"+apiDir+"."); ok {
				delete(names, name)
			}
		}
	}
	var findings []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		findings = append(findings, fmt.Sprintf("%s.%s is never reported: report it as its comment describes, or remove it", apiDir, name))
	}
	return findings
}

// eventCalls are the functions that emit events, with the position of the argument that is the reason.
var eventCalls = map[string]int{"Eventf": 3, "WarnOnce": 3}

// checkEventReasons finds events whose reason is a text or a constant of their own package. The pages about reasons list the constants of apiDir.
func checkEventReasons(files []file) (findings []string) {
	type packageConstant struct{ dir, name string }
	texts := map[packageConstant]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			value, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range value.Names {
				if i < len(value.Values) && isText(value.Values[i]) {
					texts[packageConstant{f.dir, name.Name}] = true
				}
			}
			return true
		})
	}
	for _, f := range files {
		if f.test || !coversPath("internal/...", f.dir) && !coversPath("cmd/...", f.dir) {
			continue
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			function, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			position, emits := eventCalls[function.Sel.Name]
			if !emits || position >= len(call.Args) {
				return true
			}
			reason := call.Args[position]
			name, isName := reason.(*ast.Ident)
			if isText(reason) || isName && texts[packageConstant{f.dir, name.Name}] {
				findings = append(findings, fmt.Sprintf("%s: the reason of the event is no constant of %s, so no page lists it. Declare it there",
					f.set.Position(reason.Pos()), apiDir))
			}
			return true
		})
	}
	return findings
}

// isText reports whether an expression is a string literal.
func isText(of ast.Expr) bool {
	literal, ok := of.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}
