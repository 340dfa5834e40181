package planned_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// scenarioMakers are the functions of test/virtual that make a scenario, which compares plans.
var scenarioMakers = []string{"Play", "PlayUnmanaged", "PlayWith", "PlayComplete", "New", "NewWith", "NewAtOnce"}

// inStories is the kind of the tests in all other folders.
const inStories = "tests with stories"

// kindOfStories returns how the figures name the tests of a folder.
func kindOfStories(folder string) string {
	switch folder {
	case "test/integration/drift":
		return "tests of drift rows"
	case "test/transitions":
		return "tests of spec transitions"
	}
	return inStories
}

// uncompared are how many tests of each kind are not compared. The number changes with the list in test/virtual/unplanned.go.
var uncompared = map[string]int{"tests of drift rows": 1, "tests of spec transitions": 0, inStories: 27}

// TestShare counts the tests that play scenarios, and how many of them are compared with plans. Each entry of the lists of exceptions and
// of samples has to name such tests.
func TestShare(t *testing.T) {
	all, compared, samples := map[string]int{}, map[string]int{}, 0
	needless := virtual.Unplanned()
	maps.Copy(needless, virtual.Sampled())
	for folder, tests := range listStories(t, "../..") {
		for _, test := range tests {
			kind := kindOfStories(folder)
			all[kind]++
			if entry := virtual.FindUnplanned(folder, test); entry != "" {
				delete(needless, entry)
				t.Logf("not compared: %s %s: %s", folder, test, virtual.Unplanned()[entry])
				continue
			}
			if entry := virtual.FindSampled(folder, test); entry != "" {
				delete(needless, entry)
				samples++
				t.Logf("a sample of the steps is compared: %s %s: %s", folder, test, virtual.Sampled()[entry])
			}
			compared[kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%s: %d of %d are compared", kind, compared[kind], all[kind])
		if n := all[kind] - compared[kind]; n != uncompared[kind] {
			t.Errorf("%s: %d are not compared, want %d", kind, n, uncompared[kind])
		}
	}
	page, err := os.ReadFile("../../docs/design/preview.md")
	if err != nil {
		t.Fatal(err)
	}
	if row := fmt.Sprintf("| Stories in virtual time | all but %d tests ", all[inStories]-compared[inStories]); !strings.Contains(string(page), row) {
		t.Errorf("docs/design/preview.md lacks %q", row)
	}
	t.Logf("of %d compared tests, a sample of the steps is compared", samples)
	for entry := range needless {
		t.Errorf("test/virtual/unplanned.go or samples.go: no test that plays a scenario is %s. Remove the entry", entry)
	}
}

// listStories returns the tests that play scenarios, by folder.
func listStories(t *testing.T, root string) map[string][]string {
	t.Helper()
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(filepath.Join(root, "test"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		packages[filepath.ToSlash(folder)] = append(packages[filepath.ToSlash(folder)], file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for folder, files := range packages {
		functions := map[string]*ast.FuncDecl{}
		for _, file := range files {
			for _, declaration := range file.Decls {
				if function, is := declaration.(*ast.FuncDecl); is && function.Body != nil {
					functions[function.Name.Name] = function
				}
			}
		}
		for name := range functions {
			if strings.HasPrefix(name, "Test") && name != "TestMain" && playsScenario(functions, name, map[string]bool{}) {
				out[folder] = append(out[folder], name)
			}
		}
	}
	return out
}

// playsScenario reports whether a function, or one of its package that it names, makes a scenario.
func playsScenario(functions map[string]*ast.FuncDecl, name string, seen map[string]bool) (plays bool) {
	if functions[name] == nil || seen[name] {
		return false
	}
	seen[name] = true
	ast.Inspect(functions[name], func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.SelectorExpr:
			of, is := n.X.(*ast.Ident)
			plays = plays || is && of.Name == "virtual" && slices.Contains(scenarioMakers, n.Sel.Name) || playsScenario(functions, n.Sel.Name, seen)
		case *ast.Ident:
			plays = plays || playsScenario(functions, n.Name, seen)
		}
		return !plays
	})
	return plays
}
