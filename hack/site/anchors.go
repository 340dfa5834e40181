package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// noWord is what Git hosts leave out of the names of headings.
var noWord = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)

// anchors names headings as Git hosts do, so that a link to a heading works there and in the site. It has the names in use.
type anchors map[string]bool

// Generate implements parser.IDs.
func (a anchors) Generate(title []byte, _ ast.NodeKind) []byte {
	// The parser hands over the source of the heading, in which links still have their targets.
	name := strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(linkTarget.ReplaceAllString(string(title), "$1")), ""), " ", "-")
	for i := 1; a[name]; i++ {
		name = strings.TrimSuffix(name, "-"+strconv.Itoa(i-1)) + "-" + strconv.Itoa(i)
	}
	a[name] = true
	return []byte(name)
}

var linkTarget = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// Put implements parser.IDs.
func (a anchors) Put(name []byte) { a[string(name)] = true }
