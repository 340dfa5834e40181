package architecture

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScenariosRunTheManagersControllers compares the controllers of managers in virtual time with those of the real one. Scenarios lack only
// the controller of azure.json.
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
	want := slices.DeleteFunc(registered("internal/setup/controllers.go"), func(name string) bool { return name == "azurejson" })
	if len(want) < 10 {
		t.Fatalf("found only the controllers %v", want)
	}
	if diff := cmp.Diff(want, registered("test/virtual/controllers.go")); diff != "" {
		t.Errorf("controllers (-internal/setup +test/virtual):\n%s", diff)
	}
}
