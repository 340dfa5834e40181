package book_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

var (
	fenced = regexp.MustCompile("(?s)```.*?\n```")
	// inline is code in a text, for example a pattern that looks like a link.
	inline = regexp.MustCompile("`[^`\n]*`")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	noWord = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// TestLinks follows the links of the README and of everything in docs to other files here and to their headings.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := flavors.RepositoryRoot(t)
	files := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")}
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", "*/*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, "docs", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	followed := 0
	for _, file := range files {
		for _, match := range link.FindAllStringSubmatch(inline.ReplaceAllString(readProse(t, file), "code"), -1) {
			path, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			followed++
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", file, match[1])
			} else if heading != "" && !headingAnchors(t, target)[heading] {
				t.Errorf("%s: %s has no heading %s", file, path, heading)
			}
		}
	}
	if followed == 0 {
		t.Error("there are no links")
	}
}

// readProse returns the text of a page without its fenced blocks.
func readProse(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(raw), "")
}

// headingAnchors returns the names that links have for the headings of a page.
func headingAnchors(t *testing.T, file string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for line := range strings.Lines(readProse(t, file)) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimSpace(line), "#"), " "); ok && strings.HasPrefix(line, "#") {
			out[strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
		}
	}
	return out
}
