package bookshell

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	// Page is the path of the page below the root, Line the number of its fence.
	Page string
	Line int
	// Language is what stands after the fence.
	Language, Text string
}

// Place returns the place of the block as page:line.
func (b Block) Place() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Inline is the language of commands with flags in the text of a page.
const Inline = "inline"

var (
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	// command matches a command of a program that pages describe, with a flag or a variable.
	command = regexp.MustCompile(`^(?:kubectl|clusterctl|make|(?:bin/)?lab|go|az|helm|cd)\b.*(?: -|=)`)
	// placeholder is a word that readers replace, as <name>.
	placeholder = regexp.MustCompile(`<([a-z]+)>`)
)

// ReadBlocks returns the blocks of the README, the guide for contributors and all pages of docs, in all folders, and the commands in their
// texts as blocks of the language Inline. The indentation of a block in a list is left out.
func ReadBlocks(root string) ([]Block, error) {
	pages := []string{"README.md", "CONTRIBUTING.md"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(name, ".md") {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []Block
	for _, page := range pages {
		raw, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return nil, err
		}
		blocks, err := parseBlocks(page, string(raw))
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

// parseBlocks returns the blocks of a page.
func parseBlocks(page, text string) ([]Block, error) {
	var blocks []Block
	var open *Block
	indentation, number := "", 0
	for line := range strings.Lines(text) {
		number++
		trimmed := strings.TrimLeft(line, " ")
		language, fence := strings.CutPrefix(strings.TrimRight(trimmed, "\n"), "```")
		switch {
		case fence && open == nil:
			open, indentation = &Block{Page: page, Line: number, Language: language}, line[:len(line)-len(trimmed)]
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += strings.TrimPrefix(line, indentation)
		default:
			for _, match := range inlineCode.FindAllStringSubmatch(line, -1) {
				if command.MatchString(match[1]) {
					blocks = append(blocks, Block{Page: page, Line: number, Language: Inline, Text: placeholder.ReplaceAllString(match[1], "$1") + "\n"})
				}
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block has no end", open.Place())
	}
	return slices.Clip(blocks), nil
}
