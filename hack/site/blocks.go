package main

import (
	"fmt"
	"html/template"
	"io/fs"
	"regexp"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// blocks renders what the site shows in a way of its own: code with colours, headings with a link to themselves, pictures in place so that
// they follow the page's colours, and tables that scroll on narrow screens.
type blocks struct {
	site *Site
	page *Page
}

// RegisterFuncs implements renderer.NodeRenderer.
func (b *blocks) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindFencedCodeBlock, b.code)
	register.Register(ast.KindHeading, b.heading)
	register.Register(ast.KindImage, b.picture)
	register.Register(east.KindTable, b.table)
	register.Register(ast.KindCodeSpan, b.codeSpan)
}

func (b *blocks) code(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.FencedCodeBlock)
	return ast.WalkSkipChildren, highlight(out, string(block.Language(source)), string(block.Lines().Value(source)))
}

// highlight writes code with classes for its colours. Languages without a lexer stay plain.
func highlight(out util.BufWriter, language, code string) error {
	lexer := lexers.Get(language)
	if lexer == nil {
		lexer = lexers.Fallback
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "<div class=\"code\" data-language=\"%s\">", template.HTMLEscapeString(language))
	if err := chromahtml.New(chromahtml.WithClasses(true)).Format(out, styles.Fallback, tokens); err != nil {
		return err
	}
	_, err = out.WriteString("</div>\n")
	return err
}

func (b *blocks) heading(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	heading := node.(*ast.Heading)
	value, _ := heading.AttributeString("id")
	id, _ := value.([]byte)
	if entering {
		fmt.Fprintf(out, "<h%d id=\"%s\">", heading.Level, util.EscapeHTML(id))
	} else {
		if heading.Level > 1 {
			fmt.Fprintf(out, "<a class=\"anchor\" href=\"#%s\" aria-label=\"Link to this section\">#</a>", util.EscapeHTML(id))
		}
		fmt.Fprintf(out, "</h%d>\n", heading.Level)
	}
	return ast.WalkContinue, nil
}

// colorScheme is the attribute by which a picture that is shown alone follows the reader's system. In a page it follows the page.
var colorScheme = regexp.MustCompile(` style="color-scheme: ?light dark;?"`)

func (b *blocks) picture(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	raw, err := fs.ReadFile(b.site.root, string(node.(*ast.Image).Destination))
	if err != nil {
		return ast.WalkStop, err
	}
	var text strings.Builder
	writeText(&text, node, source)
	fmt.Fprintf(out, "<span class=\"picture\" role=\"img\" aria-label=\"%s\">%s</span>", template.HTMLEscapeString(text.String()),
		colorScheme.ReplaceAll(raw, nil))
	return ast.WalkSkipChildren, nil
}

// breaks are where a long name in a table may go on in the next line.
var breaks = regexp.MustCompile(`[./|,)\]_?]|&gt;`)

// codeSpan renders code in a text. Names in tables can be longer than a column, so they may break at their separators.
func (b *blocks) codeSpan(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var text strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		segment := child.(*ast.Text).Segment
		text.Write(segment.Value(source))
	}
	content := template.HTMLEscapeString(strings.ReplaceAll(text.String(), "\n", " "))
	if cell := node.Parent(); cell != nil && cell.Kind() == east.KindTableCell {
		content = breaks.ReplaceAllString(content, "$0<wbr>")
	}
	_, err := out.WriteString("<code>" + content + "</code>")
	return ast.WalkSkipChildren, err
}

func (b *blocks) table(out util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	text := "<div class=\"table\" tabindex=\"0\"><table>\n"
	if !entering {
		text = "</table></div>\n"
	}
	_, err := out.WriteString(text)
	return ast.WalkContinue, err
}
