// Package notes writes the notes of a release from two pages of the documentation: the notes of the next release, and the differences from the
// established provider. It is pure.
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
	// Notes is docs/release-notes.md, Differences docs/differences.md.
	Notes, Differences string
}

// sections are the headings that the notes have, in this order. Users look for them.
var sections = []string{"Breaking changes", "New", "Fixed", "Upgrade from", "Known issues"}

// actions is the section of the differences with what users of the established provider do.
const actions = "Differences that need action"

// link is one to a file of the repository, which notes stand without.
var link = regexp.MustCompile(`\[([^\]]+)\]\([^):]+\)`)

// Write returns the notes in Markdown: what users do to install the release, the sections, and what users of the established provider do.
func Write(r Release) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\nThe image is\n\n    %s\n\nand `sbom.spdx.json` lists its contents. `images.txt` has the images to copy for an installation without access to "+
		"the internet. `sha256sum -c SHA256SUMS` checks the files beside this one.\n", r.Version, r.Image)
	at := -1
	for _, name := range sections {
		content, begin, err := section(r.Notes, name)
		if err != nil {
			return "", fmt.Errorf("docs/release-notes.md: %w", err)
		}
		if begin < at {
			return "", fmt.Errorf("docs/release-notes.md: the section %q has to be after those before it: %s", name, strings.Join(sections, ", "))
		}
		at = begin
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", name, link.ReplaceAllString(strings.ReplaceAll(content, "VERSION", r.Version), "$1"))
	}
	content, _, err := section(r.Differences, actions)
	if err != nil {
		return "", fmt.Errorf("docs/differences.md: %w", err)
	}
	fmt.Fprintf(&out, "\n## Moving from CAPZ\n\n%s\n", link.ReplaceAllString(content, "$1"))
	return out.String(), nil
}

// section returns the text of a section of a page and where it begins.
func section(page, name string) (content string, begin int, err error) {
	heading := "\n## " + name + "\n"
	if begin = strings.Index(page, heading); begin < 0 {
		return "", 0, fmt.Errorf("there is no section %q", name)
	}
	content, _, _ = strings.Cut(page[begin+len(heading):], "\n## ")
	if content = strings.TrimSpace(content); content == "" {
		return "", 0, fmt.Errorf("the section %q is empty", name)
	}
	if !strings.HasPrefix(content, "- ") && !strings.Contains(content, "\n|---|") {
		return "", 0, errors.New("the section \"" + name + "\" has neither a list nor a table")
	}
	return content, begin, nil
}
