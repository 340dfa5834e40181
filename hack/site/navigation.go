package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// navigationFile lists all pages by task.
const navigationFile = "docs/navigation.yaml"

// listFile repeats the navigation for readers on a Git host. The search leaves it out.
const listFile = "docs/book/README.md"

// Navigation is the content of navigationFile.
type Navigation struct {
	Sections []*Section `json:"sections"`
}

// Section is a task of the reader, with its pages.
type Section struct {
	Title string `json:"title"`
	// About is a sentence for the first page of the site.
	About string `json:"about"`
	// Weight is how much the search prefers the pages of the section; 0 stands for 1.
	Weight float64  `json:"weight"`
	Groups []*Group `json:"groups"`
}

// Group is a part of a section.
type Group struct {
	// Title is "" if the section has only one group.
	Title string   `json:"title"`
	Files []string `json:"pages"`

	Pages []*Page `json:"-"`
}

// readNavigation reads navigationFile and returns it with all of its pages, in order.
func readNavigation(root fs.FS) (*Navigation, []*Page, error) {
	raw, err := fs.ReadFile(root, navigationFile)
	if err != nil {
		return nil, nil, err
	}
	navigation := &Navigation{}
	if err := yaml.UnmarshalStrict(raw, navigation); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", navigationFile, err)
	}
	var pages []*Page
	known := map[string]bool{}
	for _, section := range navigation.Sections {
		for _, group := range section.Groups {
			for _, file := range group.Files {
				if known[file] {
					return nil, nil, fmt.Errorf("%s lists %s twice. Remove one entry", navigationFile, file)
				}
				known[file] = true
				page, err := readPage(root, file)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", navigationFile, err)
				}
				page.Section, page.Group = section, group
				group.Pages = append(group.Pages, page)
				pages = append(pages, page)
			}
		}
	}
	return navigation, pages, checkListed(root, known)
}

// checkListed makes sure that the navigation has each page of the documentation.
func checkListed(root fs.FS, known map[string]bool) error {
	var missing []error
	err := fs.WalkDir(root, "docs", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(file) == ".md" && !known[file] {
			missing = append(missing, fmt.Errorf("%s does not list %s. Add it to the section of the task that it helps with", navigationFile, file))
		}
		return err
	})
	return errors.Join(append(missing, err)...)
}

// pagePath returns the path of a Markdown file's page in the site.
func pagePath(file string) string {
	name := strings.TrimPrefix(file, "docs/")
	folder, base := path.Split(name)
	if base == "README.md" {
		if folder == "" {
			return "readme.html" // the README of the repository; the first page of the site is made from the navigation
		}
		return folder + "index.html"
	}
	return strings.ToLower(strings.TrimSuffix(name, ".md")) + ".html"
}

// neighbours returns the pages before and after one, or nil.
func neighbours(pages []*Page, page *Page) (before, after *Page) {
	i := slices.Index(pages, page)
	if i > 0 {
		before = pages[i-1]
	}
	if i >= 0 && i+1 < len(pages) {
		after = pages[i+1]
	}
	return before, after
}

// First returns the first pages of a section.
func (s *Section) First(count int) (pages []*Page) {
	for _, group := range s.Groups {
		pages = append(pages, group.Pages...)
	}
	return pages[:min(count, len(pages))]
}
