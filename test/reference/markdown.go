package reference

import (
	"fmt"
	"strings"
)

// page is a Markdown page in the making. It counts the entries of its tables.
type page struct {
	strings.Builder

	entries int
}

// newPage begins a page with its title and an introduction.
func newPage(title, introduction string) *page {
	p := &page{}
	fmt.Fprintf(p, "# %s\n\n%s This page is generated from the code.\n", title, introduction)
	return p
}

func (p *page) heading(level int, title string) {
	fmt.Fprintf(p, "\n%s %s\n", strings.Repeat("#", level), title)
}

func (p *page) paragraph(text string) { fmt.Fprintf(p, "\n%s\n", text) }

// table writes a table. Cells are Markdown already. Without rows there is no table.
func (p *page) table(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(p, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		fmt.Fprintf(p, "| %s |\n", strings.Join(row, " | "))
	}
	p.entries += len(rows)
}

// special are characters that Markdown reads as markup, inside of tables, too.
var special = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "[", "\\[", "]", "\\]", "`", "\\`", "\n", " ", "_", "\\_")

// plain returns a text as Markdown without markup. Code in backticks stays code, and so do names with underscores.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return special.Replace(text)
	}
	for i, part := range parts {
		if i%2 == 1 {
			parts[i] = code(part)
			continue
		}
		words := strings.Split(part, " ")
		for j, word := range words {
			if strings.Contains(word, "://") && !strings.Contains(word, "<") {
				continue // an address becomes a link, in which underscores are no markup
			}
			words[j] = special.Replace(word)
		}
		parts[i] = strings.Join(words, " ")
	}
	return strings.Join(parts, "")
}

// code returns a value as code in a cell.
func code(value string) string {
	value = strings.ReplaceAll(strings.Join(strings.Fields(value), " "), "|", "\\|")
	if strings.Contains(value, "`") {
		return "`` " + value + " ``"
	}
	return "`" + value + "`"
}
