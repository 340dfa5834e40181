package architecture

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// folders are the tests of folders that a page names, read once each.
type folders map[string]folder

// folder has the contents of a folder: test functions, and the texts in its tests, among which are the names of rows.
type folder struct{ tests, texts map[string]bool }

// hasTest reports whether a folder has a test and, where one is named, a row of that name or a golden case.
func (f folders) hasTest(t *testing.T, path, name, part string) bool {
	t.Helper()
	if _, read := f[path]; !read {
		f[path] = readFolder(t, path)
	}
	if !f[path].tests[name] {
		return false
	}
	if part == "" || f[path].texts[part] {
		return true
	}
	_, err := os.Stat(filepath.Join("../..", path, "testdata", part+".in.yaml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func readFolder(t *testing.T, path string) folder {
	t.Helper()
	out := folder{tests: map[string]bool{}, texts: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join("../..", path, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv == nil && strings.HasPrefix(node.Name.Name, "Test") {
					out.tests[node.Name.Name] = true
				}
			case *ast.BasicLit:
				if node.Kind == token.STRING {
					text, err := strconv.Unquote(node.Value)
					if err != nil {
						t.Fatal(err)
					}
					out.texts[text] = true
				}
			}
			return true
		})
	}
	return out
}
