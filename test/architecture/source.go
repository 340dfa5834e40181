package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is the import path of the repository's root.
const module = "sigs.k8s.io/cluster-api-provider-azure"

// file is one parsed Go file.
type file struct {
	// path and dir are relative to the root, with slashes.
	path string
	dir  string
	// test reports whether the file is compiled for tests only, generated whether a tool wrote it.
	test      bool
	generated bool
	lines     int
	syntax    *ast.File
	set       *token.FileSet
}

// readSource reads all Go files below the root of a repository. testdata and directories that start with a dot or an
// underscore are left out, as the go command does.
func readSource(root fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if entry.IsDir() {
			if name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, name, content, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		files = append(files, file{
			path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(syntax),
			lines: strings.Count(string(content), "\n"), syntax: syntax, set: set,
		})
		return nil
	})
	return files, err
}

// importPaths returns the import paths of the file; those of this repository are relative to its root.
func (f file) importPaths() []string {
	var out []string
	for _, spec := range f.syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		out = append(out, strings.TrimPrefix(name, module+"/"))
	}
	return out
}

// usedNames lists where the file names an exported thing of another package, as in "time.Now", by position.
func (f file) usedNames() map[string]string {
	local := map[string]string{}
	for _, spec := range f.syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		alias := path.Base(name)
		if spec.Name != nil {
			alias = spec.Name.Name
		}
		local[alias] = name
	}
	out := map[string]string{}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if name, ok := selector.X.(*ast.Ident); ok && local[name.Name] != "" {
			out[f.set.Position(selector.Pos()).String()] = local[name.Name] + "." + selector.Sel.Name
		}
		return true
	})
	return out
}

// coversPath reports whether a pattern means the directory or import path: itself, with a trailing "/..." also all below, and
// with a "*" one path element.
func coversPath(pattern, name string) bool {
	deep, isDeep := strings.CutSuffix(pattern, "/...")
	if !isDeep {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	}
	elements := strings.Split(name, "/")
	if n := strings.Count(deep, "/") + 1; len(elements) > n {
		elements = elements[:n]
	}
	matched, err := path.Match(deep, strings.Join(elements, "/"))
	return err == nil && matched
}

func coversAny(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if coversPath(pattern, name) {
			return true
		}
	}
	return false
}

// isStandard reports whether an import path is of the standard library: its first element has no dot, and it is not a
// directory of this repository.
func isStandard(name string, dirs map[string]bool) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".") && !dirs[name]
}

// methodCalls lists where the file calls one of the methods on a variable of that name, by position.
func (f file) methodCalls(receiver string, methods ...string) map[string]string {
	out := map[string]string{}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if name, ok := selector.X.(*ast.Ident); ok && name.Name == receiver && slices.Contains(methods, selector.Sel.Name) {
			out[f.set.Position(call.Pos()).String()] = selector.Sel.Name
		}
		return true
	})
	return out
}
