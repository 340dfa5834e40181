package architecture

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	// past is a row of the page on regressions: numbers, what went wrong, and the tests or the reason.
	past = regexp.MustCompile(`^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	// number is an issue there, with the repository's name where it is another one.
	number = regexp.MustCompile(`^([a-z/-]+#)?\d+$`)
	// named is a test as pages name one: its folder, its name, and a row or a golden case of it.
	named = regexp.MustCompile("^`(\\S+) (Test\\w+)(?:/([^`]+))?`$")
)

// TestRegressions looks for the tests that the page on regressions names.
func TestRegressions(t *testing.T) {
	page, err := os.ReadFile("../../docs/regressions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, held, _ := strings.Cut(string(page), "\n## Prevented by a test\n")
	held, impossible, _ := strings.Cut(held, "\n## Cannot happen\n")
	seen, tests := map[string]bool{}, folders{}
	rows := pastRows(t, held, seen)
	if len(rows) < 60 {
		t.Errorf("only %d regressions are held", len(rows))
	}
	for numbers, list := range rows {
		for _, test := range strings.Split(list, "`, `") {
			test = "`" + strings.Trim(test, "`") + "`"
			parts := named.FindStringSubmatch(test)
			if parts == nil {
				t.Errorf("%s: %s names no test", numbers, test)
			} else if !tests.hasTest(t, parts[1], parts[2], parts[3]) {
				t.Errorf("%s: there is no test %s", numbers, test)
			}
		}
	}
	pastRows(t, impossible, seen)
}

// pastRows returns the last columns of a table by the first ones. No number may have been seen before.
func pastRows(t *testing.T, section string, seen map[string]bool) map[string]string {
	t.Helper()
	_, table, _ := strings.Cut(section, "\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	out := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		row := past.FindStringSubmatch(line)
		if row == nil {
			t.Errorf("not a row: %s", line)
			continue
		}
		for _, one := range strings.Split(row[1], ", ") {
			if !number.MatchString(one) {
				t.Errorf("%q is no number", one)
			}
			if seen[one] {
				t.Errorf("%s stands twice", one)
			}
			seen[one] = true
		}
		out[row[1]] = row[3]
	}
	return out
}
