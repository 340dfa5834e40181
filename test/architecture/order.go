package architecture

import (
	"fmt"
	"go/ast"
)

// checkOrder looks for variables that are returned beside a call that waits for what writes them. The language does not say
// which of the two comes first: https://go.dev/ref/spec#Order_of_evaluation
func checkOrder(files []file) []string {
	var findings []string
	for _, f := range files {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			statement, ok := node.(*ast.ReturnStmt)
			if !ok {
				return true
			}
			variables, waits := false, false
			for _, result := range statement.Results {
				switch result := result.(type) {
				case *ast.Ident:
					variables = variables || result.Name != "nil" && result.Name != "true" && result.Name != "false"
				case *ast.CallExpr:
					selector, ok := result.Fun.(*ast.SelectorExpr)
					waits = waits || ok && selector.Sel.Name == "Wait"
				}
			}
			if variables && waits {
				findings = append(findings,
					fmt.Sprintf("%s returns a variable beside a call of Wait, which may be read before the call: wait first",
						f.set.Position(statement.Pos())))
			}
			return true
		})
	}
	return sortFindings(findings)
}

const whyMapOrder = "Go's order of a map changes, so the first of several errors does, and the same request gets different answers: use body.Sorted"

// checkMapOrder looks for loops of the simulator over a map that is written out, and that they leave with an error. Types of variables are not
// known here.
func checkMapOrder(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.test || !coversAny([]string{"sim/..."}, f.dir) {
			continue
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			loop, ok := node.(*ast.RangeStmt)
			if !ok {
				return true
			}
			literal, ok := loop.X.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if _, isMap := literal.Type.(*ast.MapType); isMap && returns(loop.Body) {
				findings = append(findings, fmt.Sprintf("%s returns from a loop over a map: %s", f.set.Position(loop.Pos()), whyMapOrder))
			}
			return true
		})
	}
	return sortFindings(findings)
}

// returns reports whether a block has a return of its own function.
func returns(block *ast.BlockStmt) bool {
	found := false
	ast.Inspect(block, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		}
		return !found
	})
	return found
}
