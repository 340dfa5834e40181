package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Page is one Markdown file.
type Page struct {
	// File is the path in the repository, Path the one in the site.
	File, Path string
	Title      string
	Section    *Section
	Group      *Group
	Headings   []Heading
	Body       template.HTML

	source   []byte
	document ast.Node
}

// Heading is one heading of a page.
type Heading struct {
	Level    int
	Text, ID string
	// Content is the text up to the next heading, for the search.
	Content string
}

func readPage(root fs.FS, file string) (*Page, error) {
	source, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, err
	}
	page := &Page{File: file, Path: pagePath(file), source: source}
	page.document = newMarkdown(nil).Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	page.collectHeadings()
	if len(page.Headings) == 0 || page.Headings[0].Level != 1 {
		return nil, fmt.Errorf("%s does not begin with a title. Begin it with a line such as \"# Title\"", file)
	}
	page.Title = page.Headings[0].Text
	return page, nil
}

// collectHeadings fills in the headings with the text below each.
func (p *Page) collectHeadings() {
	var content strings.Builder
	end := func() {
		if len(p.Headings) > 0 {
			p.Headings[len(p.Headings)-1].Content = strings.Join(strings.Fields(content.String()), " ")
		}
		content.Reset()
	}
	for node := p.document.FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		if !ok {
			writeText(&content, node, p.source)
			continue
		}
		end()
		id, _ := heading.AttributeString("id")
		name, _ := id.([]byte)
		var title strings.Builder
		writeText(&title, heading, p.source)
		p.Headings = append(p.Headings, Heading{Level: heading.Level, Text: strings.TrimSpace(title.String()), ID: string(name)})
	}
	end()
}

// writeText writes the words of a node without its markup.
func writeText(out *strings.Builder, node ast.Node, source []byte) {
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if node.Type() == ast.TypeBlock || node.Kind().String() == "TableCell" {
				out.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Text:
			out.Write(node.Segment.Value(source))
			if node.SoftLineBreak() || node.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.AutoLink:
			out.Write(node.Label(source))
		case *ast.FencedCodeBlock:
			out.Write(node.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
}

// newMarkdown returns the one dialect of all pages, that of Git hosts.
func newMarkdown(blocks renderer.NodeRenderer) goldmark.Markdown {
	options := []goldmark.Option{goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID())}
	if blocks != nil {
		options = append(options, goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks, 100))))
	}
	return goldmark.New(options...)
}

// render makes the body of a page. Its links are those of the site afterwards.
func (s *Site) render(page *Page) error {
	if err := s.resolveLinks(page); err != nil {
		return err
	}
	if err := rejectMarkup(page); err != nil {
		return err
	}
	var body bytes.Buffer
	if err := newMarkdown(&blocks{site: s, page: page}).Renderer().Render(&body, page.source, page.document); err != nil {
		return fmt.Errorf("%s: %w", page.File, err)
	}
	page.Body = template.HTML(body.String()) // The renderer escapes all text, and pages with HTML of their own are refused.
	return nil
}

// rejectMarkup refuses HTML in Markdown: it would be left out of the page.
func rejectMarkup(page *Page) error {
	return ast.Walk(page.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("%s has the HTML %s. Pages are Markdown only: put code in backticks", page.File, node.Segments.Value(page.source))
		case *ast.HTMLBlock:
			return ast.WalkStop, fmt.Errorf("%s has a block of HTML. Pages are Markdown only", page.File)
		}
		return ast.WalkContinue, nil
	})
}

// relative returns a link from one path of the site to another.
func relative(from, to string) string {
	up := strings.Count(from, "/")
	fromParts, toParts := strings.Split(path.Dir(from), "/"), strings.Split(to, "/")
	if path.Dir(from) == "." {
		fromParts = nil
	}
	shared := 0
	for shared < len(fromParts) && shared < len(toParts)-1 && fromParts[shared] == toParts[shared] {
		shared++
	}
	return strings.Repeat("../", up-shared) + strings.Join(toParts[shared:], "/")
}
