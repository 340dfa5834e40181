// Package notes writes the notes of a release from two pages of the documentation: the decisions, and the differences
// from the established provider. It is pure.
package notes

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Release is what notes are made of.
type Release struct {
	// Version is the release's.
	Version string
	// Image is its image, by digest.
	Image string
	// Decisions is docs/design/README.md, Differences docs/differences.md.
	Decisions, Differences string
}

// decision is a row of the table of design notes.
var decision = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\([^)]+\.md\) \| (.+) \|$`)

// link is one to a file of the repository, which notes stand without.
var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// Write returns the notes in Markdown: decisions, in the order of their table, and differences.
func Write(r Release) (string, error) {
	found := decision.FindAllStringSubmatch(r.Decisions, -1)
	if len(found) == 0 {
		return "", errors.New("docs/design/README.md: has no table of design notes")
	}
	title, differences, ok := strings.Cut(r.Differences, "\n")
	if !ok || !strings.HasPrefix(title, "# ") {
		return "", errors.New("docs/differences.md: does not begin with a title")
	}
	var out strings.Builder
	fmt.Fprintf(&out,
		"# %s\n\nThe image is\n\n    %s\n\nand `sbom.spdx.json` lists its contents. `sha256sum -c SHA256SUMS` checks the files beside this "+
			"one.\n\n## Decisions\n\n", r.Version, r.Image)
	for _, d := range found {
		fmt.Fprintf(&out, "- %s: %s\n", d[1], link.ReplaceAllString(d[2], "$1"))
	}
	fmt.Fprintf(&out, "\n#%s\n", title)
	for line := range strings.Lines(differences) {
		if strings.HasPrefix(line, "## ") {
			line = "#" + line
		}
		out.WriteString(link.ReplaceAllString(line, "$1"))
	}
	return out.String(), nil
}
