package architecture

import (
	"fmt"
	"go/ast"
	"strings"
)

const whyOutput = "status.resources is output: it is empty after clusterctl move, after a restore and before the first reconciliation, so nothing decides by it"

// checkOutput looks for what reads status.resources: code of the provider other than where the field is written, and rules
// of types.
func checkOutput(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.test || f.generated || !coversAny([]string{"api/...", "cmd/...", "internal/..."}, f.dir) {
			continue
		}
		for _, position := range f.statusReads("Resources") {
			findings = append(findings, fmt.Sprintf("%s reads Resources: %s", position, whyOutput))
		}
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				if strings.Contains(comment.Text, "+kubebuilder:validation:XValidation") && strings.Contains(comment.Text, "status.resources") {
					findings = append(findings, fmt.Sprintf("%s has a rule about status.resources: %s", f.set.Position(comment.Pos()), whyOutput))
				}
			}
		}
	}
	return sortFindings(findings)
}

// statusReads lists where the file uses a field of this name of a status, or of a variable that is called so, and does not set it.
func (f file) statusReads(field string) []string {
	var out []string
	set := map[ast.Node]bool{}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for _, left := range node.Lhs {
				set[left] = true
			}
		case *ast.SelectorExpr:
			if node.Sel.Name == field && !set[node] && strings.EqualFold(lastName(node.X), "status") {
				out = append(out, f.set.Position(node.Pos()).String())
			}
		}
		return true
	})
	return out
}

// lastName returns the name that an expression ends with: Status of object.Status.
func lastName(expression ast.Expr) string {
	switch expression := expression.(type) {
	case *ast.Ident:
		return expression.Name
	case *ast.SelectorExpr:
		return expression.Sel.Name
	}
	return ""
}
