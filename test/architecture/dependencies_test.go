package architecture

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDependencies makes sure that docs/design/dependencies.md gives a reason for every direct dependency, and for
// nothing that go.mod does not have.
func TestDependencies(t *testing.T) {
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]bool{}
	for line := range strings.Lines(string(goMod)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && strings.Contains(fields[0], ".") && strings.HasPrefix(fields[1], "v") {
			direct[fields[0]] = len(fields) == 2
		}
	}
	page, err := os.ReadFile("../../docs/design/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		described[match[1]] = true
		if _, ok := direct[match[1]]; !ok {
			t.Errorf("docs/design/dependencies.md describes %s, which go.mod does not have", match[1])
		}
	}
	for name, isDirect := range direct {
		if isDirect && !described[name] {
			t.Errorf("docs/design/dependencies.md: say what %s is for and where it may be imported", name)
		}
	}
}
