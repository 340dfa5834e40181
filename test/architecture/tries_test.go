package architecture

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// try is a row of the table of attempts: the attempt, its test, and the result.
var try = regexp.MustCompile("(?m)^\\| .+ \\| (?:`(\\S+) (Test\\w+)(?:/([^`]+))?`|none) \\| (held|open, .+) \\|$")

// TestTries checks that the tests exist that the table of attempts names.
func TestTries(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/tenancy-attempts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Attempts\n")
	_, table, _ := strings.Cut(section, "\n|---|---|---|\n")
	if lines, rows := strings.Count(table, "\n"), len(try.FindAllString(table, -1)); rows != lines || rows < 50 {
		t.Errorf("%d of %d rows can be read", rows, lines)
	}
	seen, tests := map[string]bool{}, folders{}
	for _, row := range try.FindAllStringSubmatch(table, -1) {
		folder, name, part, state := row[1], row[2], row[3], row[4]
		if folder == "" {
			if state == "held" {
				t.Errorf("no test covers the rule: %s", row[0])
			}
			continue
		}
		if key := row[1] + row[2] + "/" + part; seen[key] {
			t.Errorf("two tries have one test: %s", row[0])
		} else {
			seen[key] = true
		}
		if !tests.hasTest(t, folder, name, part) {
			t.Errorf("there is no such test: %s", row[0])
		}
	}
}
