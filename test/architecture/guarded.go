package architecture

import (
	"fmt"
	"go/ast"
	"strings"
)

// unguarded are the controllers that need no guard of lastwrites, with the reason.
var unguarded = map[string]string{
	"internal/controller/azurejson":        "it writes only Secrets, which are read from the API server",
	"internal/controller/credentialsecret": "it writes only Secrets, which are read from the API server",
}

// checkGuarded finds controllers that are completed without a guard of lastwrites: they would decide on a cache that lacks the manager's own
// writes.
func checkGuarded(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.test || unguarded[f.dir] != "" || !strings.HasPrefix(f.dir, "internal/") {
			continue
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || lastName(call.Fun) != "Complete" {
				return true
			}
			if guard, ok := call.Args[0].(*ast.CallExpr); !ok || lastName(guard.Fun) != "Guard" {
				findings = append(findings, fmt.Sprintf("%s completes a controller without lastwrites.Guard: it would decide on a cache that lacks "+
					"the manager's own writes", f.set.Position(node.Pos())))
			}
			return true
		})
	}
	return sortFindings(findings)
}
