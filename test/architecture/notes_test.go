package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const notes = "../../docs/design"

var (
	// provingTest is a test as notes name one: its folder and its name.
	provingTest = regexp.MustCompile("`(\\S+) (Test\\w+)`")
	// datedName begins with a day. A note is named by its topic.
	datedName = regexp.MustCompile(`^\d{4}-`)
)

// TestDesignNotes makes sure that each design note has a status line with tests that exist, is named by its topic, and is in the list of
// notes.
func TestDesignNotes(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(notes, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(notes, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := folders{}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		if !strings.Contains(string(list), "]("+name+")") {
			t.Errorf("docs/design/README.md does not list %s", name)
		}
		if name == "dependencies.md" {
			continue // TestDependencies checks it.
		}
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		exists := func(folder, test string) bool { return tests.hasTest(t, folder, test, "") }
		for _, finding := range checkNote(name, string(page), exists) {
			t.Errorf("docs/design/%s: %s", name, finding)
		}
	}
}

// checkNote checks a note against the rules for all of them. exists reports whether a folder has a test.
func checkNote(name, page string, exists func(folder, test string) bool) (findings []string) {
	if datedName.MatchString(name) {
		findings = append(findings, "name it by its topic: notes are true today and have no date")
	}
	_, body, _ := strings.Cut(page, "\n\n")
	status, _, _ := strings.Cut(body, "\n\n")
	named := provingTest.FindAllStringSubmatch(status, -1)
	if !strings.HasPrefix(status, "Status: ") || len(named) == 0 {
		findings = append(findings, "begin it with \"Status: decided. Kept true by\" and the tests that fail when it is no longer true")
	}
	for _, test := range named {
		if !exists(test[1], test[2]) {
			findings = append(findings, fmt.Sprintf("there is no test %s %s", test[1], test[2]))
		}
	}
	return findings
}

// TestCheckNote checks a note with a violation of each rule; it expects a finding.
func TestCheckNote(t *testing.T) {
	for name, test := range map[string]struct {
		reason, file, page string
		want               int
	}{
		"in order":       {"all rules are kept", "a.md", "# A\n\nStatus: decided. Kept true by `x TestA`.\n\nText.\n", 0},
		"dated":          {"a date is history", "2026-01-02-a.md", "# A\n\nStatus: decided. Kept true by `x TestA`.\n", 1},
		"without status": {"a reader must know whether it is in force", "a.md", "# A\n\nText with `x TestA`.\n", 1},
		"without test":   {"nothing keeps it true", "a.md", "# A\n\nStatus: decided.\n\n`x TestA`\n", 1},
		"unknown test":   {"the test was renamed", "a.md", "# A\n\nStatus: decided. Kept true by\n`x TestB`.\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := checkNote(test.file, test.page, func(folder, name string) bool { return folder == "x" && name == "TestA" })
			if len(got) != test.want {
				t.Errorf("%s: %q, want %d findings", test.reason, got, test.want)
			}
		})
	}
}
