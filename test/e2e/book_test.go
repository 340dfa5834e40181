package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// TestBook parses the flags of each command of the book's page as the command does, and looks for each flag and each spec on the page.
func TestBook(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "book", "e2e.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	lines := regexp.MustCompile(`(?m)^make e2e (?:.*)E2E_FLAGS="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(lines) == 0 {
		t.Error("the page has no command with flags")
	}
	for _, line := range lines {
		c := runCommand()
		if err := c.ParseFlags(strings.Fields(line[1])); err != nil {
			t.Errorf("%s: %v", line[0], err)
			continue
		}
		specs, _ := c.Flags().GetStringSlice("spec")
		flavors, _ := c.Flags().GetStringSlice("flavor")
		if _, err := catalog.Select(catalog.Lab, specs, flavors, false); err != nil {
			t.Errorf("%s: %v", line[0], err)
		}
	}
	runCommand().Flags().VisitAll(func(f *pflag.Flag) {
		// The Makefile sets these.
		if !slices.Contains([]string{"root", "cloud"}, f.Name) && !strings.Contains(page, "`--"+f.Name+"`") {
			t.Errorf("the page does not describe the flag --%s", f.Name)
		}
	})
	sweeps := regexp.MustCompile(`(?m)^make e2e-sweep(?:.*)E2E_FLAGS="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(sweeps) == 0 {
		t.Error("the page has no flags of the sweep")
	}
	for _, sweep := range sweeps {
		c := sweepCommand()
		if err := c.ParseFlags(strings.Fields(sweep[1])); err != nil {
			t.Errorf("%s: %v", sweep[0], err)
		}
		if !c.Flags().Changed("run") && !c.Flags().Changed("all-runs") {
			t.Errorf("%s selects no run, so it deletes nothing", sweep[0])
		}
	}
	sweepCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "root" && !strings.Contains(page, "`--"+f.Name) {
			t.Errorf("the page does not describe the flag --%s of the sweep", f.Name)
		}
	})
	for _, c := range catalog.Cases {
		if !strings.Contains(page, "`"+c.Spec+"`") {
			t.Errorf("the page does not describe the spec %s", c.Spec)
		}
	}
}
