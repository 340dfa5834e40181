package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the checkout.
var root = filepath.Join("..", "..", "..")

// TestFlagsAreThoseOfTheMakefile compares the flags, because with others all libraries of Kubernetes are compiled once more.
func TestFlagsAreThoseOfTheMakefile(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^COMPILE_FLAGS := (.*)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile has no COMPILE_FLAGS")
	}
	if diff := cmp.Diff(strings.Fields(string(found[1])), flags); diff != "" {
		t.Errorf("flags (-Makefile +releases):\n%s", diff)
	}
}

// TestSources loads the packages of the programs for each platform. It finds what a platform lacks without compiling for it, which takes minutes each.
func TestSources(t *testing.T) {
	for name, platform := range map[string]Platform{
		"manager linux amd64": {"linux", "amd64"}, "manager linux arm64": {"linux", "arm64"},
		"kubectl-capz linux amd64": {"linux", "amd64"}, "kubectl-capz linux arm64": {"linux", "arm64"},
		"kubectl-capz darwin amd64": {"darwin", "amd64"}, "kubectl-capz darwin arm64": {"darwin", "arm64"},
		"kubectl-capz windows amd64": {"windows", "amd64"}, "kubectl-capz windows arm64": {"windows", "arm64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, _, _ := strings.Cut(name, " ")
			list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./cmd/"+program)
			list.Dir, list.Env = root, environment(platform)
			out, err := list.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "\nk8s.io/client-go/rest\n") {
				t.Errorf("the program is linked from\n%s", out)
			}
		})
	}
}
