package architecture

import (
	"fmt"
	"go/ast"
	"strings"
)

const envtestPackage = "sigs.k8s.io/controller-runtime/pkg/envtest"

// ownAPIServers are the files that start an API server without test/integration/harness, with the reason.
var ownAPIServers = map[string]string{
	"test/integration/harness/apiserver.go":   "it sets the limits for all",
	"test/integration/harness/environment.go": "it only stores the result of NewAPIServer",
	"test/installation/server_test.go":        "its module does not depend on the provider, and it sets limits of its own",
}

// checkAPIServers finds tests that would fail on a busy machine: those that start API servers, or install definitions, without
// test/integration/harness, and those that wait with a limit of their own.
func checkAPIServers(files []file) []string {
	var findings []string
	for _, f := range files {
		if ownAPIServers[f.path] != "" {
			continue
		}
		findings = append(findings, findShortWaits(f)...)
		for position, name := range f.usedNames() {
			rest, ok := strings.CutPrefix(name, envtestPackage+".")
			if ok && (rest == "Environment" || strings.HasSuffix(rest, "CRDs") || strings.HasPrefix(rest, "CRD")) {
				findings = append(findings, fmt.Sprintf("%s uses envtest.%s: test/integration/harness has NewAPIServer and InstallDefinitions, whose limits "+
					"do not fail on a busy machine", position, rest))
			}
		}
	}
	return sortFindings(findings)
}

// findShortWaits finds waits whose limit is written as a number. When all processors are busy, the controllers of an API server, for example those
// for definitions and rights, take tens of seconds.
func findShortWaits(f file) (findings []string) {
	if !strings.HasPrefix(f.dir, "test/integration/") && !strings.HasPrefix(f.dir, "test/flavors") {
		return nil
	}
	limits := map[string]int{"PollUntilContextTimeout": 2, "WithTimeout": 1}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if i, waits := limits[lastName(call.Fun)]; waits && len(call.Args) > i && isNumber(call.Args[i]) {
			findings = append(findings, fmt.Sprintf("%s waits with a limit of its own: a busy machine takes longer, and harness.Patience is the limit of all waits",
				f.set.Position(node.Pos())))
		}
		return true
	})
	return findings
}

// isNumber reports whether a duration is written as a number and a unit.
func isNumber(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		found = found || ok && lastName(selector.X) == "time"
		return !found
	})
	return found
}
