package architecture

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// checkDocNames checks that the doc comment of a declaration in production code begins with its name, as go doc shows it. A comment with
// another name is a comment that stayed behind when code moved. Comments of groups and of their members are free.
func checkDocNames(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.test || f.generated {
			continue
		}
		for _, declaration := range f.syntax.Decls {
			name, doc := documentedName(declaration)
			words := strings.Fields(doc.Text())
			if len(words) > 0 && strings.TrimSuffix(strings.TrimRight(words[0], ".,:;"), "'s") != name {
				findings = append(findings, fmt.Sprintf("%s: the doc comment of %s begins with %q: begin it with the name",
					f.set.Position(declaration.Pos()), name, words[0]))
			}
		}
	}
	return sortFindings(findings)
}

// documentedName returns the name of a function, or of the only type, variable or constant of a declaration, and its doc comment.
func documentedName(declaration ast.Decl) (name string, doc *ast.CommentGroup) {
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		return declaration.Name.Name, declaration.Doc
	case *ast.GenDecl:
		if declaration.Lparen.IsValid() || len(declaration.Specs) != 1 {
			return "", nil
		}
		switch spec := declaration.Specs[0].(type) {
		case *ast.TypeSpec:
			return spec.Name.Name, declaration.Doc
		case *ast.ValueSpec:
			if len(spec.Names) == 1 && spec.Names[0].Name != "_" {
				return spec.Names[0].Name, declaration.Doc
			}
		}
	}
	return "", nil
}

// wordRule refuses words in texts for users.
type wordRule struct {
	words *regexp.Regexp
	// instead is the wording to use.
	instead string
}

var wordRules = []wordRule{
	{regexp.MustCompile(`\b(?:is|are) no [a-z]`), "is not a"},
	{regexp.MustCompile(`\bmade\b`), "created, as Azure and kubectl have it"},
	{regexp.MustCompile(`\bname another\b`), "choose, set or refer to: a name is metadata.name"},
}

// noneExists is the one use of "is no" that reads well.
var noneExists = regexp.MustCompile(`(?i)\bthere (?:is|are) no\b`)

// messageMarker is a marker in a comment with a message of the API server.
var messageMarker = regexp.MustCompile(`^// \+.*\b(?:message|because)=("(?:[^"\\]|\\.)*")`)

// checkWords looks for words in texts for users that have to be read twice. A text has several words; a literal of one word is a key.
func checkWords(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.test || f.generated || !coversAny([]string{"api/...", "internal/..."}, f.dir) {
			continue
		}
		for position, text := range f.texts() {
			for _, rule := range wordRules {
				if found := rule.words.FindString(noneExists.ReplaceAllString(text, "")); found != "" && strings.Contains(text, " ") {
					findings = append(findings, fmt.Sprintf("%s has %q in a text for users: write %s", position, strings.TrimSpace(found), rule.instead))
				}
			}
		}
	}
	return sortFindings(findings)
}

// texts returns the texts in literals of the file and in its markers with messages, by position.
func (f file) texts() map[string]string {
	out := map[string]string{}
	add := func(at token.Pos, literal string) {
		if text, err := strconv.Unquote(literal); err == nil {
			out[f.set.Position(at).String()] = text
		}
	}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				add(node.Pos(), node.Value)
			}
		}
		return true
	})
	for _, group := range f.syntax.Comments {
		for _, comment := range group.List {
			if match := messageMarker.FindStringSubmatch(comment.Text); match != nil {
				add(comment.Pos(), match[1])
			}
		}
	}
	return out
}
