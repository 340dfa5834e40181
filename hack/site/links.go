package main

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// resolveLinks points the links of a page to other pages of the site and to copies of the files that they name. It fails if a file or
// a heading does not exist.
func (s *Site) resolveLinks(page *Page) error {
	return ast.Walk(page.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Link:
			target, err := s.resolve(page, string(node.Destination))
			if err != nil {
				return ast.WalkStop, err
			}
			node.Destination = []byte(target)
		case *ast.Image:
			file := path.Join(path.Dir(page.File), string(node.Destination))
			if _, err := fs.Stat(s.root, file); err != nil || path.Ext(file) != ".svg" {
				return ast.WalkStop, fmt.Errorf("%s shows the picture %s, which is no SVG file of the repository", page.File, node.Destination)
			}
			node.Destination = []byte(file)
		}
		return ast.WalkContinue, nil
	})
}

// resolve returns the target in the site of one link.
func (s *Site) resolve(page *Page, target string) (string, error) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return target, nil
	}
	name, heading, _ := strings.Cut(target, "#")
	file := page.File
	if name != "" {
		file = path.Join(path.Dir(page.File), name)
	}
	info, err := fs.Stat(s.root, file)
	if err != nil {
		return "", fmt.Errorf("%s links to %s, which does not exist", page.File, target)
	}
	if info.IsDir() {
		if _, listed := s.byFile[path.Join(file, "README.md")]; listed {
			file = path.Join(file, "README.md")
		}
	}
	to, isPage := s.byFile[file]
	if !isPage {
		if heading != "" {
			return "", fmt.Errorf("%s links to %s, which is no page and has no headings", page.File, target)
		}
		return relative(page.Path, s.addSource(file)), nil
	}
	link := relative(page.Path, to.Path)
	if name == "" {
		link = ""
	}
	if heading == "" {
		return link, nil
	}
	for _, h := range to.Headings {
		if h.ID == heading {
			return link + "#" + heading, nil
		}
	}
	return "", fmt.Errorf("%s links to %s, but %s has no such heading", page.File, target, to.File)
}

// addSource notes that the site needs a copy of a file, and returns its path.
func (s *Site) addSource(file string) string {
	s.sources[file] = true
	return "source/" + file + ".html"
}
