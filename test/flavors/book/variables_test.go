package book_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// TestVariablesOfFlavors compares the flavors that the page of flavors names for a variable with the templates that have it.
func TestVariablesOfFlavors(t *testing.T) {
	t.Parallel()
	templates := map[string]string{}
	for _, name := range flavors.TemplateNames(t) {
		flavor := strings.TrimSuffix(strings.TrimPrefix(name, "cluster-template-"), ".yaml")
		if strings.HasPrefix(flavor, "aks") {
			continue // The page is about self-managed clusters.
		}
		raw, err := os.ReadFile(filepath.Join(flavors.RepositoryRoot(t), "templates", name))
		if err != nil {
			t.Fatal(err)
		}
		templates[flavor] = string(raw)
	}
	_, table, _ := strings.Cut(flavors.ReadPage(t, flavors.SelfManaged, "flavors.md"), "\n## Variables of single flavors\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		names, _, _ := strings.Cut(cells[3], ":")
		named := map[string]bool{}
		for _, match := range quoted.FindAllStringSubmatch(names, -1) {
			named[match[1]] = true
		}
		for _, match := range quoted.FindAllStringSubmatch(cells[1], -1) {
			has := map[string]bool{}
			for flavor, template := range templates {
				if strings.Contains(template, "${"+match[1]+":") || strings.Contains(template, "${"+match[1]+"}") {
					has[flavor] = true
				}
			}
			if diff := cmp.Diff(has, named); diff != "" {
				t.Errorf("flavors with the variable %s (-templates +page):\n%s", match[1], diff)
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows, want at least 10", rows)
	}
}
