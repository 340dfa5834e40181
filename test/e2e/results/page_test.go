package results

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/book/e2e-results.md")

// TestPage compares the page with the recorded results.
func TestPage(t *testing.T) {
	runs, err := Load("results.json")
	if err != nil {
		t.Fatal(err)
	}
	want, file := Page(runs), filepath.Join("..", "..", "..", "docs", "book", "e2e-results.md")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/book/e2e-results.md differs from the results; run `go run . page` in test/e2e (-want +got):\n%s", diff)
	}
}

// TestLogs makes sure that each recorded result has its log, and each log its result.
func TestLogs(t *testing.T) {
	runs, err := Load("results.json")
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string]bool{}
	files, err := filepath.Glob("logs/*.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		logs[filepath.Base(file)] = true
	}
	for _, r := range runs {
		if !logs[r.LogName()] {
			t.Errorf("the result of %s has no log: record it again", r.key())
		}
		delete(logs, r.LogName())
	}
	for name := range logs {
		t.Errorf("logs/%s belongs to no result: remove it", name)
	}
}
