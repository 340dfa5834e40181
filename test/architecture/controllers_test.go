package architecture

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScenariosRunTheManagersControllers compares the controllers that managers in virtual time can run with those of the real one.
func TestScenariosRunTheManagersControllers(t *testing.T) {
	registered := func(path string) (packages []string) {
		for _, parsed := range parseFiles(t, "../../"+path) {
			for _, each := range parsed.Imports {
				if name, ok := strings.CutPrefix(strings.Trim(each.Path.Value, `"`), module+"/internal/controller/"); ok {
					packages = append(packages, name)
				}
			}
		}
		slices.Sort(packages)
		return packages
	}
	want := registered("internal/setup/controllers.go")
	if len(want) < 10 {
		t.Fatalf("found only the controllers %v", want)
	}
	if diff := cmp.Diff(want, registered("test/virtual/controllers.go")); diff != "" {
		t.Errorf("controllers (-internal/setup +test/virtual):\n%s", diff)
	}
}
