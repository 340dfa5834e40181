package architecture

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// pureMethods are the methods of a kind and of its input that set its status from their arguments, and declare the input of its plan.
var pureMethods = []string{"Report", "DescribeResources", "FingerprintInputs"}

// pureReceivers are the types that have the pure methods.
var pureReceivers = []string{"Kind", "input"}

// impurePackages are packages whose types give access to Azure, Kubernetes or the outside, by import path.
var impurePackages = []string{
	"context", "net/http", "os", "math/rand", "math/rand/v2", "crypto/rand", "sigs.k8s.io/controller-runtime", "internal/arm/client",
	"internal/arm/engine",
	"internal/clusterinfra/published", "internal/reconcile/patch",
}

// impureNames are names of other packages that are impure although their packages have pure ones, too.
var impureNames = []string{
	"time.Now", "time.Since", "time.Until", "internal/facts.Facts", "internal/identity.Provider", "internal/reconcile.Session",
	"internal/identity/access.Access", "sigs.k8s.io/controller-runtime/pkg/client.Client",
	"sigs.k8s.io/controller-runtime/pkg/client.Reader", "sigs.k8s.io/controller-runtime/pkg/client.Writer",
	"sigs.k8s.io/controller-runtime/pkg/client.StatusWriter",
}

// pureDirs are the directories whose functions Report may reach, so calls are followed there. Packages of plans and of the status are
// held to their own rules.
var pureDirs = []string{"internal/controller/...", "internal/clusterinfra/..."}

// function is a function or method of a package.
type function struct {
	file file
	decl *ast.FuncDecl
}

// checkPure makes sure that the pure methods of kinds reach no function that takes a context or a client, asks for the time, or uses a
// client that the kind has. Calls are followed by name: every method of that name in
// the package, and in the packages that the file imports, counts, so that nothing is missed.
func checkPure(files []file) []string {
	byDir := map[string]map[string][]function{}
	for _, f := range files {
		if f.test || !coversAny(pureDirs, f.dir) {
			continue
		}
		for _, decl := range f.syntax.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Body != nil {
				if byDir[f.dir] == nil {
					byDir[f.dir] = map[string][]function{}
				}
				byDir[f.dir][decl.Name.Name] = append(byDir[f.dir][decl.Name.Name], function{f, decl})
			}
		}
	}
	var findings []string
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		seen := map[*ast.FuncDecl]bool{}
		for _, method := range pureMethods {
			for _, start := range byDir[dir][method] {
				if slices.Contains(pureReceivers, receiverOf(start.decl)) {
					findings = append(findings, findImpure(byDir, start, method, seen)...)
				}
			}
		}
	}
	return sortFindings(findings)
}

// findImpure lists impure calls in a function and in the functions that it calls. root is the method that reaches it.
func findImpure(byDir map[string]map[string][]function, at function, root string, seen map[*ast.FuncDecl]bool) []string {
	if seen[at.decl] {
		return nil
	}
	seen[at.decl] = true
	imports := at.file.importNames()
	var findings []string
	report := func(node ast.Node, what string) {
		findings = append(findings,
			fmt.Sprintf("%s: %s, which %s reaches, uses %s: Report sets the status from its arguments alone. Act asks and writes, and leaves its findings in the input",
				at.file.set.Position(node.Pos()), at.decl.Name.Name, root, what))
	}
	ast.Inspect(at.decl, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			name, ok := node.X.(*ast.Ident)
			if from := ""; ok {
				if from = imports[name.Name]; from != "" {
					if slices.Contains(impurePackages, from) || slices.Contains(impureNames, from+"."+node.Sel.Name) {
						report(node, from+"."+node.Sel.Name)
					}
					for _, called := range byDir[from][node.Sel.Name] {
						findings = append(findings, findImpure(byDir, called, root, seen)...)
					}
					return true
				}
				if name.Name == receiverName(at.decl) && receiverOf(at.decl) == "Kind" && slices.Contains(clientFields, node.Sel.Name) {
					report(node, "the kind's "+node.Sel.Name)
				}
			}
			for _, dir := range append(slices.Sorted(maps.Values(imports)), at.file.dir) {
				for _, called := range byDir[dir][node.Sel.Name] {
					if called.decl.Recv != nil {
						findings = append(findings, findImpure(byDir, called, root, seen)...)
					}
				}
			}
		case *ast.Ident:
			for _, called := range byDir[at.file.dir][node.Name] {
				if called.decl.Recv == nil {
					findings = append(findings, findImpure(byDir, called, root, seen)...)
				}
			}
		}
		return true
	})
	return findings
}

// clientFields are the fields of kinds that reach Azure or Kubernetes.
var clientFields = []string{"Client", "Engine", "Facts", "Identities", "Workload"}

// importNames returns the import paths of the file by their local names; those of this repository are relative to its root.
func (f file) importNames() map[string]string {
	out := map[string]string{}
	for _, spec := range f.syntax.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		local := path.Base(full)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		out[local] = strings.TrimPrefix(full, module+"/")
	}
	return out
}

// receiverOf returns the name of the type of a method; "" for a function.
func receiverOf(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return ""
	}
	of := decl.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// receiverName returns the name of the receiver of a method, or "".
func receiverName(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 || len(decl.Recv.List[0].Names) == 0 {
		return ""
	}
	return decl.Recv.List[0].Names[0].Name
}
