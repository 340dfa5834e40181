package architecture

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// selections are commands of pages that show some of the kinds with resources in Azure, by page and list of kinds, with the reason why no
// other kind applies.
var selections = map[string]string{
	"docs/book/aks/README.md azuremanagedcontrolplane,azuremanagedmachinepool":             "the objects that the flavor aks has just created",
	"docs/book/aks/adoption.md azuremanagedcontrolplanes,azuremanagedmachinepools":         "the section reviews a manifest of these kinds",
	"docs/book/aks/upgrade.md azuremanagedcontrolplanes,azuremanagedmachinepools":          "the columns with versions of these kinds; resource manifests have theirs in Azure's form",
	"docs/book/lab.md clusters,machines,azuremachines":                                     "the objects of the flavor default",
	"docs/book/lab.md machinepools,azuremanagedmachinepools":                               "the objects that the flavor aks has just created",
	"docs/book/release.md azureclusters,azuremanagedcontrolplanes,azureasomanagedclusters": "the kinds that name an identity",
	"docs/book/troubleshooting.md machines,azuremachines,azuremachinepoolmachines":         "the kinds that a Machine refers to",
	"docs/book/aks/troubleshooting.md " + aksList:                                          "the page is about AKS clusters",
}

const aksList = "azuremanagedcontrolplane,azuremanagedmachinepool,azureasomanagedcluster,azureasomanagedcontrolplane,azureasomanagedmachinepool"

var listOfKinds = regexp.MustCompile("kubectl [^`\n]*?([a-z]+(?:,[a-z]+)+)[^`\n]*")

// TestPagesListAllKinds looks at the commands of all pages that name several kinds at once. A command for a condition names all kinds that
// can have it, and any other one all kinds with resources in Azure, because a kind that is left out looks like one without findings. The
// category cluster-api has all kinds.
func TestPagesListAllKinds(t *testing.T) {
	inAzure, stoppable := kindsOfControllers(t)
	if len(inAzure) < 8 || len(stoppable) < 6 {
		t.Fatalf("found the kinds %v, of which %v can be stopped", inAzure, stoppable)
	}
	used, lists := map[string]bool{}, 0
	for _, page := range allPages(t) {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range listOfKinds.FindAllStringSubmatch(string(text), -1) {
			named := strings.Split(match[1], ",")
			for i := range named {
				named[i] = strings.TrimSuffix(named[i], "s")
			}
			if !slices.ContainsFunc(named, func(kind string) bool { return slices.Contains(inAzure, kind) }) {
				continue
			}
			lists++
			want := inAzure
			if strings.Contains(match[0], `"Stopped"`) {
				want = stoppable
			}
			var missing []string
			for _, kind := range want {
				if !slices.Contains(named, kind) {
					missing = append(missing, kind)
				}
			}
			key := page + " " + match[1]
			switch reason := selections[key]; {
			case len(missing) > 0 && reason == "":
				t.Errorf("%s: the command %q leaves out %s: add them, or name the category cluster-api", page, match[0], strings.Join(missing, ","))
			case len(missing) == 0 && reason != "":
				t.Errorf("%s names all kinds, and is among the selections", key)
			}
			used[key] = true
		}
	}
	for key := range selections {
		if !used[key] {
			t.Errorf("no page has the selection %s", key)
		}
	}
	if lists == 0 {
		t.Error("no page has a list of kinds")
	}
}

// kindsOfControllers returns the names of the kinds with resources in Azure, whose controllers embed reconcile.Defaults, and of those that
// can be stopped.
func kindsOfControllers(t *testing.T) (inAzure, stoppable []string) {
	t.Helper()
	for path, f := range parseFiles(t, "../../internal/controller/azure*/controller.go") {
		kind := filepath.Base(filepath.Dir(path))
		ast.Inspect(f, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "reconcile" && n.Sel.Name == "Defaults" {
					inAzure = append(inAzure, kind)
				}
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.Ident)
				value, isName := n.Value.(*ast.Ident)
				if ok && isName && key.Name == "Stoppable" && value.Name == "true" {
					stoppable = append(stoppable, kind)
				}
			}
			return true
		})
	}
	slices.Sort(inAzure)
	slices.Sort(stoppable)
	return inAzure, stoppable
}

// allPages returns the paths of the pages of docs and of the README.
func allPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir("../../docs", func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
