package architecture

import (
	"fmt"
	"go/ast"
	"slices"
)

const whyWrites = "only the runner decides whether an object is observed, in which case nothing may be written to Azure"

// checkWrites finds code of controllers that could write to Azure without the runner: one that opens an access and does not restrict its
// client to reads, or that calls the writing methods of the engine.
func checkWrites(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.test || !coversAny([]string{"internal/controller/...", "internal/clusterinfra/..."}, f.dir) {
			continue
		}
		var opened []ast.Node
		readOnly := false
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch name, of := selector.Sel.Name, lastName(selector.X); {
			case name == "ReadOnly":
				readOnly = true
			case name == "Open" && of == "Access":
				opened = append(opened, node)
			case of == "Engine" && slices.Contains([]string{"Converge", "Delete", "RunAction"}, name):
				findings = append(findings, fmt.Sprintf("%s calls Engine.%s: %s", f.set.Position(node.Pos()), name, whyWrites))
			}
			return true
		})
		for _, node := range opened {
			if !readOnly {
				findings = append(findings, fmt.Sprintf("%s opens an access without ReadOnly: %s", f.set.Position(node.Pos()), whyWrites))
			}
		}
	}
	return sortFindings(findings)
}
