package program

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFlagsAreThoseOfTheMakefile compares the flags. With other flags all libraries of Kubernetes are compiled once more, which takes minutes.
func TestFlagsAreThoseOfTheMakefile(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "..", "Makefile"))
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
