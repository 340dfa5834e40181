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
