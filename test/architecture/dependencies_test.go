package architecture

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDependencies makes sure that docs/design/dependencies.md gives a reason for every direct dependency, and for
// nothing else.
func TestDependencies(t *testing.T) {
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var direct []string
	for line := range strings.Lines(string(goMod)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) == 2 && strings.Contains(fields[0], ".") && strings.HasPrefix(fields[1], "v") {
			direct = append(direct, fields[0])
		}
	}
	page, err := os.ReadFile("../../docs/design/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		described = append(described, match[1])
	}
	slices.Sort(direct)
	slices.Sort(described)
	if diff := cmp.Diff(direct, described); diff != "" {
		t.Errorf("docs/design/dependencies.md and the direct dependencies of go.mod (-go.mod +page):\n%s", diff)
	}
}
